"""The leaf of each tree that a row ends in, for all rows and trees at once.

QuickScorer (Lucchese et al. 2015, "QuickScorer: a fast algorithm to rank documents with additive
ensembles of regression trees"): a row that is right of a node's threshold cannot end in a leaf
left below it. The leaves that no node rules out are bits of one number for each tree, and the
leftmost of them is where the row ends. No step waits for the one before it, so NumPy does them all
together; following the branches took fifteen times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST = 64
"""Leaves that a tree may have."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """Nodes in slots: the first of each tree, the second, and so on.

    Attributes:
        steps: for each column its thresholds, ascending, each once.
        feature: ``(slots, trees)``: the column that a node asks for.
        step: ``(slots, trees)``: a row is right of a node if more thresholds than this are below
            its value.
        out: ``(slots, trees)``: bits of the leaves that this rules out; 0 where a tree has no
            more nodes.
        value: ``(trees * most,)`` float32: the leaves of each tree, left to right.
        most: leaves of the tree that has most.
    """

    steps: tuple[NDArray[np.float32], ...]
    feature: NDArray[np.int16]
    step: NDArray[np.unsignedinteger]
    out: NDArray[np.unsignedinteger]
    value: NDArray[np.float32]
    most: int

    def sums(self, columns: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(n,)`` float32: the sums of the leaves' values, for ``(n, columns)``."""
        import numpy as np

        passed = np.empty((columns.shape[1], len(columns)), self.step.dtype)
        for number, thresholds in enumerate(self.steps):
            # A value that is not a number is right of all of them.
            passed[number] = np.searchsorted(thresholds, columns[:, number])
        trees = self.out.shape[1]
        out = np.zeros((trees, len(columns)), self.out.dtype)
        for feature, step, mask in zip(self.feature, self.step, self.out, strict=True):
            out |= (passed[feature] > step[:, None]) * mask[:, None]
        leaf = np.bitwise_count(out & ~(out + self.out.dtype.type(1)))  # ones before the first zero
        place = np.arange(trees)[:, None] * self.most + leaf
        total: NDArray[np.float64] = self.value[place].sum(axis=0, dtype=np.float64)
        return total.astype(np.float32)


def arranged(
    roots: NDArray[np.int32],
    feature: NDArray[np.int16],
    threshold: NDArray[np.float32],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    value: NDArray[np.float32],
    *,
    depth: int,
    columns: int,
) -> Leaves:
    """Arrange trees for ``Leaves.sums``.

    Args:
        roots: see ``trees.Trees``, as for all the others.
        feature: the column of each node.
        threshold: the border of each node.
        left: the next node up to there.
        right: the next node above.
        value: what a leaf adds.
        depth: the longest way to a leaf.
        columns: how many columns there are.

    Raises:
        ValueError: a tree has more leaves than ``MOST``.
    """
    import numpy as np

    inner = np.flatnonzero(feature >= 0)
    tree = np.zeros(len(feature), np.int64)
    tree[roots] = np.arange(len(roots))
    first, below = np.zeros_like(tree), (feature < 0).astype(np.int64)
    for _ in range(depth):  # leaves are counted upwards and numbered downwards
        below[inner] = below[left[inner]] + below[right[inner]]
    for _ in range(depth):
        first[left[inner]] = first[inner]
        first[right[inner]] = first[inner] + below[left[inner]]
        tree[left[inner]] = tree[right[inner]] = tree[inner]
    most = int(below[roots].max(initial=1))
    if most > MOST:
        raise ValueError(f"a tree has {most} leaves; {MOST} are the most")

    inner = inner[np.argsort(tree[inner], kind="stable")]
    count = np.bincount(tree[inner], minlength=len(roots))
    slot = np.arange(len(inner)) - np.repeat(np.cumsum(count) - count, count)
    shape = int(count.max(initial=0)), len(roots)
    at = slot, tree[inner]
    asked = np.zeros(shape, np.int16)
    asked[at] = feature[inner]
    bits = np.uint64(1)
    ruled_out = ((bits << below[left[inner]].astype(np.uint64)) - bits) << first[inner].astype(
        np.uint64
    )
    out = np.zeros(shape, np.uint8 if most <= 8 else np.uint64)
    out[at] = ruled_out.astype(out.dtype)
    steps = tuple(np.unique(threshold[inner][feature[inner] == each]) for each in range(columns))
    longest = max((len(each) for each in steps), default=0)
    step = np.zeros(shape, np.uint8 if longest < 256 else np.uint32)
    for number, thresholds in enumerate(steps):
        some = feature[inner] == number
        step[slot[some], tree[inner][some]] = np.searchsorted(thresholds, threshold[inner][some])
    values = np.zeros(len(roots) * most, np.float32)
    leaf = np.flatnonzero(feature < 0)
    values[tree[leaf] * most + first[leaf]] = value[leaf]
    return Leaves(steps, asked, step, out, values, most)
