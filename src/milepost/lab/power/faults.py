"""What goes wrong on the way between a row and its controller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults, drawn from the run's seed.

    Attributes:
        missing: share of readings that never arrive.
        noise: standard deviation of readings, as a share of the budget.
        lost: share of commands to clocks that are lost without a word.
        lost_brakes: the same of the brake's.
        blind: no reading arrives from the first of these seconds until the second.
        restarts: seconds at which the controller is replaced by one that knows nothing.
    """

    missing: float = 0.0
    noise: float = 0.0
    lost: float = 0.0
    lost_brakes: float = 0.0
    blind: tuple[float, float] = (0.0, 0.0)
    restarts: tuple[float, ...] = ()


NONE = Faults()
