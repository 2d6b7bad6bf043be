"""One constant at a time: what each of the controller's choices is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from milepost.errors import InputError, nearest
from milepost_lab.power.faults import Faults
from milepost_lab.power.study import Fleet

Labelled = tuple[str, Fleet, float]
"""A label, a fleet, and the share of servers it has more."""


def servers(fleet: Fleet, most: float) -> Iterator[Labelled]:
    """0 to ``most`` more servers in six steps at most."""
    steps = max(1, min(5, round(most * fleet.servers)))
    for step in range(steps + 1 if most else 1):
        more = most * step / steps
        yield f"+{round(100 * more)} %", fleet, more


def _delay(fleet: Fleet, more: float) -> Iterator[Labelled]:
    for seconds in (0.0, 1.0, 5.0, 20.0, 40.0, 80.0):
        policy = replace(fleet.policy, cap_delay=seconds)
        yield f"{seconds:g} s", replace(fleet, policy=policy), more


def _hysteresis(fleet: Fleet, more: float) -> Iterator[Labelled]:
    for points in (0, 2, 5, 10):
        policy = replace(fleet.policy, hysteresis=points / 100)
        yield f"{points} points", replace(fleet, policy=policy), more
    yield "5, back at once", replace(fleet, policy=replace(fleet.policy, one_step=False)), more


def _thresholds(fleet: Fleet, more: float) -> Iterator[Labelled]:
    for t1, t2 in ((0.6, 0.7), (0.7, 0.8), (0.75, 0.85), (0.8, 0.89), (0.85, 0.93), (0.9, 0.97)):
        policy = replace(fleet.policy, t1=t1, t2=t2)
        yield f"{100 * t1:g}/{100 * t2:g} %", replace(fleet, policy=policy), more


def _share(fleet: Fleet, more: float) -> Iterator[Labelled]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield f"{100 * share:g} %", replace(fleet, share=share), more


def _bursts(fleet: Fleet, more: float) -> Iterator[Labelled]:
    for spread in (0.5, 1.09, 4.0, 13.2):
        yield f"{spread:g}", replace(fleet, traffic=replace(fleet.traffic, bursts=spread)), more


def _day(fleet: Fleet, more: float) -> Iterator[Labelled]:
    for minutes in (5, 10, 30, 60):
        traffic = replace(fleet.traffic, window=60.0 * minutes)
        yield f"{minutes} minutes", replace(fleet, traffic=traffic), more


def _faults(fleet: Fleet, more: float) -> Iterator[Labelled]:
    yield "none", fleet, more
    for label, faults in (
        ("20 % of readings missing", Faults(missing=0.2)),
        ("readings off by 3 %", Faults(noise=0.03)),
        ("blind for 60 s", Faults(blind=(fleet.traffic.window / 2, fleet.traffic.window / 2 + 60))),
        ("30 % of commands lost", Faults(lost=0.3, lost_brakes=0.3)),
        ("restarted every 60 s", Faults(restarts=tuple(range(60, int(fleet.traffic.window), 60)))),
    ):
        yield label, replace(fleet, faults=faults), more
    policy = replace(fleet.policy, refresh=10.0)
    lost = Faults(lost=0.3, lost_brakes=0.3)
    yield "… ordered again after 10 s", replace(fleet, faults=lost, policy=policy), more


SWEEPS: dict[str, tuple[str, Callable[[Fleet, float], Iterator[Labelled]]]] = {
    "delay": ("a cap's delay", _delay),
    "hysteresis": ("hysteresis", _hysteresis),
    "thresholds": ("t1/t2", _thresholds),
    "share": ("bulk servers", _share),
    "bursts": ("spread of gaps", _bursts),
    "day": ("a day's length", _day),
    "faults": ("fault", _faults),
}
"""Name → what is varied, and the fleets."""


def sweep(name: str, fleet: Fleet, more: float) -> tuple[str, list[Labelled]]:
    """The fleets of a sweep.

    Args:
        name: see ``SWEEPS``.
        fleet: what is varied.
        more: share of servers it has more than its budget was made for.

    Returns:
        What is varied, the fleets with their labels.

    Raises:
        InputError: there is no such sweep.
    """
    if name not in SWEEPS:
        raise InputError(
            f"unknown sweep {name!r}", f"{nearest(name, SWEEPS)}one of {', '.join(SWEEPS)}"
        )
    across, fleets = SWEEPS[name]
    return across, list(fleets(fleet, more))
