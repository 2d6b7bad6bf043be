"""Drift between two models: whether texts keep their neighbours and their labels stay separate.

The axes of two models' vectors are unrelated, so neighbours are compared, not coordinates.

    kept, cka   see ``milepost_eval/drift.py``
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
from milepost_eval.drift import Kept, cka, distances, kept, unit
from milepost_eval.statistics import Difference, corrected, difference
from milepost_lab.quality import probes
from milepost_lab.quality.permutation import label_of_groups
from milepost_lab.quality.separation import centres
from milepost_lab.quality.study import PAIRS, draws_of, need_finite

MIN_KEPT = 0.5
"""The alarm is raised if the whole interval of kept neighbours is lower. It is a convention."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How the vectors of two models differ.

    Attributes:
        kept: share of each text's neighbours that are kept.
        cka: centred kernel alignment of all pairs of texts.
        separation: separation of labels, before and after; None without labels.
        ratio: after divided by before, with its 95 % interval; None without labels. It has no
            interval if one of the two is 0, infinite or NaN; it is 0 if the labels are no longer
            separate.
        accuracy: share of correct labels, after minus before, of the probe and of neighbours,
            Holm-corrected; empty without labels.
        alarms: what is clearly worse, one line each.
        baselines: name → share of the first model's neighbours that an untrained baseline keeps,
            by common words, length and position alone.
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

    Texts of rare labels have a place in the sample.

    Args:
        before: ``(n, d)``, one row per text.
        after: ``(n, d')``, the same texts.
        labels: ``(n,)`` int64 from 0 on, or None.
        neighbours: number of neighbours of each text that are compared.
        min_kept: share of kept neighbours below which the alarm is raised.
        controls: name → ``(n, d'')``, the same texts by an untrained baseline.
        draws: number of bootstrap samples.
        seed: seed of the sample, the bootstrap and the folds.

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
    some = _sample(number, labels, seed)
    both = [unit(vectors[some]) for vectors in (before, after)]
    labels = None if labels is None else labels[some]
    number = len(some)
    names = [str(row) for row in range(number)]

    def kept_by(vectors: NDArray[np.float64]) -> Kept:
        return kept(both[0], vectors, names, neighbours=neighbours, draws=draws, seed=seed)

    own = kept_by(both[1])
    baselines = {name: kept_by(unit(vectors[some])) for name, vectors in controls.items()}
    alarms = [f"texts keep {own.mean:.0%} of their neighbours"] * (own.high < min_kept)
    if labels is None:
        return Drift(own, cka(*both), None, None, {}, tuple(alarms), baselines)
    separation, ratio = _separations(both, labels, draws, seed)
    accuracy = _accuracy(both, labels, names, seed)
    if ratio[0] == 0 or ratio[2] < 1 - 1e-6:  # more than rounding
        alarms.append(f"labels are {ratio[0]:.2f} times as far apart")
    alarms += [
        f"{name}: {one.mean:+.1%} correct labels"
        for name, one in accuracy.items()
        if one.verdict == "worse"
    ]
    return Drift(own, cka(*both), separation, ratio, accuracy, tuple(alarms), baselines)


def _sample(number: int, labels: NDArray[np.int64] | None, seed: int) -> NDArray[np.int64]:
    """Numbers of the texts to compare, drawn at random.

    The first ``FOLDS`` texts of each label come first, in rounds, or rare labels would be lost;
    two of each are taken in any case.
    """
    order = np.random.default_rng(seed).permutation(number)
    size = PAIRS
    if labels is not None:
        drawn = labels[order]
        by_label = np.argsort(drawn, kind="stable")
        first = np.searchsorted(drawn, drawn[by_label], sorter=by_label)
        rank = np.empty(number, np.int64)
        rank[by_label] = np.arange(number) - first
        size = max(PAIRS, int((rank < 2).sum()))
        order = order[np.argsort(np.minimum(rank, probes.FOLDS), kind="stable")]
    return np.sort(order[:size])


def _separations(
    both: list[NDArray[np.float64]], labels: NDArray[np.int64], draws: int, seed: int
) -> tuple[tuple[float, float], tuple[float, float, float]]:
    """Separation before and after, and their ratio over the same draws of texts."""
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
    """The ratio if one of the two is 0, infinite or NaN (for vectors that are all equal).

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
