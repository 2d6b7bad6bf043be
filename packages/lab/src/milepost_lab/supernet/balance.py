"""Shares of architectures in nets, which follow scores and load all nets equally.

``softmax(T · score)`` over nets is scaled by rows and columns in turn (Sinkhorn) until every net
has the same load. A net keeps the architectures that it trains relatively better, and no net takes
everything. Logarithms are used throughout: in float32, as published, a column can become 0 and the
rest NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNEVEN = 1e-4
"""Tolerated divergence of the nets' loads from equal loads."""
ROUNDS = 100


def shares(scores: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """Logarithms of ``softmax(temperature · scores)`` over nets, ``(architectures, nets)``."""
    import numpy as np

    return _normal(temperature * np.asarray(scores, np.float64))


def unevenness(logs: NDArray[np.float64]) -> float:
    """``KL(mean load || even load)`` of shares given as logarithms; 0 if all are equal."""
    import numpy as np

    load = _load(logs)
    return float((np.exp(load) * (load + np.log(len(load)))).sum())


def balanced(
    logs: NDArray[np.float64], *, uneven: float = UNEVEN, rounds: int = ROUNDS
) -> tuple[NDArray[np.float64], int]:
    """Scale shares until every net has the same load.

    Args:
        logs: logarithms of shares, ``(architectures, nets)``; each row's shares sum to 1.
        uneven: the ``unevenness`` at or below which scaling stops.
        rounds: maximum number of rounds.

    Returns:
        Logarithms of the same shape, and the number of rounds. Odds ratios between rows and nets
        do not change.
    """
    done = 0
    while done < rounds and unevenness(logs) > uneven:
        logs = _normal(logs - _load(logs))
        done += 1
    return logs, done


def warming(step: int, steps: int, first: float, last: float) -> float:
    """Temperature of a step on a line from ``first`` to ``last``.

    >>> [warming(e, 100, 1, 100) for e in (0, 50, 100)]
    [1.0, 50.5, 100.0]
    """
    return first + (last - first) * step / steps


def warmest(noise: float) -> float:
    """The highest temperature at which scores still exceed their noise.

    A gap of one standard deviation between two nets then moves their odds by ``e``.

    Args:
        noise: standard deviation of one score.
    """
    return float("inf") if noise <= 0 else 1 / (2**0.5 * noise)


def _load(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of each net's mean share, ``(nets,)``."""
    import numpy as np

    result: NDArray[np.float64] = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    return result


def _normal(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    result: NDArray[np.float64] = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
    return result
