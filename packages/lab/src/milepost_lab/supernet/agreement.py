"""How well a ranking agrees with the true one: Kendall's tau with an interval, and regret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 1000


def tau(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    """Kendall's tau-b: 1 for the same order, -1 for the opposite, 0 if all values of one tie.

    >>> import numpy as np
    >>> tau(np.array([1, 2, 3.0]), np.array([1, 3, 2.0]))
    0.3333333333333333
    """
    import numpy as np

    (found,) = _taus(first, second, np.ones((1, len(first))))
    return float(found)


def _taus(
    first: NDArray[np.floating], second: NDArray[np.floating], counts: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Tau of many samples of the same pairs of values.

    Args:
        first: ``(n,)``.
        second: ``(n,)``.
        counts: ``(samples, n)``: how often each sample contains each pair. A repeated pair ties
            with itself.

    Returns:
        ``(samples,)``.
    """
    import numpy as np

    # Compared, not subtracted: unknown values are -inf, and -inf minus -inf is NaN.
    a, b = ((x[:, None] > x).astype(np.float64) - (x[:, None] < x) for x in (first, second))
    # Sums over all pairs of a sample, each pair in both directions; whole numbers, so exact.
    agreed, ordered, others = (
        ((counts @ pairs) * counts).sum(1) for pairs in (a * b, np.abs(a), np.abs(b))
    )
    both = np.sqrt(ordered * others)
    found: NDArray[np.float64] = np.divide(agreed, both, out=np.zeros(len(counts)), where=both > 0)
    return found


def interval(
    truth: NDArray[np.floating],
    rankings: NDArray[np.floating],
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[float, float, float]:
    """Mean tau of several runs of one method, with a bootstrap interval.

    Architectures and runs are both drawn with replacement, so the interval covers other
    architectures of the kind and other seeds of the search. With ten architectures it is wide.

    Args:
        truth: ``(architectures,)``, or ``(runs, architectures)`` if each run has its own.
        rankings: ``(runs, architectures)``: the score that each run gives each architecture.
        level: share of draws inside the interval.
        draws: number of bootstrap draws.
        seed: seed of the draws.

    Returns:
        Mean, lower and upper end.
    """
    mean, drawn = _drawn(truth, rankings, draws, seed)
    return mean, *_ends(drawn, level)


def gap(
    truth: NDArray[np.floating],
    rankings: NDArray[np.floating],
    others: NDArray[np.floating],
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[float, float, float, float]:
    """Mean tau of one method less that of another, whose runs have the same seeds.

    Args:
        truth: ``(architectures,)``.
        rankings: ``(runs, architectures)`` of the first method.
        others: the same for the second method.
        level: see ``interval``.
        draws: see ``interval``; both methods are measured on the same architectures and runs.
        seed: see ``interval``.

    Returns:
        Mean, lower and upper end, and the smallest true difference that is detected in 80 of 100
        repetitions at two-sided 5 %: 2.80 standard errors.
    """
    mean, drawn = _drawn(truth, rankings, draws, seed)
    other, also = _drawn(truth, others, draws, seed)
    return mean - other, *_ends(drawn - also, level), 2.80 * float((drawn - also).std(ddof=1))


def _ends(drawn: NDArray[np.float64], level: float) -> tuple[float, float]:
    import numpy as np

    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _drawn(
    truth: NDArray[np.floating], rankings: NDArray[np.floating], draws: int, seed: int
) -> tuple[float, NDArray[np.float64]]:
    """Mean tau of the runs, and of each draw; equal seeds give equal draws."""
    import numpy as np

    rng = np.random.default_rng(seed)
    truths = np.broadcast_to(truth, rankings.shape)
    counts = np.zeros((draws, rankings.shape[1]))
    runs = np.zeros((len(rankings), draws), np.int64)
    for draw in range(draws):
        some = rng.integers(0, rankings.shape[1], rankings.shape[1])
        counts[draw] = np.bincount(some, minlength=rankings.shape[1])
        runs[:, draw] = rng.integers(0, len(rankings), len(rankings))
    taus = np.array([_taus(*both, counts) for both in zip(truths, rankings, strict=True)])
    drawn: NDArray[np.float64] = np.take_along_axis(taus, runs, 0).mean(0)
    return float(np.mean([tau(*both) for both in zip(truths, rankings, strict=True)])), drawn


def regret(truth: NDArray[np.floating], pick: int, allowed: Sequence[int]) -> float:
    """Accuracy that a pick loses against the best allowed one."""
    return float(max(truth[each] for each in allowed) - truth[pick])
