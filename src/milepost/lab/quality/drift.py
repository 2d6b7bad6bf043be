"""Drift between two models: whether texts keep their neighbours and their labels stay separate.

The axes of two models' vectors are unrelated, so neighbours are compared, not coordinates.

    kept        share of a text's nearest neighbours that both models agree on
    cka         centred kernel alignment of all similarities (arXiv 1905.00414), unbiased: 1 if
                equal up to rotation and scale, 0 by chance
    separation  if the texts have labels, with the accuracy of a probe and of neighbours
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost.evaluate.statistics import Difference, corrected, difference, interval
from milepost.lab.quality import probes
from milepost.lab.quality.permutation import label_of_groups
from milepost.lab.quality.separation import centres, distances, views
from milepost.lab.quality.study import PAIRS, draws_of, need_finite

MIN_KEPT = 0.5
"""The alarm is raised if the share of kept neighbours is surely lower. It is a convention."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Share of neighbours that both models agree on, its 95 % interval, and its value by chance."""

    mean: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True)
class Drift:
    """How the vectors of two models differ.

    Attributes:
        kept: of each text's neighbours.
        cka: of all pairs of texts.
        separation: of labels, before and after; None without labels.
        ratio: after divided by before, with its 95 % interval; None without labels. It has no
            interval if one of the two is 0, infinite or NaN: it is 0 if the labels are no longer
            separate.
        accuracy: share of correct labels, after minus before, of the probe and of neighbours,
            Holm-corrected; empty without labels.
        alarms: what is surely worse, one line each.
        baselines: name → neighbours of the first model that an untrained baseline keeps: the share
            that common words, length and position keep by themselves.
    """

    kept: Kept
    cka: float
    separation: tuple[float, float] | None
    ratio: tuple[float, float, float] | None
    accuracy: dict[str, Difference]
    alarms: tuple[str, ...]
    baselines: dict[str, Kept]


def drift(
    before: NDArray[np.floating],
    after: NDArray[np.floating],
    labels: NDArray[np.int64] | None = None,
    *,
    neighbours: int = 10,
    min_kept: float = MIN_KEPT,
    controls: Mapping[str, NDArray[np.floating]] = MappingProxyType({}),
    draws: int = 500,
    seed: int = 0,
) -> Drift:
    """Compare two models' vectors of the same texts, of a sample of 2,000 if there are more.

    Args:
        before: ``(n, d)``, one row per text.
        after: ``(n, d')``, the same texts.
        labels: ``(n,)`` int64 from 0 on, or None.
        neighbours: number of each text that are compared.
        min_kept: share of kept neighbours below which the alarm is raised.
        controls: name → ``(n, d'')``, the same texts by an untrained baseline.
        draws: number of bootstrap samples.
        seed: of the bootstrap and of the folds.

    Raises:
        InputError: too few texts, different numbers of texts, fewer than two texts of a label, or
            a vector that is not finite.
    """
    number = len(before)
    for vectors in (before, after, *controls.values()):
        need_finite(vectors)
        if len(vectors) != number:
            raise InputError(
                f"{number} vectors before and {len(vectors)} after", "vectors of the same texts"
            )
    if number < max(4, neighbours + 2):
        raise InputError(
            f"{number} texts are too few for {neighbours} neighbours of each",
            f"{max(4, neighbours + 2)} texts or more, or fewer neighbours",
        )
    some = np.sort(np.random.default_rng(seed).permutation(number)[:PAIRS])
    both = [views(vectors[some])["unit length"] for vectors in (before, after)]
    labels = None if labels is None else labels[some]
    number = len(some)
    names = [str(row) for row in range(number)]

    def kept_by(vectors: NDArray[np.float64]) -> Kept:
        shares = agreement(both[0], vectors, neighbours)
        low, high = interval(shares.tolist(), names, draws=draws, seed=seed)
        return Kept(float(shares.mean()), low, high, neighbours / (number - 1))

    kept = kept_by(both[1])
    baselines = {
        name: kept_by(views(vectors[some])["unit length"]) for name, vectors in controls.items()
    }
    alarms = [f"texts keep {kept.mean:.0%} of their neighbours"] * (kept.high < min_kept)
    if labels is None:
        return Drift(kept, cka(*both), None, None, {}, tuple(alarms), baselines)
    separation, ratio = _separations(both, labels, draws, seed)
    accuracy = _accuracy(both, labels, names, seed)
    if ratio[0] == 0 or ratio[2] < 1 - 1e-6:  # less than rounding
        alarms.append(f"labels are {ratio[0]:.2f} times as far apart")
    alarms += [
        f"{name}: {one.mean:+.1%} correct labels"
        for name, one in accuracy.items()
        if one.verdict == "worse"
    ]
    return Drift(kept, cka(*both), separation, ratio, accuracy, tuple(alarms), baselines)


def agreement(a: NDArray[np.float64], b: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Share of each row's ``count`` nearest rows that are the same in both spaces, ``(n,)``.

    ``count / (n - 1)`` by chance.
    """
    near = []
    for vectors in (a, b):
        apart = distances(vectors)
        np.fill_diagonal(apart, np.inf)
        among = np.zeros(apart.shape, bool)
        nearest = np.argsort(apart, axis=1, kind="stable")[:, :count]
        np.put_along_axis(among, nearest, True, 1)
        near.append(among)
    result: NDArray[np.float64] = (near[0] & near[1]).sum(axis=1) / count
    return result


def cka(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Linear centred kernel alignment, unbiased: at most 1, about 0 for unrelated vectors.

    The usual estimate is near 1 for any two sets of vectors with more dimensions than rows. NaN if
    all vectors of a set are equal.
    """
    one, other = (vectors @ vectors.T for vectors in (a, b))
    crossed, first, second = _hsic(one, other), _hsic(one, one), _hsic(other, other)
    if min(first, second) <= 0:
        return math.nan
    return crossed / math.sqrt(first * second)


def _hsic(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Equation 4 of Song et al. (2012, JMLR 13), for at least four rows."""
    n = len(one)
    one, other = one - np.diag(np.diag(one)), other - np.diag(np.diag(other))
    sums = one.sum(axis=0), other.sum(axis=0)
    found = (one * other).sum() + sums[0].sum() * sums[1].sum() / ((n - 1) * (n - 2))
    return float((found - 2 * sums[0] @ sums[1] / (n - 2)) / (n * (n - 3)))


def _separations(
    both: list[NDArray[np.float64]], labels: NDArray[np.int64], draws: int, seed: int
) -> tuple[tuple[float, float], tuple[float, float, float]]:
    """Separation before and after, and after over before in the same draws of texts."""
    groups = np.arange(len(labels))
    if np.bincount(label_of_groups(labels, groups)).min() < 2:
        raise InputError("a label has only one text", "two texts of each label or more")
    before, after = (centres(vectors, labels).separation for vectors in both)
    if not (before > 0 and after > 0 and math.isfinite(before) and math.isfinite(after)):
        return (before, after), (_limit(before, after), math.nan, math.nan)
    logs = []
    for weights in draws_of(labels, groups, draws, seed):
        a, b = (centres(vectors, labels, weights).separation for vectors in both)
        if a > 0 and b > 0 and math.isfinite(a) and math.isfinite(b):
            logs.append(math.log(b / a))
    middle = math.log(after / before)
    low, high = np.quantile(logs, [0.025, 0.975]) if logs else (math.nan, math.nan)
    # Mirrored about the observed ratio: see ``study.REFLECTED``.
    ends = (math.exp(2 * middle - float(high)), math.exp(2 * middle - float(low)))
    return (before, after), (after / before, *ends)


def _limit(before: float, after: float) -> float:
    """The ratio if one of the two is 0, infinite or NaN (of vectors that are all equal).

    NaN only if neither separates the labels, or both separate them infinitely.
    """
    if not after > 0:
        return 0.0 if before > 0 else math.nan
    return after / before if before > 0 else math.inf


def _accuracy(
    both: list[NDArray[np.float64]], labels: NDArray[np.int64], names: list[str], seed: int
) -> dict[str, Difference]:
    """Accuracy of both classifiers, after minus before."""
    groups = np.arange(len(labels))
    count = min(probes.FOLDS, int(np.bincount(labels).min()))
    fold = probes.folds(groups, labels, count, seed)
    right: dict[str, list[NDArray[np.bool_]]] = {"probe": [], "neighbours": []}
    for vectors in both:
        right["probe"].append(probes.by_probe(probes.probe(vectors, fold), labels) == labels)
        near = probes.nearest_beyond(distances(vectors), fold)
        right["neighbours"].append(probes.by_neighbours(near, labels) == labels)
    return corrected(
        {
            name: difference(after.astype(float).tolist(), before.astype(float).tolist(), names)
            for name, (before, after) in right.items()
        }
    )
