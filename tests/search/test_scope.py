"""Which sentences are looked at, and that what is measured on them is right."""

from __future__ import annotations

import numpy as np
import pytest

from milepost.errors import StoreError
from milepost.search import question_terms
from milepost.search import scope as room
from milepost.search.scope import Moved, gather
from milepost.search.searcher import search
from milepost.store.memory import MemoryStore
from support.search_stores import empty_store, filled, put, unit


def test_everything_small_is_looked_at() -> None:
    """All sentences of all documents, in order, each with its own similarity and words."""
    store = filled(3, 5)
    scope = gather(store, unit(1), ["p1x2", "common", "nowhere"])
    assert [info.name for info in scope.documents] == ["d0", "d1", "d2"]
    assert scope.document_offsets.tolist() == [0, 5, 10, 15]
    assert scope.similarity.shape == scope.vocab_coverage.shape == (15,)
    np.testing.assert_allclose(scope.similarity, store.vectors(0, 15) @ unit(1), atol=1e-6)
    assert int(scope.lexical[0].argmax()) == 7
    assert scope.idf["p1x2"] > scope.idf["common"] > scope.idf["nowhere"] == 0.0
    assert [scope.owner(n) for n in (0, 4, 5, 14)] == [0, 0, 1, 2]


def test_names_filter() -> None:
    """Only the documents named are looked at; rarity is still that of the whole index."""
    store = filled(4, 5)
    words = ["p2x1", "common"]
    some = gather(store, unit(1), words, ["d2", "d0", "unknown"])
    assert [info.name for info in some.documents] == ["d0", "d2"]
    assert some.document_offsets.tolist() == [0, 5, 10]
    assert some.idf == gather(store, unit(1), words).idf
    assert int(some.lexical[0].argmax()) == 6
    assert not len(gather(store, unit(1), words, []).spans)


def test_deleted_documents_are_gone() -> None:
    """Rows of removed and replaced documents are neither looked at nor counted."""
    store = filled(3, 5)
    store.delete("d0")
    put(store, "d1", ["All is new here. ", "Nothing of it is old. "])
    scope = gather(store, unit(1), ["p0x1", "p1x1", "p2x1", "new"])
    assert [info.name for info in scope.documents] == ["d2", "d1"]
    assert scope.document_offsets.tolist() == [0, 5, 7]
    assert scope.idf["p0x1"] == scope.idf["p1x1"] == 0.0
    assert int((scope.lexical[0] > 0).sum()) == 2


def test_empty_documents_are_passed_over() -> None:
    """A document without sentences does not shift its neighbours' rows."""
    store = empty_store()
    put(store, "a", ["One word. "])
    store.put(room_entry())
    put(store, "b", ["Two words. "])
    scope = gather(store, unit(1), ["two"])
    assert [info.name for info in scope.documents] == ["a", "b"]
    assert (scope.lexical[0] > 0).tolist() == [False, True]


def room_entry() -> object:
    """An entry without text."""
    from milepost.store import Entry
    from milepost.types import Document

    nothing = np.zeros((0, 8), np.float32)
    return Entry(Document("empty", ""), np.zeros((0, 2), np.int64), nothing, nothing[:, 0], [])


def test_nothing_indexed() -> None:
    """An empty store gives an empty scope."""
    scope = gather(empty_store(), unit(1), ["word"])
    assert len(scope.spans) == 0
    assert scope.idf == {"word": 0.0}


@pytest.mark.parametrize("limit", [1, 12, 30])
def test_candidates_find_what_everything_finds(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Beyond the limit only documents with candidates are read; the best passage is the same."""
    store = filled(6, 12)
    for number, place in ((4, 3), (0, 0), (5, 11)):
        question = question_terms(f"p{number}x{place}")
        vector = store.vectors(number * 12 + place, 1)[0]
        wanted = search(store, vector, question, k=1).passages[0]
        with monkeypatch.context() as patch:
            patch.setattr(room, "EVERYTHING", limit)
            scope = gather(store, vector, question)
            got = search(store, vector, question, k=1).passages[0]
        assert len(scope.spans) < limit + 12
        assert (got.document, got.hits[0].start) == (wanted.document, wanted.hits[0].start)


def test_a_document_over_the_limit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One too large is looked at as well, also when a small one holds the first candidate."""
    monkeypatch.setattr(room, "EVERYTHING", 20)
    store = filled(1, 5)
    put(store, "large", [f"Large text at number n{n}. " for n in range(50)])
    scope = gather(store, store.vectors(0, 1)[0], ["n30"])
    assert [info.name for info in scope.documents] == ["d0", "large"]
    assert int(scope.lexical[0].argmax()) == 5 + 30


def test_candidates_within_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit, too, no document is looked at that was not named."""
    monkeypatch.setattr(room, "EVERYTHING", 1)
    store = filled(5, 6)
    scope = gather(store, unit(3), ["common"], ["d3", "d1"])
    assert {info.name for info in scope.documents} <= {"d1", "d3"}
    assert len(scope.spans) > 0


class Shifting(MemoryStore):
    """A store in which a writer replaces or removes documents between two reads."""

    def __init__(self, moves: list[str]) -> None:
        super().__init__("f", 8)
        self.moves = moves

    def sentences(self, name: str) -> object:
        """Let the writer act first."""
        if self.moves:
            move, _, victim = self.moves.pop().partition(" ")
            if move == "delete":
                self.delete(victim)
            else:
                put(self, victim, ["Quite another text. "])
        return super().sentences(name)


@pytest.mark.parametrize("move", ["delete a", "replace b"])
def test_a_writer_beside_a_search(move: str) -> None:
    """A search whose documents change under it begins anew and answers from one state."""
    store = Shifting([])
    for name in "abc":
        put(store, name, [f"Some text of {name}. ", f"More words of {name}. "])
    store.moves = [move]
    with pytest.raises(Moved):
        gather(store, unit(1), ["more"])
    store.moves = ["replace b", "delete a"]
    answer = search(store, unit(1), ["more"], k=9)
    assert {passage.document for passage in answer.passages} <= {"b", "c"}
    for passage in answer.passages:
        assert passage.text == store.text(passage.document, passage.start, passage.end)


class Vacuumed(MemoryStore):
    """A store where a document is replaced and its old rows are dropped in the midst of a search.

    Like another process that writes; ``lost`` leaves the document as it is and loses its rows.
    """

    lost = False
    done = False

    def similarity(self, vector: np.ndarray, first: int, count: int) -> np.ndarray:
        """Replace the document once, before its rows are asked for."""
        if self.lost:
            raise StoreError("rows are not in the index")
        if not self.done:
            self.done = True
            put(self, "a", ["Other words. ", "More of them. "])
            self.vacuum()
        return super().similarity(vector, first, count)


def test_rows_that_a_vacuum_drops_are_asked_for_anew() -> None:
    """A search beside a writer that vacuums begins anew; a store that lost rows is an error."""
    store = Vacuumed("f", 8)
    put(store, "a", ["Some text. ", "More words. ", "The end. "])
    assert search(store, unit(1), ["more"], k=9).passages[0].document == "a"
    assert store.done
    store.lost = True
    with pytest.raises(StoreError, match="rows are not"):
        search(store, unit(1), ["more"])
