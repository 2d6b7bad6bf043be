"""The controller's rules, by hand, under faults, and as properties."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost_lab.power.controller import SECOND, Controller
from milepost_lab.power.policy import LIVE, PAPER, Policy

AT_ONCE = replace(PAPER, telemetry=0.0, cap_delay=0.0, brake_delay=0.0)


def fed(controller, readings, tick=2):
    """Commands as (seconds, target, value), and what was in force after each tick."""
    commands, effective = [], []
    for number, reading in enumerate(readings):
        sent = controller.tick(number * tick * SECOND, reading)
        commands += [(order.time / SECOND, order.target, order.value) for order in sent]
        effective.append({name: controller.effective(name) for name in ("low", "high", "brake")})
    return commands, effective


def test_check_1_the_script_of_fourteen_readings():
    script = [.70, .81, .82, .90, .91, .91, .92, .86, .83, .80, .76, .74, .74, .74]  # fmt: skip
    controller = Controller(replace(PAPER, cap_delay=4.0, brake_delay=2.0))
    commands, effective = fed(controller, script)
    assert commands == [
        (2, "low", 1275),
        (6, "low", 1110),
        (12, "high", 1305),
        (16, "high", 1410),
        (16, "low", 1275),
        (22, "low", 1410),
    ]
    low = {2 * number: state["low"] for number, state in enumerate(effective)}
    assert [low[t] for t in (4, 6, 8, 10, 18, 20, 24, 26)] == [
        1410, 1275, 1275, 1110, 1110, 1275, 1275, 1410,
    ]  # fmt: skip
    high = {2 * number: state["high"] for number, state in enumerate(effective)}
    assert [high[t] for t in (14, 16, 18, 20)] == [1410, 1305, 1305, 1410]


def test_check_2_hysteresis_sends_one_command_where_none_sends_ten():
    flutter = [0.81, 0.79] * 5
    assert len(fed(Controller(AT_ONCE), flutter)[0]) == 1
    assert len(fed(Controller(replace(AT_ONCE, hysteresis=0.0)), flutter)[0]) == 10


def test_check_4_the_brake_is_sent_once_and_released_below_84():
    controller = Controller(PAPER)
    commands, effective = fed(controller, [0.99, 1.0, 1.01, 0.95, 0.90, 0.83])
    assert [order for order in commands if order[1] == "brake"] == [
        (2, "brake", 1),
        (10, "brake", 0),
    ]
    assert [state["brake"] for state in effective] == [0, 0, 0, 0, 1, 1]


def test_thresholds_are_passed_by_what_is_greater():
    assert fed(Controller(PAPER), [0.80])[0] == []
    assert fed(Controller(PAPER), [0.89])[0] == [(0, "low", 1275)]
    assert fed(Controller(PAPER), [math.nextafter(0.89, 1)])[0] == [(0, "low", 1110)]
    assert ("brake", 1) in {order[1:] for order in fed(Controller(PAPER), [1.0])[0]}


def test_the_second_step_waits_until_the_first_has_landed():
    sent, _ = fed(Controller(PAPER), [0.95] * 24)
    assert sent == [(0, "low", 1110), (42, "high", 1305)]


def test_a_newer_command_replaces_the_one_on_its_way():
    controller = Controller(replace(PAPER, cap_delay=6.0))
    commands, effective = fed(controller, [0.81, 0.90, 0.85, 0.85, 0.85])
    assert commands == [(0, "low", 1275), (2, "low", 1110)]
    assert [state["low"] for state in effective] == [1410, 1410, 1410, 1410, 1110]


def test_three_missed_readings_count_as_over_t2_and_two_do_not():
    assert fed(Controller(PAPER), [0.5, None, math.nan, 0.5])[0] == []
    assert fed(Controller(PAPER), [0.5, None, -1.0, math.inf])[0] == [(6, "low", 1110)]
    # The brake is not for what nobody knows; one that is on stays on.
    assert all(target != "brake" for _, target, _ in fed(Controller(PAPER), [None] * 60)[0])
    braked = Controller(AT_ONCE)
    fed(braked, [1.1, None, None, None, None])
    assert braked.effective("brake") == 1


def test_a_lost_brake_is_sent_again_and_one_that_works_is_not():
    commands, _ = fed(Controller(PAPER), [1.2] * 9)
    # Landed at 5 s, seen from 7 s on: still over the limit at 8 s, so once more.
    assert [time for time, target, _ in commands if target == "brake"] == [0, 8, 16]


def test_what_was_ordered_is_ordered_again_if_asked_for():
    policy = replace(AT_ONCE, refresh=10.0)
    commands, _ = fed(Controller(policy), [0.85] * 11)
    assert [order for order in commands if order[1] == "low"] == [
        (0, "low", 1275),
        (10, "low", 1275),
        (20, "low", 1275),
    ]


def test_ordering_again_does_not_put_off_the_second_step():
    """A repeated command has landed before: high priority is capped as it is without repeats."""
    for refresh in (0.0, 10.0):
        commands, _ = fed(Controller(replace(PAPER, refresh=refresh)), [0.95] * 24)
        assert (42, "high", 1305) in commands
    # Nor does one repeat overtake another: each may be the first that is not lost.
    lows = [time for time, target, _ in commands if target == "low"]
    assert lows == [0, 40]


def test_a_restarted_controller_orders_afresh_and_lifts_nothing_in_between():
    again = Controller(AT_ONCE).restarted()
    assert again.effective("low") is None
    assert fed(again, [0.86])[0] == [(0, "low", 1275)]  # the high class may be capped: left so
    again = Controller(AT_ONCE).restarted()
    assert {order[1:] for order in fed(again, [0.5])[0]} == {
        ("brake", 0),
        ("high", 1410),
        ("low", 1410),
    }
    again = Controller(AT_ONCE).restarted()
    assert fed(again, [1.05])[0][0] == (0, "brake", 1)


def test_caps_are_kept_under_the_brake_if_asked_for():
    def lifted(**settings):
        policy = replace(PAPER, brake_delay=6.0, **settings)
        commands, _ = fed(Controller(policy), [0.95, 1.02] + [0.4] * 10)
        assert [order for order in commands if order[1] == "brake"] == [
            (2, "brake", 1),
            (8, "brake", 0),
        ]
        return next(time for time, *order in commands if order == ["low", 1410])

    assert lifted() == 4
    # Released at 8 s, off from 14 s, seen until 16 s: the reading of 18 s is of a free row.
    assert lifted(keep_caps=True) == 18


def test_time_goes_forwards():
    controller = Controller(PAPER)
    controller.tick(5, 0.5)
    with pytest.raises(InputError, match="after one at 5"):
        controller.tick(4, 0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"t1": 0.9},
        {"limit": 0.5},
        {"hysteresis": 0.8},
        {"low": 1300},
        {"high": 100},
        {"tick": 0.0},
        {"cap_delay": -1.0},
        {"telemetry": math.nan},
        {"missed": 0},
    ],
)
def test_constants_out_of_order_are_refused(wrong):
    with pytest.raises(InputError):
        Policy(**wrong)


READINGS = st.lists(st.one_of(st.none(), st.floats(0, 1.3)), min_size=1, max_size=80)
POLICIES = st.builds(
    Policy,
    hysteresis=st.sampled_from([0.0, 0.02, 0.05, 0.1]),
    cap_delay=st.sampled_from([0.0, 3.0, 40.0]),
    brake_delay=st.sampled_from([0.0, 5.0]),
    one_step=st.booleans(),
    keep_caps=st.booleans(),
    refresh=st.sampled_from([0.0, 7.0]),
)


@given(POLICIES, READINGS, st.booleans())
def test_commands_are_in_order_repeatable_and_within_the_clocks(policy, readings, known):
    first = fed(Controller(policy, known=known), readings)
    assert first == fed(Controller(policy, known=known), readings)
    commands, _ = first
    assert all(a[0] <= b[0] for a, b in pairwise(commands))
    for _, target, value in commands:
        if target == "brake":
            assert value in (0, 1)
        else:
            assert value in {
                policy.top,
                policy.low if target == "low" else policy.high,
                policy.step,
            }


@given(POLICIES, READINGS)
def test_a_long_calm_frees_everything(policy, readings):
    calm = [0.3] * 60
    _, effective = fed(Controller(policy), readings + calm)
    assert effective[-1] == {"low": policy.top, "high": policy.top, "brake": 0}


@given(READINGS)
def test_a_brake_is_on_its_way_whenever_the_limit_is_reached(readings):
    for policy in (PAPER, LIVE):
        controller = Controller(policy)
        braked = False
        for number, reading in enumerate(readings):
            for order in controller.tick(number * SECOND, reading):
                if order.target == "brake":
                    braked = order.value == 1
            if reading is not None and reading >= policy.limit:
                assert braked
