"""What oversubscription allows by arithmetic alone, before anything is simulated."""

from __future__ import annotations

import math

from milepost.lab.power.server import Server


def busy_to_pass(threshold: float, servers: int, server: Server, budget: float) -> float:
    """Servers that must be busy at once for the row to reach a share of its budget.

    >>> round(busy_to_pass(0.80, 52, Server(), 232_000.0), 2)
    39.91
    """
    return (threshold * budget - servers * server.idle) / (server.busy - server.idle)


def base_utilisation(threshold: float, more: float) -> float:
    """Share of the budget that the base row draws where ``more`` servers reach a threshold.

    >>> round(base_utilisation(0.80, 0.3), 4)
    0.6154
    """
    return threshold / (1.0 + more)


def needed_cut(peak: float, more: float) -> float:
    """Share of power to be cut for the peak of a row with ``more`` servers to fit; 0 if it fits.

    >>> round(100 * needed_cut(0.79, 0.3), 2)
    2.63
    """
    return max(0.0, 1.0 - 1.0 / (peak * (1.0 + more)))


def seen_through(level: float, ramp: float, delay: float) -> float:
    """Where a rising row stands once the cap that is sent at ``level`` has come into effect.

    Args:
        level: share of the budget that the reading says.
        ramp: rise of that share a second.
        delay: seconds from the state that was read to the cap's effect.
    """
    return level + ramp * delay


def safe_ramp(threshold: float, delay: float) -> float:
    """The steepest rise a second that a cap at a threshold catches before the budget is reached."""
    return math.inf if delay == 0 else (1.0 - threshold) / delay
