"""Faults on the way between a row of servers and its controller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults, drawn from the run's seed.

    Attributes:
        missing: share of readings that never arrive.
        noise: standard deviation of readings, as a share of the budget.
        lost: share of clock commands that are lost silently.
        lost_brakes: share of brake commands that are lost silently.
        blind: start and end, in seconds, of the time without readings.
        restarts: seconds at which a new controller without state takes over.
    """

    missing: float = 0.0
    noise: float = 0.0
    lost: float = 0.0
    lost_brakes: float = 0.0
    blind: tuple[float, float] = (0.0, 0.0)
    restarts: tuple[float, ...] = ()


NONE = Faults()
