"""Which net trains which architecture: shares that follow scores and load all nets alike.

``softmax(T · score)`` over nets, then scaled in turns (Sinkhorn) until every net gets as much: what
one net does relatively better stays, that one net takes everything does not. All of it in
logarithms: as published, in float32, a column can become exactly 0 and the rest NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNEVEN = 1e-4
"""Divergence of the nets' loads from even ones that is let pass."""
ROUNDS = 100


def shares(scores: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """Logarithms of ``softmax(temperature · scores)`` over nets, ``(architectures, nets)``."""
    import numpy as np

    return _normal(temperature * np.asarray(scores, np.float64))


def unevenness(logs: NDArray[np.float64]) -> float:
    """``KL(mean load || even load)`` of shares given as logarithms; 0 where all are alike."""
    import numpy as np

    load = _load(logs)
    return float((np.exp(load) * (load + np.log(len(load)))).sum())


def balanced(
    logs: NDArray[np.float64], *, uneven: float = UNEVEN, rounds: int = ROUNDS
) -> tuple[NDArray[np.float64], int]:
    """Shares scaled until every net gets as much.

    Args:
        logs: logarithms of shares, ``(architectures, nets)``; each row's shares sum to 1.
        uneven: see ``unevenness``; the scaling ends at or below it.
        rounds: after so many it ends as well.

    Returns:
        Logarithms, of the same shape, and the rounds it took. Odds ratios between rows and nets
        are those of the beginning.
    """
    done = 0
    while done < rounds and unevenness(logs) > uneven:
        logs = _normal(logs - _load(logs))
        done += 1
    return logs, done


def warming(step: int, steps: int, first: float, last: float) -> float:
    """The temperature of a step, on a line from ``first`` to ``last``.

    >>> [warming(e, 100, 1, 100) for e in (0, 50, 100)]
    [1.0, 50.5, 100.0]
    """
    return first + (last - first) * step / steps


def warmest(noise: float) -> float:
    """The greatest temperature at which scores still say more than their noise.

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
