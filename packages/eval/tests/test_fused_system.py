"""Vectors and words together."""

import numpy as np
import pytest

from milepost.types import Document
from milepost_eval.systems.fused import Fused, reciprocal
from milepost_eval.systems.units import Units

TEXT = "aaaa bbbb cccc dddd"
DOCUMENTS = [Document("d", TEXT)]


def _words(text):
    return [(at, at + 4) for at in range(0, len(text), 5)]


class _Given:
    def __init__(self, scores, splitter=_words):
        self.name = self.fingerprint = "given"
        self._scores, self._splitter = scores, splitter

    def open(self, documents):
        self.units = Units.of(documents, self._splitter)
        self.tokens = 3
        return self

    def scores(self, questions):
        return np.array([self._scores] * len(questions), np.float32)


def _order(system):
    (ranking,) = system.open(DOCUMENTS).search(["?"])
    return [TEXT[p.start] for p in ranking.best(4)]


def test_reciprocal_ranks_by_hand():
    assert reciprocal(np.array([0.5, 2.0, 0.5], np.float32)).tolist() == pytest.approx(
        [1 / 62, 1 / 61, 1 / 63]
    )


def test_by_rank_a_far_outlier_counts_no_more_than_a_first_place():
    """D leads the one list by far and is last in the other; b is second in both and wins."""
    first, second = _Given([1.0, 3.0, 2.0, 99.0]), _Given([4.0, 3.0, 2.0, 1.0])
    assert _order(Fused("f", first, second, by="rank"))[0] == "b"
    assert _order(Fused("f", first, second, by="score", weight=2.0))[0] == "d"


def test_by_rank_what_no_word_matches_gets_nothing_from_words():
    """By hand: c, which alone is matched, 1/63 + 1/61; the others their vectors' 1/(60+rank)."""
    first, second = _Given([3.0, 4.0, 2.0, 1.0]), _Given([0.0, 0.0, 7.0, 0.0])
    (ranking,) = Fused("f", first, second, by="rank").open(DOCUMENTS).search(["?"])
    assert ranking.scores.tolist() == pytest.approx([1 / 62, 1 / 61, 1 / 63 + 1 / 61, 1 / 64])


@pytest.mark.parametrize("by", ["rank", "score"])
def test_where_no_word_matches_vectors_decide_alone(by):
    fused = Fused("f", _Given([3.0, 1.0, 4.0, 2.0]), _Given([0.0] * 4), by=by)
    assert _order(fused) == list("cadb")


def test_by_score_the_weight_is_of_the_first():
    first, second = _Given([4.0, 3.0, 2.0, 1.0]), _Given([1.0, 2.0, 3.0, 4.0])
    assert _order(Fused("f", first, second, weight=0.0)) == list("dcba")
    assert _order(Fused("f", first, second, weight=9.0)) == list("abcd")


def test_systems_over_other_units_cannot_be_joined():
    """Scores of sentences and of chunks do not add up."""
    other = _Given([1.0, 2.0], lambda text: [(0, 9), (10, 19)])
    with pytest.raises(ValueError, match="other units"):
        Fused("f", _Given([1.0] * 4), other).open(DOCUMENTS)
