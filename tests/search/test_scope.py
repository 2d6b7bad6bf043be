"""Which sentences are scored, and that what is measured on them is right."""

import numpy as np
import pytest

from milepost.search import scope as room
from milepost.store import Entry
from milepost.terms import question_terms
from milepost.types import Document
from support.search_stores import empty_store, filled, gathered, put, searched, unit
from support.store_reads import reads


def test_everything_small_is_looked_at() -> None:
    store = filled(3, 5)
    scope = gathered(store, ["p1x2", "common", "nowhere"])
    assert [info.name for info in scope.documents] == ["d0", "d1", "d2"]
    assert scope.document_offsets.tolist() == [0, 5, 10, 15]
    assert scope.similarity.shape == scope.vocab_coverage.shape == (15,)
    vectors = reads(store).vectors("d0", "d1", "d2")
    np.testing.assert_allclose(scope.similarity, vectors @ unit(1), atol=1e-6)
    assert int(scope.lexical[0].argmax()) == 7
    assert scope.idf["p1x2"] > scope.idf["common"] > scope.idf["nowhere"] == 0.0
    assert [scope.owner(n) for n in (0, 4, 5, 14)] == [0, 0, 1, 2]
    assert np.flatnonzero(scope.paragraph_starts).tolist() == [0, 5, 10]


def test_a_part_is_a_slice_of_its_document() -> None:
    store = filled(3, 5)
    scope = gathered(store, ["common"])
    info, start, end = scope.part(6, 8)
    assert info.name == "d1"
    sentence = "Common word in document d1 at place p1x{}. "
    assert reads(store).text("d1", start, end) == sentence.format(1) + sentence.format(2)


def test_names_filter() -> None:
    store = filled(4, 5)
    words = ["p2x1", "common"]
    some = gathered(store, words, names=["d2", "d0", "unknown"])
    assert [info.name for info in some.documents] == ["d0", "d2"]
    assert some.document_offsets.tolist() == [0, 5, 10]
    assert some.idf == gathered(store, words).idf
    assert int(some.lexical[0].argmax()) == 6
    assert not len(gathered(store, words, names=[]).spans)


def test_deleted_documents_are_gone() -> None:
    store = filled(3, 5)
    store.delete("d0")
    put(store, "d1", ["All is new here. ", "Nothing of it is old. "])
    scope = gathered(store, ["p0x1", "p1x1", "p2x1", "new"])
    assert [info.name for info in scope.documents] == ["d2", "d1"]
    assert scope.document_offsets.tolist() == [0, 5, 7]
    assert scope.idf["p0x1"] == scope.idf["p1x1"] == 0.0
    assert int((scope.lexical[0] > 0).sum()) == 2


def test_empty_documents_are_passed_over() -> None:
    store = empty_store()
    put(store, "a", ["One word. "])
    none = np.zeros((0, 8), np.float32)
    store.put(
        Entry(
            Document("empty", ""),
            spans=np.zeros((0, 2), np.int64),
            vectors=none,
            vocab_coverage=none[:, 0],
            paragraph_starts=np.zeros(0, np.bool_),
            terms=[],
        )
    )
    put(store, "b", ["Two words. "])
    scope = gathered(store, ["two"])
    assert [info.name for info in scope.documents] == ["a", "b"]
    assert (scope.lexical[0] > 0).tolist() == [False, True]


def test_nothing_indexed() -> None:
    scope = gathered(empty_store(), ["word"])
    assert len(scope.spans) == 0
    assert scope.idf == {"word": 0.0}


@pytest.mark.parametrize("limit", [1, 12, 30])
def test_candidates_find_what_everything_finds(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    store = filled(6, 12)
    for number, place in ((4, 3), (0, 0), (5, 11)):
        words = question_terms(f"p{number}x{place}")
        vector = reads(store).vectors(f"d{number}")[place]
        wanted = searched(store, words, vector=vector, k=1).passages[0]
        with monkeypatch.context() as patch:
            patch.setattr(room, "EVERYTHING", limit)
            scope = gathered(store, words, vector=vector)
            got = searched(store, words, vector=vector, k=1).passages[0]
        assert len(scope.spans) < limit + 12
        assert (got.document, got.hits[0].start) == (wanted.document, wanted.hits[0].start)


def test_a_document_over_the_limit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "EVERYTHING", 20)
    store = filled(1, 5)
    put(store, "large", [f"Large text at number n{n}. " for n in range(50)])
    scope = gathered(store, ["n30"], vector=reads(store).vectors("d0")[0])
    assert [info.name for info in scope.documents] == ["d0", "large"]
    assert int(scope.lexical[0].argmax()) == 5 + 30


def test_candidates_within_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "EVERYTHING", 1)
    scope = gathered(filled(5, 6), ["common"], 3, names=["d3", "d1"])
    assert {info.name for info in scope.documents} <= {"d1", "d3"}
    assert len(scope.spans) > 0
