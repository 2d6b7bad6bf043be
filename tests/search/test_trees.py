"""Trees as arrays: the sum of the leaves, its parts, and the file they are kept in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from milepost.errors import ModelError
from milepost.search.trees import FILE, Trees, read_trees
from support.random_trees import NAMES, grown


def followed(trees: Trees, row: np.ndarray) -> float:
    total = 0.0
    for root in trees.roots:
        place = root
        while trees.feature[place] >= 0:
            low = row[trees.feature[place]] <= trees.threshold[place]
            place = trees.left[place] if low else trees.right[place]
        total += float(trees.value[place])
    return total


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("trees", [1, 63, 64, 130])
def test_the_sum_is_that_of_the_leaves_and_of_the_parts(seed: int, trees: int) -> None:
    made = grown(seed, trees)
    rows = np.random.default_rng(seed).uniform(-1.5, 1.5, (9, 3)).astype(np.float32)
    rows[0, 0] = made.threshold[0]  # "at most" holds at the threshold itself
    np.testing.assert_allclose(
        made.predict(rows), [followed(made, row) for row in rows], rtol=1e-5, atol=1e-5
    )
    for row in rows:
        parts = made.parts(row)
        assert parts.keys() == {"", *NAMES}
        assert sum(parts.values()) == pytest.approx(followed(made, row), abs=1e-4)


def test_no_rows() -> None:
    assert grown(1).predict(np.zeros((0, 3), np.float32)).shape == (0,)


@pytest.mark.parametrize("seed", range(4))
def test_trees_come_back_from_their_file(tmp_path: Path, seed: int) -> None:
    made = grown(seed, depth=seed)
    made.write(tmp_path)
    back = read_trees(tmp_path / FILE, NAMES)
    assert back is not None
    rows = np.random.default_rng(3).standard_normal((20, 3)).astype(np.float32)
    assert back.predict(rows).tolist() == made.predict(rows).tolist()
    assert back.depth <= seed


def test_a_folder_without_trees(tmp_path: Path) -> None:
    assert read_trees(tmp_path / FILE, NAMES) is None


@pytest.mark.parametrize("bad", [b"", b"PK\x03\x04 cut off", b"no archive at all"])
def test_a_damaged_file_is_named(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / FILE).write_bytes(bad)
    with pytest.raises(ModelError, match="cannot be read"):
        read_trees(tmp_path / FILE, NAMES)


def test_columns_are_known_by_name(tmp_path: Path) -> None:
    """Trees that were learned on fewer columns, or in another order, say the same of a sentence."""
    made = grown(1)
    made.write(tmp_path)
    names = (NAMES[2], "new", NAMES[0], NAMES[1])
    back = read_trees(tmp_path / FILE, names)
    assert back is not None
    rows = np.random.default_rng(3).standard_normal((20, 4)).astype(np.float32)
    assert back.predict(rows).tolist() == made.predict(rows[:, [2, 3, 0]]).tolist()
    assert back.parts(rows[0])["new"] == 0.0


def test_trees_of_another_version_are_refused(tmp_path: Path) -> None:
    """A column that is no longer measured cannot be made up."""
    grown(1).write(tmp_path)
    with pytest.raises(ModelError, match="made for other measures"):
        read_trees(tmp_path / FILE, (*NAMES[:2], "another"))
