"""Permute labels among whole groups, for the value of an index by chance."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError


def label_of_groups(labels: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The label of each group, ``(groups,)``.

    Raises:
        InputError: points of one group have different labels.
    """
    found = np.zeros(int(groups.max()) + 1, np.int64)
    found[groups] = labels
    if (found[groups] != labels).any():
        raise InputError("a document has two labels", "one label for each document")
    return found


def permuted(
    labels: NDArray[np.int64], groups: NDArray[np.int64], most: int, seed: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the observed labels of points, then labels permuted among groups.

    If groups can be labelled in at most ``most + 1`` ways, each way comes once: no p-value can then
    be smaller than the share of ways that are as good as the observed one. With two groups in each
    of two classes that is 1/3, since swapping the classes changes nothing.

    Args:
        labels: ``(n,)`` from 0 on.
        groups: ``(n,)`` from 0 on; the points of a group are labelled together.
        most: maximum number of permutations besides the observed one.
        seed: seed of random permutations.
    """
    own = label_of_groups(labels, groups)
    counts = np.bincount(own)
    ways = math.factorial(len(own)) // math.prod(math.factorial(int(count)) for count in counts)
    yield labels
    if ways <= most + 1:
        for way in _ways(counts, len(own)):
            if (way != own).any():
                yield way[groups]
        return
    random = np.random.default_rng(seed)
    for _ in range(most):
        yield random.permutation(own)[groups]


def _ways(counts: NDArray[np.int64], length: int) -> Iterator[NDArray[np.int64]]:
    """Yield every row of labels with these counts."""
    if length == 0:
        yield np.zeros(0, np.int64)
        return
    for label in np.flatnonzero(counts):
        left = counts.copy()
        left[label] -= 1
        for rest in _ways(left, length - 1):
            yield np.concatenate([[label], rest])


def share_as_good(values: NDArray[np.float64], *, lower_is_better: bool = False) -> float:
    """p-value: share of the values, the first included, as good as the first; NaN for NaN.

    Args:
        values: ``(ways,)``, the observed one first.
        lower_is_better: whether lower values of the index are better.
    """
    turned = -values if lower_is_better else values
    if math.isnan(turned[0]):
        return math.nan
    # Equivalent permutations must count as equal, whatever the order of their sums.
    slack = 1e-9 * abs(turned[0]) if math.isfinite(turned[0]) else 0.0
    return float((turned >= turned[0] - slack).mean())
