"""One score from landmarks and words: weights and parts add up, and signals move them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.search.fusion import SIGNALS, Fusion, fuse, standard
from support.search_stores import empty_store, filled, gathered, put, unit

SIGNED = st.floats(-8, 8)
SETTINGS = st.builds(
    Fusion,
    gate=st.dictionaries(st.sampled_from(sorted(SIGNALS)), SIGNED),
    scale_shift=st.dictionaries(st.sampled_from(sorted(SIGNALS)), SIGNED),
    landmark=st.tuples(*[st.tuples(SIGNED, SIGNED)] * 3),
    words=st.tuples(*[st.tuples(SIGNED, SIGNED)] * 3),
)


@settings(max_examples=40, deadline=None)
@given(SETTINGS, st.floats(0, 1), st.integers(0, 50), st.sampled_from(["p1x3", "nowhere", ""]))
def test_numbers_add_up(fusion: Fusion, vocab_coverage: float, seed: int, word: str) -> None:
    scope = gathered(filled(2, 6), ["common", word] if word else [], seed)
    fused = fuse(scope, vocab_coverage, fusion)
    assert math.isclose(sum(fused.weights.values()), 1.0, abs_tol=1e-9)
    assert all(weight >= 0 for weight in fused.weights.values())
    assert fused.parts.keys() == fused.weights.keys()
    np.testing.assert_allclose(sum(fused.parts.values()), fused.score, atol=1e-5)
    assert np.isfinite(fused.score).all()
    assert fused.score.shape == (12,)
    assert fused.signals.keys() == SIGNALS.keys()
    assert all(map(math.isfinite, fused.signals.values()))
    assert -1 <= fused.scale_shift <= 1


def share(fused: object) -> float:
    return sum(w for name, w in fused.weights.items() if name.startswith("landmark"))


def test_low_vocabulary_coverage_lowers_the_landmarks() -> None:
    known, unknown = empty_store(), empty_store()
    for store, vocab_coverage in ((known, 1.0), (unknown, 0.0)):
        put(store, "d", [f"Sentence number {n}. " for n in range(9)], vocab_coverage=vocab_coverage)
    words = ["number"]
    full = fuse(gathered(known, words), 1.0, Fusion())
    asked = fuse(gathered(known, words), 0.1, Fusion())
    text = fuse(gathered(unknown, words), 1.0, Fusion())
    assert share(asked) < share(full)
    assert share(text) < share(full)
    assert full.signals["out of vocabulary"] == 0.0
    assert asked.signals["out of vocabulary"] == pytest.approx(0.9)
    assert text.signals["out of vocabulary"] == 1.0


def test_unknown_words_weigh_nothing() -> None:
    scope = gathered(filled(), ["nowhere", "neither"])
    fused = fuse(scope, 0.0, Fusion())
    assert share(fused) == pytest.approx(1.0)
    assert share(fuse(gathered(filled(), []), 0.0, Fusion())) == pytest.approx(1.0)


def test_equal_scores_say_nothing() -> None:
    store = empty_store()
    same = np.tile(unit(5), (40, 1))
    put(store, "d", ["Again and again. "] * 40, vectors=same)
    fused = fuse(gathered(store, ["again"], 6), 1.0, Fusion())
    assert not fused.parts["landmark"].any()
    assert not fused.parts["landmark ±1"].any()
    assert not fused.parts["words"].any()
    assert np.isfinite(fused.score).all()


def test_one_sentence() -> None:
    store = empty_store()
    put(store, "d", ["Only this. "])
    fused = fuse(gathered(store, ["only"]), 1.0, Fusion())
    assert fused.score.tolist() == [0.0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=60))
def test_standard(values: list[float]) -> None:
    """Mean 0 and deviation 1, or zeros where nothing stands out; the order stays."""
    array = np.array(values, np.float32)
    result = standard(array)
    assert result.dtype == np.float32
    if result.any():
        assert abs(float(result.mean())) < 1e-3
        assert abs(float(result.std()) - 1) < 1e-3
        assert (np.diff(result[np.argsort(array, kind="stable")]) >= 0).all()
    else:
        assert np.ptp(array) < 1e-2


def test_worked_numbers() -> None:
    """1, 2, 3 has the mean 2 and the deviation √(2/3)."""
    np.testing.assert_allclose(standard(np.array([1, 2, 3], np.float32)), [-1.224745, 0, 1.224745])
    assert standard(np.full(1000, 0.1, np.float32)).any() == np.False_


def test_settings_from_a_manifest() -> None:
    fields = {"gate": {"always": 1.0}, "landmark": [[0, 1], [2, 3], [4, 5]], "fitted": "today"}
    fusion = Fusion.from_fields(fields)
    assert fusion.landmark == ((0, 1), (2, 3), (4, 5))
    assert fusion.words == Fusion().words
    assert fusion.gate == {"always": 1.0}
    assert Fusion.from_fields({}) == Fusion()
