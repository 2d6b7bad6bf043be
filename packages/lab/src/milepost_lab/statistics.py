"""Intervals and paired differences, by scipy: over documents (bootstrap) and over seeds (t)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from milepost._optional import require

stats = require("scipy.stats", extra="lab")

DRAWS = 2000


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.mean


class Difference(NamedTuple):
    """A paired mean difference, its 95 % interval, and what could have been found.

    Attributes:
        mean: of ``a - b``.
        low, high: the interval.
        p: two-sided; adjusted by ``holm`` where several are compared.
        detectable: the smallest true difference that this test finds in four of five cases,
            ``(1.96 + 0.84)`` standard errors.
    """

    mean: float
    low: float
    high: float
    p: float
    detectable: float

    def __float__(self) -> float:
        return self.mean


def interval(values: ArrayLike, clusters: Sequence[Hashable] | None = None) -> Interval:
    """Mean of figures, with a bootstrap over clusters (such as documents).

    Args:
        values: ``(n,)``.
        clusters: what each figure belongs to; None for itself. Figures of one cluster are drawn
            together. One cluster alone gives the mean as both bounds.
    """
    sums, counts = _per_cluster(values, clusters)
    mean = float(sums.sum() / counts.sum())
    if len(sums) < 2 or np.ptp(sums / counts) == 0:
        return Interval(mean, mean, mean)
    found = _bootstrap(sums, counts).confidence_interval
    return Interval(mean, float(found.low), float(found.high))


def difference(
    a: ArrayLike, b: ArrayLike, clusters: Sequence[Hashable] | None = None
) -> Difference:
    """Mean of ``a - b``, pairs of figures of the same items; bootstrap over clusters.

    ``p`` is of the sign-flip permutation test over clusters.

    Raises:
        ValueError: not as many of both.
    """
    apart = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    sums, counts = _per_cluster(apart, clusters)
    mean, low, high = interval(apart, clusters)
    if not sums.any():
        return Difference(0.0, 0.0, 0.0, 1.0, 0.0)
    error = float(_bootstrap(sums, counts).standard_error) if len(sums) > 1 else math.nan
    test = stats.permutation_test(
        (sums,),
        lambda x, axis: np.abs(x.sum(axis)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=9999,
        rng=np.random.default_rng(0),
    )
    return Difference(mean, low, high, float(test.pvalue), 2.8 * error)


def over_seeds(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Mean of ``a - b``, one figure a seed, by Student's t.

    The bootstrap would not do: of three seeds no draw leaves their range.

    Raises:
        ValueError: not as many of both.
    """
    apart = np.subtract(np.asarray(a, np.float64), np.asarray(b, np.float64))
    mean, free = float(apart.mean()), len(apart) - 1
    if free < 1:
        return Difference(mean, math.nan, math.nan, math.nan, math.nan)
    error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
    half = float(stats.t.ppf(0.975, free)) * error
    p = 2 * float(stats.t.sf(abs(mean) / error, free)) if error else float(mean == 0)
    factor = float(stats.t.ppf(0.975, free) + stats.t.ppf(0.8, free))
    return Difference(mean, mean - half, mean + half, p, factor * error)


def holm(found: Mapping[str, Difference]) -> dict[str, Difference]:
    """The same differences, each p adjusted for all of them (Holm 1979)."""
    adjusted: dict[str, Difference] = {}
    highest, left = 0.0, len(found)
    for name in sorted(found, key=lambda name: found[name].p):
        highest = max(highest, min(1.0, left * found[name].p))
        adjusted[name] = found[name]._replace(p=highest)
        left -= 1
    return {name: adjusted[name] for name in found}


def _per_cluster(
    values: ArrayLike, clusters: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    figures = np.asarray(values, np.float64)
    if clusters is None:
        return figures, np.ones(len(figures))
    number = {name: n for n, name in enumerate(dict.fromkeys(clusters))}
    places = [number[name] for name in clusters]
    sums: NDArray[np.float64] = np.bincount(places, figures).astype(np.float64)
    return sums, np.bincount(places).astype(np.float64)


def _bootstrap(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> Any:
    return stats.bootstrap(
        (sums, counts),
        lambda total, count, axis: total.sum(axis) / count.sum(axis),
        paired=True,
        n_resamples=DRAWS,
        method="percentile",
        rng=np.random.default_rng(0),
    )
