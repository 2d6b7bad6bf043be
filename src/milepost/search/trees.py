"""Boosted regression trees as plain arrays: their sum is a log-odds (Friedman 2001)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

from milepost._numpy import NDArray, np, read_arrays
from milepost.errors import ModelError
from milepost.search.leaves import Leaves, arranged

FILE = "ranking.npz"


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees in one table of nodes.

    Attributes:
        names: names of the columns that the trees use, in order.
        roots: ``(trees,)`` int32: root of each tree.
        feature: ``(nodes,)`` int16: the column that a node tests; -1 at a leaf.
        threshold: ``(nodes,)`` float32: rows go left if their column is at most this.
        left, right: ``(nodes,)`` int32: the child nodes; a leaf points to itself.
        value: ``(nodes,)`` float32: a leaf's contribution to the sum; at an inner node the mean
            of the training rows that reached it.
        depth: the longest path from a root to a leaf.

    Raises:
        ValueError: a tree has more leaves than ``leaves.MOST``.
    """

    names: tuple[str, ...]
    roots: NDArray[np.int32]
    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    depth: int
    _leaves: Leaves = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = self.roots, self.feature, self.threshold, self.left, self.right, self.value
        leaves = arranged(*parts, depth=self.depth)
        object.__setattr__(self, "_leaves", leaves)

    def predict(self, columns: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sum the trees: ``(n,)`` float32 for ``(n, len(names))`` columns."""
        return self._leaves.sums(columns)

    def parts(self, row: NDArray[np.float32]) -> dict[str, float]:
        """Split one row's sum into contributions of columns, and of ``""``, the mean.

        A column gets the change of the mean at every node that tests it (Saabas 2014).
        """
        values = self.value.astype(np.float64)
        place = self.roots
        moved = np.zeros(1 + len(self.names))
        moved[0] = values[place].sum()
        for _ in range(self.depth):
            asked = self.feature[place]
            low = row[asked] <= self.threshold[place]
            following = np.where(low, self.left[place], self.right[place])
            # A leaf tests no column (-1) and points to itself, so it adds 0.
            np.add.at(moved, asked + 1, values[following] - values[place])
            place = following
        return dict(zip(("", *self.names), moved.tolist(), strict=True))

    def write(self, folder: Path) -> None:
        """Write ``ranking.npz`` to a model folder."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        names = np.array(self.names)
        np.savez_compressed(folder / FILE, names=names, **arrays)


_ARRAYS = ("roots", "feature", "threshold", "left", "right", "value")


def read_trees(path: Path, names: tuple[str, ...]) -> Trees | None:
    """Read the trees of a model folder, undamaged ones; None if it has none.

    ``names`` are the columns that this version computes; the trees may use fewer.
    """
    if not path.is_file():
        return None
    hint = "take the model folder of this version, or remove the file: then scores are only fused"
    try:
        held = read_arrays(path)
        made_for = tuple(held["names"].tolist())
        arrays = {name: held[name] for name in _ARRAYS}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise ModelError(f"{path} cannot be read: {error}", hint) from error
    if not set(made_for) <= set(names):
        raise ModelError(f"{path} was made for other measures of a sentence", hint)
    # The number of each column in this version; -1, for leaves, stays -1.
    places = np.array([*(names.index(name) for name in made_for), -1], np.int16)
    arrays["feature"] = places[arrays["feature"]]
    return Trees(names, **arrays, depth=_depth(arrays["left"], arrays["right"], arrays["roots"]))


def _depth(left: NDArray[np.int32], right: NDArray[np.int32], roots: NDArray[np.int32]) -> int:
    # Flags of nodes, not np.unique, which takes ten times as long.
    places, depth = np.zeros(len(left), bool), 0
    places[roots] = True
    while True:
        following = np.zeros(len(left), bool)
        following[left[places]] = following[right[places]] = True
        if np.array_equal(following, places):
            return depth
        places, depth = following, depth + 1
