"""The learned ranking: scores, their parts, and probabilities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from milepost.search import ranking as module
from milepost.search.fusion import Fusion
from milepost.search.ranking import Ranked, Ranking
from support.random_trees import trees
from support.search_stores import filled, ranked


def scored(ranking: Ranking) -> Ranked:
    return ranked(filled(3, 8), ["p1x1", "common"], ranking=ranking)


@pytest.mark.parametrize("top", [5, 24, 600])
def test_parts_add_up_and_learned_scores_come_first(
    monkeypatch: pytest.MonkeyPatch, top: int
) -> None:
    monkeypatch.setattr(module, "LEARNED_TOP", top)
    found = scored(Ranking(Fusion(), trees()))
    assert found.learned is not None
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
    found = replace(scored(Ranking(Fusion(calibration=(0.5, 2.0, 1.0, 4.0)))), documents=1)
    found.base_score[:3] = [0.0, -1.0, 1.0]
    alone = 1 / (1 + np.exp(-(0.5 + 2.0)))
    assert found.probability([2]) == pytest.approx(alone)
    rest = 0.5 + 1 / (1 + np.exp(1.0))
    both = 1 / (1 + np.exp(-(0.5 + 2.0 + np.log1p(rest))))
    assert found.probability([1, 0, 2]) == pytest.approx(both)
    of_many = 1 / (1 + np.exp(-(0.5 + 2.0 + 4.0 * 0.75)))
    assert replace(found, documents=4).probability([2]) == pytest.approx(of_many)


def test_a_model_folder_is_read(tmp_path: Path) -> None:
    assert Ranking.read({"growth_threshold": 0.25}, tmp_path) == Ranking(
        Fusion(growth_threshold=0.25)
    )
    trees().write(tmp_path)
    read = Ranking.read({"calibration": [0.0, 1.0, 0.5]}, tmp_path)
    assert read.trees is not None
    assert read.fusion.calibration == (0.0, 1.0, 0.5, 0.0)  # fitted before the last one was
