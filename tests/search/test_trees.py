"""Trees as arrays: the sum of the leaves, its parts, and the file they are kept in."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from milepost.errors import ModelError
from milepost.search import ranking as module
from milepost.search.fusion import Fusion
from milepost.search.ranking import Ranked, Ranking
from milepost.search.trees import FILE, Trees, read_trees
from support.random_trees import NAMES, grown, trees
from support.search_stores import filled, ranked


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


@pytest.mark.parametrize("seed", range(4))
def test_trees_come_back_from_their_file(tmp_path: Path, seed: int) -> None:
    made = grown(seed, depth=seed)
    assert read_trees(tmp_path / FILE, NAMES) is None
    made.write(tmp_path)
    back = read_trees(tmp_path / FILE, NAMES)
    rows = np.random.default_rng(3).standard_normal((20, 3)).astype(np.float32)
    assert back.predict(rows).tolist() == made.predict(rows).tolist()
    assert back.depth <= seed


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
    rows = np.random.default_rng(3).standard_normal((20, 4)).astype(np.float32)
    assert back.predict(rows).tolist() == made.predict(rows[:, [2, 3, 0]]).tolist()
    assert back.parts(rows[0])["new"] == 0.0


def test_trees_of_another_version_are_refused(tmp_path: Path) -> None:
    """A column that is no longer measured cannot be made up."""
    grown(1).write(tmp_path)
    with pytest.raises(ModelError, match="made for other measures"):
        read_trees(tmp_path / FILE, (*NAMES[:2], "another"))


def scored(ranking: Ranking) -> Ranked:
    return ranked(filled(3, 8), ["p1x1", "common"], ranking=ranking)


@pytest.mark.parametrize("top", [5, 24, 600])
def test_parts_add_up_and_learned_scores_come_first(
    monkeypatch: pytest.MonkeyPatch, top: int
) -> None:
    monkeypatch.setattr(module, "LEARNED_TOP", top)
    found = scored(Ranking(Fusion(), trees()))
    assert len(found.learned.rows) == min(top, 24)
    for number in range(24):
        parts = found.parts(number)
        assert sum(parts.values()) == pytest.approx(float(found.score[number]), abs=1e-4)
        assert (found.learned.parts(number) is None) == (number not in found.learned.rows)
    order = np.argsort(-found.fused.score, kind="stable")
    best, beyond = order[:top], order[top:]
    if len(beyond):
        assert found.score[best].min() > found.score[beyond].max()
        assert (np.diff(found.score[beyond]) <= 0).all()


def test_without_trees_the_fused_order_stays() -> None:
    found = scored(Ranking(Fusion(odds=(-4.0, 0.5))))
    assert found.learned is None
    np.testing.assert_allclose(found.score, -4.0 + 0.5 * found.fused.score, rtol=1e-5)
    assert sum(found.parts(3).values()) == pytest.approx(float(found.score[3]), abs=1e-5)


def test_probabilities_by_hand() -> None:
    found = scored(Ranking(Fusion(calibration=(0.5, 2.0, 1.0, 0.0, 0.0))))
    found.base_score[:3] = [0.0, -1.0, 1.0]
    alone = 1 / (1 + np.exp(-(0.5 + 2.0)))
    assert found.probability([2]) == pytest.approx(alone)
    rest = 0.5 + 1 / (1 + np.exp(1.0))
    both = 1 / (1 + np.exp(-(0.5 + 2.0 + np.log1p(rest))))
    assert found.probability([1, 0, 2]) == pytest.approx(both)


def test_a_passage_is_likelier_the_more_it_stands_out_and_the_larger_it_is() -> None:
    found = scored(Ranking(Fusion(calibration=(0.0, 0.0, 0.0, 3.0, 0.5))))
    lengths = np.full(len(found.score), 10)
    lengths[1] = 40
    found = replace(found, lengths=lengths)
    weights = np.exp(found.score.astype(float))  # fewer sentences than get a learned score
    size = 50 / lengths.sum()
    odds = 3 * weights[:2].sum() / weights.sum() + 0.5 * np.log(size / (1 - size))
    assert found.probability([0, 1]) == pytest.approx(1 / (1 + np.exp(-odds)))
    everything = found.probability(range(len(lengths)))
    assert everything == pytest.approx(1 / (1 + np.exp(-(3 + 0.5 * np.log(0.95 / 0.05)))))


def test_a_model_folder_is_read(tmp_path: Path) -> None:
    assert Ranking.read({"growth_threshold": 0.25}, tmp_path) == Ranking(
        Fusion(growth_threshold=0.25)
    )
    trees().write(tmp_path)
    read = Ranking.read({"calibration": [0.0, 1.0, 0.5, 2.0], "answerable": [1, 1, 1]}, tmp_path)
    assert read.trees is not None
    assert not read.calibrated  # numbers of an earlier version, for other inputs
    assert read.fusion.answerable == ()
