"""The close look: scores, their parts, and chances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from milepost.search import ranking as module
from milepost.search.fusion import Fusion
from milepost.search.ranking import Ranked, Ranking
from milepost.search.scope import Scope, gather
from support.random_trees import trees
from support.search_stores import filled, unit


def scope() -> Scope:
    return gather(filled(3, 8), unit(1), ["p1x1", "common"])


@pytest.mark.parametrize("closely", [5, 24, 600])
def test_parts_add_up_and_the_close_look_comes_first(
    monkeypatch: pytest.MonkeyPatch, closely: int
) -> None:
    """Every sentence's parts sum to its score; those looked at lie above all others."""
    monkeypatch.setattr(module, "CLOSELY", closely)
    seen = scope()
    ranked = Ranked(seen, 1.0, Ranking(Fusion(), trees()))
    for number in range(len(seen.spans)):
        parts = ranked.parts(number)
        assert sum(parts.values()) == pytest.approx(float(ranked.score[number]), abs=1e-4)
    order = np.argsort(-ranked.fused.score, kind="stable")
    close, beyond = order[:closely], order[closely:]
    if len(beyond):
        assert ranked.score[close].min() > ranked.score[beyond].max()
        assert (np.diff(ranked.score[beyond]) <= 0).all()


def test_without_trees_the_fused_order_stays() -> None:
    """A model that has learned no close look ranks by the fused score, as log-odds."""
    ranked = Ranked(scope(), 1.0, Ranking(Fusion(odds=(-4.0, 0.5))))
    np.testing.assert_allclose(ranked.score, -4.0 + 0.5 * ranked.fused.score, rtol=1e-5)
    assert sum(ranked.parts(3).values()) == pytest.approx(float(ranked.score[3]), abs=1e-5)


def test_chances_by_hand() -> None:
    """One sentence alone, and with others that may be evidence too."""
    ranked = Ranked(scope(), 1.0, Ranking(Fusion(calibration=(0.5, 2.0, 1.0))))
    ranked.score[:3] = [0.0, -1.0, 1.0]
    alone = 1 / (1 + np.exp(-(0.5 + 2.0)))
    assert ranked.chance([2]) == pytest.approx(alone)
    rest = 0.5 + 1 / (1 + np.exp(1.0))
    both = 1 / (1 + np.exp(-(0.5 + 2.0 + np.log1p(rest))))
    assert ranked.chance([1, 0, 2]) == pytest.approx(both)


def test_a_model_folder_is_read(tmp_path: Path) -> None:
    """Numbers of the manifest and trees of the folder; a folder without has none."""
    assert Ranking.read({"growth_threshold": 0.25}, tmp_path) == Ranking(
        Fusion(growth_threshold=0.25)
    )
    trees().write(tmp_path)
    read = Ranking.read({"calibration": [0.0, 1.0, 0.5]}, tmp_path)
    assert read.trees is not None
    assert read.fusion.calibration == (0.0, 1.0, 0.5)
