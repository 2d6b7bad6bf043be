"""What is measured of a sentence: by hand, and whatever stands beside its document."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.search.features import FEATURES, features
from milepost.search.fusion import Fusion, fuse
from milepost.search.scope import Scope
from milepost.store import Store
from support.search_stores import empty_store, gathered, put, stored

NAMES = list(FEATURES)
TEXT = ["Bees build wax cells. ", "They live there.\n\n", "The queen lays eggs. ", "In wax.\n"]


def measured(store: Store, terms: list[str], seed: int = 1) -> tuple[Scope, np.ndarray]:
    scope = gathered(store, terms, seed)
    fused = fuse(scope, 1.0, Fusion())
    return scope, features(scope, fused, np.arange(len(scope.spans)))


def column(table: np.ndarray, name: str) -> list[float]:
    return [round(float(value), 4) for value in table[:, NAMES.index(name)]]


def test_by_hand() -> None:
    scope, table = measured(stored(d=TEXT), ["wax", "queen", "unheard"])
    wax, queen = scope.idf["wax"], scope.idf["queen"]
    share = round(wax / (wax + queen), 4)
    assert queen > wax > 0.0 == scope.idf["unheard"]
    assert column(table, "covered") == [share, 0.0, round(1 - share, 4), share]
    assert column(table, "covered ±1") == [share, 1.0, 1.0, 1.0]
    assert column(table, "rarest word") == [0.0, 0.0, 1.0, 0.0]
    assert column(table, "covered in paragraph") == [share, share, 1.0, 1.0]
    assert column(table, "place in paragraph") == [0.0, 1.0, 0.0, 1.0]
    assert column(table, "left of paragraph") == [1.0, 0.0, 1.0, 0.0]
    assert column(table, "paragraph length") == [2.0] * 4
    assert column(table, "length") == [round(math.log(len(text)), 4) for text in TEXT]
    fused = column(table, "fused")
    assert column(table, "before") == [min(fused), *fused[:-1]]
    assert column(table, "two after") == [*fused[2:], min(fused), min(fused)]
    assert column(table, "paragraph best") == [max(fused[:2])] * 2 + [max(fused[2:])] * 2
    assert column(table, "around 25") == pytest.approx([np.mean(fused)] * 4, abs=1e-3)
    order = [math.log1p(sorted(fused, reverse=True).index(value)) for value in fused]
    assert column(table, "fused rank") == pytest.approx(order, abs=1e-4)


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=4),
    st.lists(st.sampled_from(["wax", "p1", "unheard"]), max_size=3, unique=True),
    st.integers(0, 9),
)
def test_every_column_is_finite_and_rows_are_apart(
    sizes: list[int], terms: list[str], seed: int
) -> None:
    store = empty_store()
    for number, size in enumerate(sizes):
        put(store, f"d{number}", [f"p{n} wax.{' ' if n % 2 else chr(10) * 2}" for n in range(size)])
    scope, table = measured(store, terms, seed)
    assert table.shape == (sum(sizes), len(FEATURES))
    assert table.dtype == np.float32
    assert np.isfinite(table).all()
    some = np.arange(0, sum(sizes), 2)
    part = features(scope, fuse(scope, 1.0, Fusion()), some)
    np.testing.assert_array_equal(part, table[some])


def test_documents_as_a_whole() -> None:
    scope, table = measured(stored(a=TEXT[:3], b=TEXT[3:]), ["wax", "queen"])
    lone, fused = column(table, "landmark"), column(table, "fused")
    means = [float(np.mean(lone[:3]))] * 3 + lone[3:]
    assert column(table, "document landmark") == pytest.approx(means, abs=1e-3)
    gaps = [value - max(means) for value in means]
    assert column(table, "document landmark gap") == pytest.approx(gaps, abs=1e-3)
    best = [max(fused[:3])] * 3 + fused[3:]
    gaps = [value - max(fused) for value in best]
    assert column(table, "document best gap") == pytest.approx(gaps, abs=1e-3)
    below = [value - top for value, top in zip(fused, best, strict=True)]
    assert column(table, "below document best") == pytest.approx(below, abs=1e-3)
    share = scope.idf["wax"] / sum(scope.idf.values())
    assert column(table, "document covered") == pytest.approx([1.0] * 3 + [share], abs=1e-4)
    assert column(table, "document covered gap")[3] == pytest.approx(share - 1, abs=1e-4)
    assert column(table, "document share of best") == [0.75] * 3 + [0.25]
    assert column(table, "document length") == [round(math.log(3), 4)] * 3 + [0.0]
    length = float(np.mean([math.log(len(text)) for text in TEXT[:3]]))
    assert column(table, "document sentence length")[0] == pytest.approx(length, abs=1e-4)
    assert column(table, "documents") == [round(math.log(2), 4)] * 4


def test_neighbours_end_where_their_document_does() -> None:
    _, table = measured(stored(a=TEXT[:2], b=TEXT[2:]), ["wax"])
    fused = column(table, "fused")
    lowest = min(fused)
    assert column(table, "before") == [lowest, fused[0], lowest, fused[2]]
    assert column(table, "after") == [fused[1], lowest, fused[3], lowest]
    assert column(table, "place in paragraph") == [0.0, 1.0, 0.0, 1.0]
    means = [round(float(np.mean(fused[:2])), 3)] * 2 + [round(float(np.mean(fused[2:])), 3)] * 2
    assert column(table, "around 12") == pytest.approx(means, abs=1e-3)


@given(st.integers(0, 100))
@settings(max_examples=20)
def test_a_single_document_is_exactly_the_mean(seed: int) -> None:
    """The rounding of a mean is no measure of a sentence, and differs between machines."""
    _, table = measured(stored(one=TEXT), ["wax"], seed)
    assert not table[:, NAMES.index("document landmark")].any()


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


def test_settings_from_a_manifest() -> None:
    fields = {"gate": {"always": 1.0}, "landmark": [[0, 1], [2, 3], [4, 5]], "fitted": "today"}
    fusion = Fusion.from_fields(fields)
    assert fusion.landmark == ((0, 1), (2, 3), (4, 5))
    assert fusion.words == Fusion().words
    assert fusion.gate == {"always": 1.0}
    assert Fusion.from_fields({}) == Fusion()
