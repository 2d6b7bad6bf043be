"""Sentences scored with their neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_eval.systems.landmark import Landmarks
from milepost_eval.systems.scales import Scales, with_neighbours

BEES = "Bees build cells of wax. The queen lays the eggs. Drones do not work. " * 6


@given(st.lists(st.lists(st.floats(-1, 1, width=32), max_size=9), min_size=1, max_size=4))
def test_against_the_rule_written_out(texts: list[list[float]]) -> None:
    document_offsets = np.cumsum([0, *map(len, texts)])
    scores = np.array([score for text in texts for score in text], np.float32)
    wanted = []
    for text in texts:
        for n in range(len(text)):
            near = [text[max(0, n - reach) : n + reach + 1] for reach in (0, 1, 3)]
            wanted.append(sum(sum(some) / len(some) for some in near) / 3)
    assert with_neighbours(scores, document_offsets) == pytest.approx(wanted, abs=1e-6)


def test_the_system_scores_by_it() -> None:
    documents = [Document("bees", BEES), Document("one", "Ships carry grain.")]
    encoder = fake_encoder()
    inner = Landmarks("landmark-only", encoder)
    system = Scales("landmark-scales", inner)
    assert system.fingerprint == inner.fingerprint
    opened, alone = system.open(documents), inner.open(documents)
    assert opened.tokens == alone.tokens > 0
    question = "Who lays eggs in cells of wax?"
    (ranking,) = opened.search([question])
    wanted = with_neighbours(alone.scores([question])[0], alone.units.document_offsets)
    best = ranking.best(5)
    assert [place.score for place in best] == pytest.approx(sorted(wanted, reverse=True)[:5])
    for nothing in ([], [Document("empty", "")]):
        (ranking,) = system.open(nothing).search([question])
        assert ranking.best(3) == ranking.spend(100) == []
