"""Do vectors separate labels? Cluster indices and plain classifiers, each beside chance.

This is a diagnostic of models and poolings, never a target to train on the data that it scores.
Every figure comes with its value for permuted labels (of whole documents), and all but Dunn's with
an interval (whole documents resampled, as many of each label). If an index says what the probe's
accuracy says, trust the probe: its scale means something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost_eval.drift import distances
from milepost_lab.quality import probes
from milepost_lab.quality.permutation import label_of_groups, permuted, share_as_good
from milepost_lab.quality.separation import centres, dunn, silhouettes, views

PAIRS = 2000
"""Measures of all pairs use a sample of at most this many points, drawn once."""

LOWER_IS_BETTER = frozenset({"dbs"})
REFLECTED = frozenset({"separation", "dbs"})
"""Centres of few points are further apart than the true ones, and those of a bootstrap sample even
further. The intervals of these measures are mirrored about the measure (Davison and Hinkley 1997,
the basic bootstrap), which removes that bias once; they need not contain the measure itself."""


@dataclass(frozen=True, slots=True)
class Points:
    """Vectors with their labels, documents, lengths and sources.

    Attributes:
        vectors: ``(n, d)``, of documents or of landmarks.
        labels: ``(n,)`` int64 from 0 on.
        groups: ``(n,)`` int64 from 0 on: the document of each vector.
        lengths: ``(n,)``: tokens of each vector's document, for the control ``length alone``.
        sources: ``(n,)`` int64 from 0 on: the source of each vector; None if unknown.
    """

    vectors: NDArray[np.floating]
    labels: NDArray[np.int64]
    groups: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sources: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure, with its interval and its value by chance.

    Attributes:
        value: value for the observed labels.
        low: lower end of its 95 % interval; NaN if it has none.
        high: upper end.
        chance: mean over permuted labels.
        p: share of permutations, the observed labels included, that do as well.
    """

    value: float
    low: float
    high: float
    chance: float
    p: float


@dataclass(frozen=True, slots=True)
class View:
    """All measures of the vectors in one form.

    Attributes:
        name: raw, standardised, unit length; or a control without vectors: length alone (the
            number of tokens) and source alone (where a point comes from). ``raw@random`` and so
            on: the same for an untrained baseline.
        measures: by name: separation, dbs, dunn, silhouette; and balanced accuracies: probe,
            centre, neighbours, and other sources (the probe, trained on all sources but its own).
        flags: degenerate cases, see ``separation``.
    """

    name: str
    measures: dict[str, Measure]
    flags: tuple[str, ...]


def report(
    points: Points,
    *,
    controls: Mapping[str, Points] = MappingProxyType({}),
    permutations: int = 99,
    draws: int = 200,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> list[View]:
    """Measure each view of the vectors, and the texts' length and source alone.

    Args:
        points: vectors to measure.
        controls: name → the same texts' vectors by an untrained baseline.
        permutations: number of permutations of the labels.
        draws: number of bootstrap draws.
        seed: seed of both, of the folds, and of the sample of ``PAIRS`` points.
        progress: called with a view, views done, and views in all.

    Raises:
        InputError: fewer than two labels, a label with one document, two labels in a document, or
            a vector that is not finite.
    """
    for given in (points, *controls.values()):
        need_finite(given.vectors)
    classes = np.bincount(label_of_groups(points.labels, points.groups))
    if len(classes) < 2:
        raise InputError("all texts have the same label", "texts of two labels or more")
    if classes.min() < 2:
        raise InputError(
            "a label has only one document, from which nothing can be learned",
            "two documents of each label or more",
        )
    forms = [(name, vectors, points) for name, vectors in views(points.vectors).items()]
    forms.append(("length alone", np.log(np.maximum(points.lengths, 1))[:, None], points))
    if points.sources is not None:
        forms.append(
            ("source alone", np.eye(int(points.sources.max()) + 1)[points.sources], points)
        )
    forms += (
        (f"{name}@{control}", vectors, own)
        for control, own in controls.items()
        for name, vectors in views(own.vectors).items()
    )
    made = []
    for done, (name, vectors, own) in enumerate(forms):
        progress(name, done, len(forms))
        space = _Space(vectors, own, min(probes.FOLDS, int(classes.min())), seed)
        made.append(_view(name, space, own, permutations, draws, seed))
    return made


def need_finite(vectors: NDArray[np.floating]) -> None:
    """Check that all vectors are finite.

    Raises:
        InputError: a vector is not finite.
    """
    if not np.isfinite(vectors).all():
        raise InputError("a vector is not finite", "the texts without it")


class _Space:
    """What does not depend on labels, computed once."""

    def __init__(self, vectors: NDArray[np.float64], points: Points, count: int, seed: int) -> None:
        number = len(vectors)
        random = np.random.default_rng(seed)
        self.vectors = vectors
        self.some = np.sort(random.permutation(number)[:PAIRS])
        self.points = vectors[self.some]
        fold = probes.folds(points.groups, points.labels, count, seed)
        self.fold = fold[self.some]
        self.apart = distances(self.points)
        self.near = probes.nearest_beyond(self.apart, self.fold)
        self.matrices = {"probe": probes.probe(self.points, self.fold)}
        if points.sources is not None:
            self.matrices["other sources"] = probes.probe(self.points, points.sources[self.some])

    def guesses(self, labels: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
        """Mark the sampled points whose class each classifier predicts correctly."""
        found = {
            name: probes.by_probe(matrix, labels) == labels
            for name, matrix in self.matrices.items()
        }
        found["centre"] = probes.by_centre(self.points, labels, self.fold) == labels
        found["neighbours"] = probes.by_neighbours(self.near, labels) == labels
        return found

    def measures(self, labels: NDArray[np.int64]) -> dict[str, float]:
        """Compute every measure for labels of all points."""
        some = labels[self.some]
        found = centres(self.vectors, labels)
        return {
            "separation": found.separation,
            "dbs": found.dbs,
            "dunn": dunn(self.apart, some),
            "silhouette": float(silhouettes(self.apart, some).mean()),
            **{n: probes.balanced(right, some) for n, right in self.guesses(some).items()},
        }


def _view(
    name: str, space: _Space, points: Points, permutations: int, draws: int, seed: int
) -> View:
    ways = [
        space.measures(labels)
        for labels in permuted(points.labels, points.groups, permutations, seed)
    ]
    drawn = _drawn(space, points, draws, seed)
    measures = {}
    for measure, value in ways[0].items():
        values = np.array([way[measure] for way in ways])
        others = values[1:][np.isfinite(values[1:])]
        low, high = ends(drawn.get(measure, []), value, reflected=measure in REFLECTED)
        measures[measure] = Measure(
            value,
            low,
            high,
            float(others.mean()) if len(others) else math.nan,
            share_as_good(values, lower_is_better=measure in LOWER_IS_BETTER),
        )
    return View(name, measures, centres(space.vectors, points.labels).flags)


def _drawn(space: _Space, points: Points, draws: int, seed: int) -> dict[str, list[float]]:
    """Compute bootstrap values of the measures that have an interval."""
    labels = points.labels[space.some]
    right = space.guesses(labels)
    shape = silhouettes(space.apart, labels)
    found: dict[str, list[float]] = {
        name: [] for name in ("separation", "dbs", "silhouette", *right)
    }
    for weights in draws_of(points.labels, points.groups, draws, seed):
        middle = centres(space.vectors, points.labels, weights)
        some = weights[space.some]
        found["separation"].append(middle.separation)
        found["dbs"].append(middle.dbs)
        found["silhouette"].append(float(some @ shape / some.sum()) if some.any() else math.nan)
        for name, hits in right.items():
            found[name].append(probes.balanced(hits, labels, some) if some.any() else math.nan)
    return found


def draws_of(
    labels: NDArray[np.int64], groups: NDArray[np.int64], draws: int, seed: int
) -> list[NDArray[np.float64]]:
    """Draw whole groups, as many of each label as there are: how often each point counts.

    Classifiers are not retrained in a draw: such an interval covers other documents to measure, not
    other documents to train on.
    """
    own = label_of_groups(labels, groups)
    random = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        counts = np.zeros(len(own))
        for label in np.unique(own):
            members = np.flatnonzero(own == label)
            np.add.at(counts, random.choice(members, len(members)), 1)
        found.append(counts[groups])
    return found


def ends(values: list[float], observed: float, *, reflected: bool) -> tuple[float, float]:
    """Ends of the middle 95 % of the draws that have a value; NaN if there is no interval.

    Args:
        values: values of the draws.
        observed: value without resampling.
        reflected: whether to mirror the interval about ``observed``, see ``REFLECTED``.
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if not len(known) or not math.isfinite(observed):
        return math.nan, math.nan
    # No interpolation: it is undefined between a number and infinity.
    low, high = map(float, np.quantile(known, [0.025, 0.975], method="inverted_cdf"))
    if reflected:
        low, high = max(0.0, 2 * observed - high), max(0.0, 2 * observed - low)
    return low, high
