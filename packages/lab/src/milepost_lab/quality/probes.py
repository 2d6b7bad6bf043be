"""Classifiers of vectors: a linear probe, nearest centres, near neighbours; out of fold.

Each predicts the class of every point from points of other folds. If points come in groups (the
landmarks of a document), a group is in one fold. The probe is a ridge regression onto one-hot
classes: the matrix that multiplies the classes serves for any permutation of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
_RIDGE = 0.01
"""Added to the diagonal, as a share of the mean squared length of the points."""


def folds(
    groups: NDArray[np.int64], labels: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    """Assign points to folds, ``(n,)``: groups stay whole, and each label is spread evenly."""
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    label_of = np.zeros(len(order), np.int64)
    label_of[groups] = labels
    fold = np.zeros(len(order), np.int64)
    for label in np.unique(label_of):
        own = order[label_of[order] == label]
        # Each label begins at another fold, so that small ones do not all go to the first.
        fold[own] = (np.arange(len(own)) + int(label)) % count
    return fold[groups]


def probe(points: NDArray[np.float64], fold: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the matrix ``(n, n)`` that maps one-hot classes to out-of-fold scores ``(n, k)``.

    Rows sum to 1 and are 0 at the points of their own fold.
    """
    found = np.zeros((len(points), len(points)))
    for number in np.unique(fold):
        test, train = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if not len(train):
            continue
        middle = points[train].mean(axis=0)
        known, asked = points[train] - middle, points[test] - middle
        gram = known @ known.T
        gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(train) + 1e-12
        weights = np.linalg.solve(gram, known @ asked.T).T
        found[np.ix_(test, train)] = weights + (1 - weights.sum(1, keepdims=True)) / len(train)
    return found


def by_probe(matrix: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Predict for each point the class that ``probe``'s matrix scores highest."""
    result: NDArray[np.int64] = (matrix @ np.eye(int(labels.max()) + 1)[labels]).argmax(axis=1)
    return result


def by_centre(
    points: NDArray[np.float64], labels: NDArray[np.int64], fold: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Predict for each point the class with the nearest centre, computed from other folds."""
    guess = np.zeros(len(points), np.int64)
    member = np.eye(int(labels.max()) + 1)[labels]
    for number in np.unique(fold):
        test, train = fold == number, fold != number
        counts = member[train].sum(axis=0)
        middles = member[train].T @ points[train] / np.maximum(counts, 1)[:, None]
        far = (middles**2).sum(axis=1) - 2 * points[test] @ middles.T
        guess[test] = np.where(counts > 0, far, np.inf).argmin(axis=1)
    return guess


def nearest_beyond(
    apart: NDArray[np.float64], fold: NDArray[np.int64], count: int = 5
) -> NDArray[np.int64]:
    """Find the nearest points of other folds, nearest first, ``(n, count)``, from all distances.

    There are fewer than ``count`` if some fold has fewer points outside it.
    """
    beyond = np.where(fold[:, None] == fold, np.inf, apart)
    least = int(np.isfinite(beyond).sum(axis=1).min())
    return np.argsort(beyond, axis=1, kind="stable")[:, : min(count, least)]


def by_neighbours(near: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Predict the class of most neighbours; ties go to that of the nearer ones."""
    count = near.shape[1]
    member = np.eye(int(labels.max()) + 1)[labels]
    # Nearer neighbours weigh slightly more, which only decides ties.
    vote = 1 + 1e-3 * np.arange(count, 0, -1) / max(count, 1)
    result: NDArray[np.int64] = (member[near] * vote[:, None]).sum(axis=1).argmax(axis=1)
    return result


def balanced(
    right: NDArray[np.bool_],
    labels: NDArray[np.int64],
    weights: NDArray[np.floating] | None = None,
) -> float:
    """Mean accuracy over classes: 1/k by chance, whatever the sizes of the classes.

    Args:
        right: ``(n,)``: whether each prediction is right.
        labels: ``(n,)``.
        weights: how often each point counts; classes without weight are left out.
    """
    weight = np.ones(len(labels)) if weights is None else weights
    counts = np.bincount(labels, weight)
    hits = np.bincount(labels, weight * right, len(counts))
    return float((hits[counts > 0] / counts[counts > 0]).mean())
