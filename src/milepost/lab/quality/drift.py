"""Another model for an index: whether texts keep their neighbours, and their labels apart.

Two models' vectors share no axes, so what is compared is who lies near whom.

    kept        share of a text's nearest neighbours that are so with the other model, too
    cka         centred kernel alignment of all similarities (arXiv 1905.00414), unbiased: 1 for
                the same up to rotation and scale, 0 for chance
    separation  and what a probe and neighbours guess right, where the texts have labels
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

KEPT = 0.5
"""Where surely fewer neighbours than this share are kept, the alarm rings. It is a convention."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Share of neighbours that both models agree on, with its 95 % interval, and by chance."""

    mean: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of the vectors.

    Attributes:
        kept: of each text's neighbours.
        cka: of all pairs of texts.
        separation: of labels, before and after; None without labels.
        ratio: after over before, with its 95 % interval; None without labels. Where one of both is
            0, infinite or none it has no interval: 0 where the labels no longer lie apart.
        told: share of texts whose label is guessed right, after minus before, by the probe and by
            neighbours, Holm-corrected; empty without labels.
        alarms: what got worse beyond doubt, a line each.
        floors: neighbours of the first model that encoders which know nothing keep, by name: what
            shared words, length and place keep by themselves.
    """

    kept: Kept
    cka: float
    separation: tuple[float, float] | None
    ratio: tuple[float, float, float] | None
    told: dict[str, Difference]
    alarms: tuple[str, ...]
    floors: dict[str, Kept]


def drift(
    before: NDArray[np.floating],
    after: NDArray[np.floating],
    labels: NDArray[np.int64] | None = None,
    *,
    neighbours: int = 10,
    least: float = KEPT,
    controls: Mapping[str, NDArray[np.floating]] = MappingProxyType({}),
    draws: int = 500,
    seed: int = 0,
) -> Drift:
    """Compare two models' vectors of the same texts, of 2,000 drawn once where there are more.

    Args:
        before: ``(n, d)``, a text a row.
        after: ``(n, d')``, the same texts.
        labels: ``(n,)`` int64 from 0 on, or None.
        neighbours: of each text that are looked at.
        least: share of neighbours below which the alarm rings.
        controls: name → ``(n, d'')``, the same texts by an encoder that knows nothing.
        draws: of the bootstrap.
        seed: of the bootstrap and of the folds.

    Raises:
        InputError: too few texts, or other texts, or fewer than two texts of a label, or a vector
            that is not finite.
    """
    number = len(before)
    for vectors in (before, after, *controls.values()):
        need_finite(vectors)
        if len(vectors) != number:
            raise InputError(
                f"{number} vectors before and {len(vectors)} after", "give the same texts"
            )
    if number < max(4, neighbours + 2):
        raise InputError(
            f"{number} texts are too few for {neighbours} neighbours of each",
            "give more texts, or ask for fewer neighbours",
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
    floors = {
        name: kept_by(views(vectors[some])["unit length"]) for name, vectors in controls.items()
    }
    alarms = [f"texts keep {kept.mean:.0%} of their neighbours"] * (kept.high < least)
    if labels is None:
        return Drift(kept, cka(*both), None, None, {}, tuple(alarms), floors)
    separation, ratio = _separations(both, labels, draws, seed)
    told = _told(both, labels, names, seed)
    if ratio[0] == 0 or ratio[2] < 1 - 1e-6:  # less than rounding
        alarms.append(f"labels lie {ratio[0]:.2f} times as far apart")
    alarms += [
        f"{name}: {one.mean:+.1%} of labels guessed right"
        for name, one in told.items()
        if one.verdict == "worse"
    ]
    return Drift(kept, cka(*both), separation, ratio, told, tuple(alarms), floors)


def agreement(a: NDArray[np.float64], b: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Share of each row's ``count`` nearest rows that is the same in both spaces, ``(n,)``.

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

    The usual estimate is near 1 for any two sets of vectors wider than there are rows. NaN where
    one of the sets is a single point.
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
        raise InputError("a label has one text", "give at least two of each label")
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
    # Turned about the observed ratio: see ``quality.REFLECTED``.
    ends = (math.exp(2 * middle - float(high)), math.exp(2 * middle - float(low)))
    return (before, after), (after / before, *ends)


def _limit(before: float, after: float) -> float:
    """The ratio where one of both is 0, infinite or NaN (of vectors that are all one).

    NaN only where neither lies apart, or both lie infinitely far.
    """
    if not after > 0:
        return 0.0 if before > 0 else math.nan
    return after / before if before > 0 else math.inf


def _told(
    both: list[NDArray[np.float64]], labels: NDArray[np.int64], names: list[str], seed: int
) -> dict[str, Difference]:
    """Guesses of both classifiers, after minus before."""
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
