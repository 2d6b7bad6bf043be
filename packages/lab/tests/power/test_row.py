"""The simulator: by hand, as properties, and when things go wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_lab.power.controller import SECOND, Controller
from milepost_lab.power.controllers import OneForAll, OneThreshold, Slow, Uncapped
from milepost_lab.power.faults import Faults
from milepost_lab.power.policy import PAPER
from milepost_lab.power.row import ServerRow
from milepost_lab.power.server import Server
from milepost_lab.power.traffic import Jobs, Traffic

NOTHING = Jobs(np.zeros(0, np.int64), np.zeros(0))
SMALL = Server(idle=1000.0, busy=5000.0)


def jobs(*given):
    """Jobs from pairs of seconds: arrival and work."""
    times, work = zip(*given, strict=True) if given else ((), ())
    return Jobs(np.round(np.array(times) * SECOND).astype(np.int64), np.array(work) * SECOND)


class Timetable(Uncapped):
    """Sends given clocks to low priority at given seconds."""

    plan = MappingProxyType({})

    def _caps(self, level):
        clock = self.plan.get(self._now // SECOND)
        return [] if clock is None else [self._order("low", clock)]


def seen(run, budget):
    return {int(t): round(w / budget, 4) for t, w in zip(run.times, run.watts, strict=True)}


def sent(run):
    return [(order.time / SECOND, order.target, order.value) for order in run.commands]


def busy_row(policy):
    """Check 3: two servers a class, busy all the time."""
    row = ServerRow(SMALL, 2, 2, 22_000.0, Controller(policy))
    long = jobs((0, 400), (0, 400))
    return row.run(long, long, 300.0)


def test_check_3_the_closed_loop_comes_to_rest():
    run = busy_row(PAPER)
    u = seen(run, 22_000.0)
    assert [u[t] for t in (0, 40, 42, 82, 84, 200, 298)] == [
        0.9091, 0.9091, 0.7708, 0.7708, 0.8428, 0.8428, 0.8428,
    ]  # fmt: skip
    assert sent(run)[:2] == [(2, "low", 1110), (44, "low", 1275)]
    assert [order for order in sent(run) if order[0] <= 300] == sent(run)[:2]


def test_check_3_full_release_swings_for_ever():
    run = busy_row(replace(PAPER, one_step=False))
    u = seen(run, 22_000.0)
    assert [u[t] for t in range(20, 300, 42)] == [0.9091, 0.7708] * 3 + [0.9091]


@pytest.mark.parametrize(("start", "end"), [(0, 13), (3, 16)])
def test_check_8_work_under_a_changing_rate(start, end):
    class Halves(Timetable):
        plan = MappingProxyType({4: 500, 10: 1000})

    policy = replace(
        PAPER, tick=1.0, telemetry=0.0, cap_delay=0.0, top=1000, low=500, step=1000, high=1000
    )
    row = ServerRow(Server(top=1000), 0, 1, 1e9, Halves(policy))
    run = row.run(NOTHING, jobs((start, 10)), 20.0)
    assert run.low.tolist() == [end - start]


def test_energy_and_time_over_budget_by_hand():
    row = ServerRow(SMALL, 1, 1, 7000.0, Uncapped(replace(PAPER, limit=float("inf"))))
    run = row.run(jobs((1, 2)), jobs((2, 3)), 10.0)
    # Idle 2 kW throughout; 4 kW more for 2 s and for 3 s; both at once from 2 s to 3 s: 10 kW.
    assert run.energy == 2000.0 * 10 + 4000.0 * 5
    assert (run.over, run.done, run.brakes) == (1.0, 5.0, 0)
    assert (run.high.tolist(), run.low.tolist()) == ([2.0], [3.0])


def test_the_brake_slows_everybody_and_is_counted_once():
    row = ServerRow(SMALL, 1, 1, 5000.0, Uncapped(PAPER))
    run = row.run(jobs((0, 30)), jobs((0, 30)), 60.0)
    assert sent(run)[0] == (2, "brake", 1)
    u = seen(run, 5000.0)
    assert (u[0], u[6]) == (2.0, 2.0)
    assert u[8] == round((2000 + 2 * SMALL.extra(288)) / 5000, 4)
    assert run.brakes == sum(1 for _, target, value in sent(run) if (target, value) == ("brake", 1))


def test_one_queue_lets_so_much_bulk_in_and_keeps_the_order():
    row = ServerRow(SMALL, 2, 1, 1e9, Uncapped(PAPER), limit=1)
    run = row.run(jobs((1, 1), (1, 1), (1.5, 1)), jobs((0, 4), (0.5, 1), (0.6, 1)), 10.0)
    assert run.high.tolist() == [1.0, 1.0, 1.5]  # the third waits: both other servers are busy
    assert run.low.tolist() == [4.0, 4.5, 5.4]


def test_baselines_cap_whom_they_say():
    def commands(kind):
        controller = kind(PAPER)
        found = [controller.tick(t * 2 * SECOND, u) for t, u in enumerate([0.88, 0.9, 0.86, 0.83])]
        return [[(order.target, order.value) for order in orders] for orders in found]

    assert commands(Uncapped) == [[], [], [], []]
    assert commands(Slow) == [[("low", 1110)], [], [], []]
    assert commands(OneThreshold) == [[], [("low", 1110)], [], [("low", 1410)]]
    assert commands(OneForAll) == [
        [],
        [("low", 1110), ("high", 1110)],
        [],
        [("low", 1410), ("high", 1410)],
    ]


WORK = st.lists(st.tuples(st.floats(0, 60), st.floats(1e-4, 20)), max_size=25).map(sorted)
CONTROLLERS = st.sampled_from([Controller, Uncapped, OneThreshold, OneForAll, Slow])
FAULTS = st.builds(
    Faults,
    missing=st.sampled_from([0.0, 0.3]),
    noise=st.sampled_from([0.0, 0.1]),
    lost=st.sampled_from([0.0, 0.5]),
    restarts=st.sampled_from([(), (10.0, 31.0)]),
)


@settings(max_examples=60, deadline=None)
@given(WORK, WORK, CONTROLLERS, FAULTS, st.sampled_from([None, 1, 2]), st.floats(0.4, 1.5))
def test_work_is_conserved_and_the_same_seed_gives_the_same_run(
    searches, documents, kind, faults, limit, tightness
):
    def go():
        budget = 4 * SMALL.busy * tightness
        policy = replace(PAPER, refresh=4.0)  # a brake's lost release would hold the row for ever
        row = ServerRow(SMALL, 2, 2, budget, kind(policy), limit=limit, faults=faults, seed=5)
        return row.run(jobs(*searches), jobs(*documents), 60.0)

    run, again = go(), go()
    for name in ("high", "low", "times", "watts"):
        assert np.array_equal(getattr(run, name), getattr(again, name))
    assert (run.commands, run.energy, run.worked) == (again.commands, again.energy, again.worked)
    given_work = sum(work for _, work in searches + documents)
    assert run.worked / SECOND == pytest.approx(given_work, rel=1e-9, abs=1e-5)
    # No job is faster than its work, none ends before it begins, ticks go forwards.
    for waits, stream in ((run.high, searches), (run.low, documents)):
        assert all(w >= work - 2e-6 for w, (_, work) in zip(waits, stream, strict=True))
    assert all(a < b for a, b in pairwise(run.times))
    assert all(a.time <= b.time for a, b in pairwise(run.commands))
    assert 0 <= run.over <= 60.0
    assert 60.0 * 4 * SMALL.idle - 1e-6 <= run.energy <= 60.0 * 4 * SMALL.busy + 1e-6
    assert run.watts.min() >= 4 * SMALL.idle - 1e-6
    assert run.watts.max() <= 4 * SMALL.busy + 1e-6


def full(controller, faults, window=200.0, budget=17_000.0):
    """Four servers at work throughout, 20 kW at full clock under a budget of 17 kW."""
    row = ServerRow(SMALL, 2, 2, budget, controller, faults=faults, seed=1)
    busy = jobs((0, 150), (0, 150))
    return row.run(busy, busy, window)


def test_blind_telemetry_caps_both_classes_and_brakes_nobody():
    row = ServerRow(SMALL, 2, 2, 30_000.0, Controller(PAPER), faults=Faults(blind=(0.0, 200.0)))
    busy = jobs((0, 150), (0, 150))
    run = row.run(busy, busy, 200.0)
    # Readings would begin at 2 s: the third that is missing is that of 6 s.
    assert sent(run)[:2] == [(6, "low", 1110), (48, "high", 1305)]
    assert run.brakes == 0


def test_lost_commands_leave_a_brake_that_is_sent_again_until_it_works():
    policy = replace(PAPER, refresh=10.0)
    run = full(Controller(policy), Faults(lost=0.6, lost_brakes=0.6))
    ordered = [t for t, target, value in sent(run) if (target, value) == ("brake", 1)]
    assert len(ordered) > run.brakes  # some were sent again
    u = seen(run, 17_000.0)
    assert min(u.values()) < 0.5  # the brake worked in the end
    assert len(run.high) == len(run.low) == 2  # and was released: all jobs are done


def test_a_controller_that_is_restarted_under_the_brake_releases_it():
    run = full(Controller(PAPER), Faults(restarts=(9.0,)))
    # Sent at 2 s, in force from 7 s; the heir's first reading is the braked row's.
    at_ten = {order[1:] for order in sent(run) if order[0] == 10}
    assert (2, "brake", 1) in sent(run)
    assert at_ten == {("brake", 0), ("high", 1410), ("low", 1410)}


def test_rows_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="a row of 0 and 0"):
        ServerRow(SMALL, 0, 0, 1.0, Controller(PAPER))
    with pytest.raises(InputError, match="at most 0 jobs"):
        ServerRow(SMALL, 1, 1, 1.0, Controller(PAPER), limit=0)
    with pytest.raises(InputError, match="no servers"):
        ServerRow(SMALL, 1, 0, 1.0, Controller(PAPER)).run(NOTHING, jobs((0, 1)), 1.0)


@pytest.mark.parametrize(
    "wrong",
    [{"high_load": 1.0}, {"low_load": -0.1}, {"swing": 1.0}, {"window": 0.0}, {"questions": 0}],
)
def test_traffic_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputError):
        Traffic(**wrong)
