"""How far apart classes of vectors lie: cluster indices, with a rule for every degenerate case.

These are the parts of the Alignment Quality Index (Borah et al., arXiv 2506.13901), in the vectors'
own space (the published scripts apply t-SNE first, after which distances mean nothing). Its sum is
shown for layers only: for two classes the Calinski-Harabasz index is the inverse of the Xie-Beni
index times a factor of class sizes, ``CHI = n1 n2 (n - 2) / n² / XBI``, so the sum counts one index
twice. What is measured is separability, which says nothing about safety.

    W     squared distances of points to their class's centre, summed
    D2    smallest squared distance of two centres
    XBI   W / (n D2)                        lower is better; ``separation`` is its inverse, n D2 / W
    CHI   [B / (k - 1)] / [W / (n - k)]     B: squared distances of centres to the mean, times n_c
    DBS   mean over classes of the greatest (S_c + S_c') / |m_c - m_c'|, S: mean distance to centre
    Dunn  smallest distance of two classes' points / greatest distance within a class
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milepost_eval.drift import distances, unit

_NOTHING = 1e-12
"""Squared distances below this share of the mean squared distance to the mean are rounding."""

ONE_CLASS = "one class"
NO_SPREAD = "no spread within classes"
ONE_CENTRE = "two classes have one centre"
ONE_POINT = "all points are one"


@dataclass(frozen=True, slots=True)
class Centres:
    """Indices computed from centres in O(n d).

    Attributes:
        separation: ``n D2 / W``, the inverse of XBI: 0 if two centres coincide, infinite if all
            points lie on their centres.
        chi: the Calinski-Harabasz index, which grows with the number of points.
        dbs: the Davies-Bouldin index, lower is better; infinite if two centres coincide.
        flags: degenerate cases; for one class, or if all points coincide, all indices are NaN.
    """

    separation: float
    chi: float
    dbs: float
    flags: tuple[str, ...] = ()

    def aqi(self, share: float = 0.5) -> float:
        """The paper's sum, ``share / XBI + (1 - share) CHI``; higher is meant to be better.

        For two classes it is ``separation`` times a number that depends on their sizes alone.

        Args:
            share: the paper's λ.
        """
        return share * self.separation + (1 - share) * self.chi


def numbered(labels: Sequence[str] | NDArray[np.generic]) -> NDArray[np.int64]:
    """Number labels of any kind from 0 in sorted order, ``(n,)`` int64."""
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)


def centres(
    vectors: NDArray[np.floating],
    labels: NDArray[np.int64],
    weights: NDArray[np.floating] | None = None,
) -> Centres:
    """Compute separation, CHI and DBS; all sums in float64.

    Args:
        vectors: ``(n, d)``.
        labels: ``(n,)`` from 0 on.
        weights: ``(n,)``: how often each point counts, as drawn by a bootstrap.
    """
    weight = np.ones(len(labels)) if weights is None else weights.astype(np.float64)
    labels, counts = _present(labels, weight)
    total, classes = float(weight.sum()), len(counts)
    if classes < 2:
        return Centres(math.nan, math.nan, math.nan, (ONE_CLASS,))
    # Relative to the mean, so that a large offset costs no precision.
    points = vectors.astype(np.float64)
    points = points - weight @ points / total
    member = np.zeros((len(labels), classes))
    member[np.arange(len(labels)), labels] = weight
    middles = member.T @ points / counts[:, None]
    own = ((points - middles[labels]) ** 2).sum(axis=1)
    within, between = float(weight @ own), float(counts @ (middles**2).sum(axis=1))
    apart = distances(middles) + np.diag(np.full(classes, math.inf))
    nothing = _NOTHING * (within + between) / total
    spread, distance = within / total > nothing, float(apart.min()) ** 2 > nothing
    if not spread and not distance and between / total <= nothing:
        return Centres(math.nan, math.nan, math.nan, (ONE_POINT,))
    flags = (NO_SPREAD,) * (not spread) + (ONE_CENTRE,) * (not distance)
    if not spread and not distance:  # some classes coincide, others do not
        return Centres(math.nan, math.inf, math.nan, flags)
    if not spread:
        return Centres(math.inf, math.inf, 0.0, flags)
    radii = member.T @ np.sqrt(own) / counts
    ratios = np.full_like(apart, math.inf)
    np.divide(radii[:, None] + radii, apart, out=ratios, where=apart**2 > nothing)
    return Centres(
        separation=total * float(apart.min()) ** 2 / within if distance else 0.0,
        chi=between / (classes - 1) / (within / (total - classes)),
        dbs=float(ratios.max(axis=1).mean()),
        flags=flags,
    )


def dunn(apart: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Dunn's index from the distances of all pairs: two pairs of points decide it.

    For pure noise it rises with the dimension, so it is never shown without its permuted value. NaN
    for one class, or if all points coincide; infinite if each class is a single point.
    """
    same = labels[:, None] == labels
    if same.all():
        return math.nan
    within, between = float(apart[same].max()), float(apart[~same].min())
    if within == 0.0:
        return math.inf if between > 0 else math.nan
    return between / within


def silhouettes(apart: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each point's silhouette, ``(n,)`` in -1 to 1 (Rousseeuw 1987); 0 if alone in its class.

    NaN for one class.
    """
    counts = np.bincount(labels)
    if (counts > 0).sum() < 2:
        return np.full(len(labels), math.nan)
    member = np.eye(len(counts))[labels]
    sums = apart @ member
    rows = np.arange(len(labels))
    own = sums[rows, labels] / np.maximum(counts[labels] - 1, 1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), math.inf)
    means[rows, labels] = math.inf
    other = means.min(axis=1)
    longest = np.maximum(own, other)
    alone = counts[labels] == 1
    found = (other - own) / np.where(longest > 0, longest, 1.0)
    result: NDArray[np.float64] = np.where(alone, 0.0, found)
    return result


def views(vectors: NDArray[np.floating]) -> dict[str, NDArray[np.float64]]:
    """Return the vectors raw, standardised and at unit length, float64.

    A few huge dimensions can dominate all distances; if the three views disagree, they do.
    """
    raw = vectors.astype(np.float64)
    spread = raw.std(axis=0)
    return {
        "raw": raw,
        "standardised": (raw - raw.mean(axis=0)) / np.where(spread > 0, spread, 1.0),
        "unit length": unit(raw),
    }


def _present(
    labels: NDArray[np.int64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Renumber labels without empty classes, and return the weight of each class.

    Points without weight get any remaining label: they add nothing anywhere.
    """
    counts = np.bincount(labels, weight).astype(np.float64)
    left = np.flatnonzero(counts > 0)
    places = np.zeros(len(counts), np.int64)
    places[left] = np.arange(len(left))
    return np.where(weight > 0, places[labels], 0), counts[left]
