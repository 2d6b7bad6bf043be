"""Find the leaf that each row reaches in each tree, for all rows and trees at once.

QuickScorer (Lucchese et al. 2015, "QuickScorer: a fast algorithm to rank documents with additive
ensembles of regression trees"): a row that goes right at a node cannot reach a leaf in its left
subtree. For each tree, the leaves that no node rules out are the bits of one number, and the row
reaches the leftmost of them. No step depends on an earlier one, so NumPy runs them all at once;
following the branches took fifteen times as long.
"""

from __future__ import annotations

from dataclasses import dataclass

from milepost._numpy import NDArray, np

MOST = 64  # maximum number of leaves of a tree


@dataclass(frozen=True, slots=True)
class Leaves:
    """Nodes in slots: the first node of each tree, the second node, and so on.

    Attributes:
        feature: ``(slots, trees)``: the column that a node tests.
        threshold: ``(slots, trees)`` float32: a row goes left if its value is at most this.
        out: ``(slots, trees)``: bits of the leaves that going right rules out; 0 in empty slots.
        value: ``(trees * most,)`` float32: the values of each tree's leaves, left to right.
        most: maximum number of leaves of any of the trees.
    """

    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    out: NDArray[np.unsignedinteger]
    value: NDArray[np.float32]
    most: int

    def sums(self, columns: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sum the values of the reached leaves: ``(n,)`` float32 for ``(n, columns)``."""
        trees, values = self.out.shape[1], np.ascontiguousarray(columns.T)
        out = np.zeros((trees, len(columns)), self.out.dtype)
        for feature, threshold, mask in zip(self.feature, self.threshold, self.out, strict=True):
            # NaN goes right at every node.
            out |= ~(values[feature] <= threshold[:, None]) * mask[:, None]
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
) -> Leaves:
    """Arrange the arrays of ``Trees``, of at most ``MOST`` leaves each, for ``Leaves.sums``."""
    inner = np.flatnonzero(feature >= 0)
    tree = np.zeros(len(feature), np.int64)
    tree[roots] = np.arange(len(roots))
    first, below = np.zeros_like(tree), (feature < 0).astype(np.int64)
    for _ in range(depth):  # leaves are counted bottom-up and numbered top-down
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
    asked, limit = np.zeros(shape, np.int16), np.zeros(shape, np.float32)
    asked[at], limit[at] = feature[inner], threshold[inner]
    bits = np.uint64(1)
    ruled_out = ((bits << below[left[inner]].astype(np.uint64)) - bits) << first[inner].astype(
        np.uint64
    )
    out = np.zeros(shape, np.uint8 if most <= 8 else np.uint64)
    out[at] = ruled_out.astype(out.dtype)
    values = np.zeros(len(roots) * most, np.float32)
    leaf = np.flatnonzero(feature < 0)
    values[tree[leaf] * most + first[leaf]] = value[leaf]
    return Leaves(asked, limit, out, values, most)
