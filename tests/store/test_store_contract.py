"""The contract of ``milepost.store.base``, over every store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import StoreError
from milepost.store import Statistics, Store
from milepost.types import Mark
from support.store_entries import WIDTH, entry, holds, numbered, opened, rows, unit

AWKWARD = [
    "a", "A", "don't", "x.y", "東京", "京都", "ab_cd", "42", '"', "*", "NEAR", "OR", "+-", "é", "É",
    "ß", "\x00", "\ue000", "\U0010fffd", "\U0010ffff", "𝒳", "مرحبا", "ไทย", "(", "a" * 500,
    "a" * 501, "a" * 40_000, "a" * 40_001, "ﬁ", "e\u0301", "\u200b",
]  # fmt: skip


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Make an empty store of each kind."""
    made = opened(None if request.param == "memory" else tmp_path / "index")
    yield made
    made.close()


def test_empty_store_answers(store: Store) -> None:
    """A store without documents gives empty answers and no errors."""
    assert store.documents() == []
    assert store.info("x") is None
    assert store.delete("x") is False
    assert store.statistics() == Statistics(0, 0, 0)
    nearest, scores = store.nearest(unit(127, *[0] * 7), 5)
    assert (nearest.dtype, scores.dtype, len(nearest), len(scores)) == (np.int64, np.float32, 0, 0)
    assert store.matching(["a"], 5).tolist() == []
    assert [part.tolist() for part in store.postings(["a"])["a"]] == [[], []]
    for ask in (store.document, store.sentences, store.marks, lambda x: store.text(x, 0, 1)):
        with pytest.raises(KeyError):
            ask("x")


def test_everything_comes_back(store: Store) -> None:
    """What is put is read back equal: text, marks, notes, source, spans, vectors, terms."""
    given = entry(
        "/tmp/名.pdf",
        ["One. ", "Two two. ", "", "𝒳 and \x00. "],
        seed=4,
        source="/tmp/名.pdf",
        hash="ff",
        notes=("page 3 has no text",),
        marks=(Mark(0, "page", "1"), Mark(5, "heading", "Two", 2)),
    )
    store.put(given)
    holds(store, given)
    assert store.marks("/tmp/名.pdf") == given.document.marks
    info = store.info("/tmp/名.pdf")
    assert info is not None
    assert store.documents() == [info]
    assert (info.source, info.hash, info.notes) == ("/tmp/名.pdf", "ff", ("page 3 has no text",))
    assert (info.signature, info.sentences, info.first) == ((4, 10**18 + 4), 4, 0)
    assert info.characters == len(given.document.text)
    assert store.statistics() == Statistics(1, 4, 6)


def test_text_slices_across_pieces(store: Store) -> None:
    """A slice of a long text equals the slice of the string, at every kind of border."""
    text = "".join(chr(0x4E00 + i % 5000) for i in range(50_000))
    store.put(entry("long", [text]))
    for at in [(0, 0), (0, 5), (16_383, 16_385), (16_384, 32_768), (10, 49_999), (49_990, 60_000),
               (-5, 50_000), (7, 3), (60_000, 70_000)]:  # fmt: skip
        assert store.text("long", *at) == text[slice(*at)]


def test_document_without_sentences(store: Store) -> None:
    """An empty text is a document like any other and stands in its place among them."""
    for name, words in (("a", ["x "]), ("empty", []), ("b", ["x "]), ("blank", [])):
        store.put(entry(name, words))
    assert [info.name for info in store.documents()] == ["a", "empty", "b", "blank"]
    kept = store.sentences("empty")
    assert (kept.spans.shape, len(kept.lengths), len(kept.vocab_coverage)) == ((0, 2), 0, 0)
    assert store.document("empty").text == ""
    assert store.nearest(unit(*[127] * 8), 5, ["empty"])[0].tolist() == []
    assert store.matching(["x"], 5, ["empty", "b"]).tolist() == [1]
    assert store.delete("empty")
    assert [info.name for info in store.documents()] == ["a", "b", "blank"]


def test_replacement_takes_new_rows(store: Store) -> None:
    """A document put again has new rows, and nothing of the old one is found."""
    store.put(entry("a", ["old word "], seed=1))
    store.put(entry("b", ["word "], seed=2))
    store.put(entry("a", ["new word ", "word "], seed=3))
    assert [(info.name, info.first) for info in store.documents()] == [("b", 1), ("a", 2)]
    assert store.postings(["old"])["old"][0].tolist() == []
    assert store.postings(["word"])["word"][0].tolist() == [1, 2, 3]
    assert sorted(store.nearest(rows(1, 1)[0], 9)[0].tolist()) == [1, 2, 3]
    assert store.statistics() == Statistics(2, 3, 4, dead=1)


def test_ties_go_to_the_lower_row(store: Store) -> None:
    """Equal vectors score equal wherever they stand, and come in order of their rows."""
    same = np.repeat(unit(127, 5, -3, 9, 0, 1, 77, 31)[None], 700, axis=0)
    store.put(entry("other", ["o "] * 5, vectors=rows(5, 9)))
    store.put(entry("a", ["s "] * 700, vectors=same))
    store.put(entry("b", ["s "] * 3, vectors=same[:3]))
    found, scores = store.nearest(same[0], 702)
    assert found.tolist() == list(range(5, 707))
    assert len(set(scores.tolist())) == 1
    assert store.nearest(same[0], 3, ["b", "a"])[0].tolist() == [5, 6, 7]
    assert store.nearest(same[0], 3, ["b", "other"])[0].tolist() == [705, 706, 707]
    assert store.matching(["s"], 4).tolist() == [5, 6, 7, 8]


def test_names_limit_the_search(store: Store) -> None:
    """Only rows of the named documents answer; unknown names and repeats do no harm."""
    for number in range(6):
        store.put(entry(f"d{number}", ["word common ", f"only{number} common "], seed=number))
    names = ["d4", "d1", "nobody", "d4"]
    query = rows(1, 99)[0]
    assert sorted(store.nearest(query, 50, names)[0].tolist()) == [2, 3, 8, 9]
    assert sorted(store.matching(["common"], 50, names).tolist()) == [2, 3, 8, 9]
    assert len(store.matching(["common"], 3, names)) == 3
    assert store.nearest(query, 50, [])[0].tolist() == []
    assert store.matching(["common"], 50, []).tolist() == []
    assert store.matching(["common"], 50, ["d1", "d2", "d3"]).tolist() == [2, 3, 4, 5, 6, 7]
    assert store.nearest(query, 0)[0].tolist() == []
    assert store.matching(["common"], 0).tolist() == []


def test_matching_by_hand(store: Store) -> None:
    """BM25 with k1 1.2 and b 0.75: a rare word before a common one, short before long."""
    store.put(entry("d", ["rare x x x ", "rare ", "x ", "y ", "y z ", "z ", "z ", "z "]))
    assert store.matching(["rare"], 9).tolist() == [1, 0]
    assert store.matching(["rare", "z"], 9).tolist() == [1, 0, 5, 6, 7, 4]
    assert store.matching(["z", "z", "rare"], 2).tolist() == [1, 0]
    assert store.matching([], 9).tolist() == []
    assert store.matching(["nowhere"], 9).tolist() == []


@pytest.mark.parametrize("term", AWKWARD, ids=lambda term: f"{term[:9]!a}x{len(term)}")
def test_terms_are_kept_exactly(store: Store, term: str) -> None:
    """Any term without white space is found as itself, and as nothing else."""
    others = [other for other in AWKWARD if other != term]
    store.put(entry("d", ["1", "2", "3"], terms=[others, [term, "b", term], [*others, term]]))
    held, counts = store.postings([term])[term]
    assert (held.tolist(), counts.tolist()) == ([1, 2], [2, 1])
    assert sorted(store.matching([term], 9).tolist()) == [1, 2]
    store.delete("d")
    assert store.postings([term])[term][0].tolist() == []


def test_many_terms_in_one_question(store: Store) -> None:
    """A question of a thousand terms is answered like a short one."""
    store.put(entry("d", [f"t{number} " for number in range(1000)]))
    assert len(store.matching([f"t{number}" for number in range(1000)], 2000)) == 1000


def test_strings_that_are_no_unicode(store: Store) -> None:
    """A file name that is no UTF-8 and a text with lone surrogates are kept as they are."""
    name = os.fsdecode(b"/tmp/\xff.txt")
    given = entry(name, ["lone \ud800 ", "end "], source=name, hash="\udcff")
    store.put(given)
    holds(store, given)
    assert [info.name for info in store.documents()] == [name]
    assert store.matching(["\ud800"], 5, [name]).tolist() == [0]
    assert store.delete(name)


def test_rows_outlive_their_document_until_vacuum(store: Store) -> None:
    """Rows of a document deleted since can still be used; after vacuum the reader is told."""
    store.put(entry("a", ["1 ", "2 "], seed=1))
    store.put(entry("b", ["3 "], seed=2))
    store.delete("a")
    query = rows(1, 5)[0]
    assert np.allclose(
        store.similarity(query, 0, 3), [*(rows(2, 1) @ query), rows(1, 2)[0] @ query]
    )
    assert store.statistics().dead == 2
    store.vacuum()
    assert store.statistics().dead == 0
    with pytest.raises(StoreError, match="rows 0"):
        store.similarity(query, 0, 3)
    assert np.allclose(store.vectors(2, 1), rows(1, 2), atol=1e-6)
    assert store.nearest(query, 5)[0].tolist() == [2]
    store.put(entry("c", ["4 "], seed=3))
    assert store.sentences("c").first == 3
    assert store.vectors(2, 0).shape == (0, WIDTH)
    with pytest.raises(StoreError):
        store.vectors(2, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vectors": rows(2, 0, WIDTH + 1)}, "vectors"),
        ({"vectors": rows(3, 0)}, "vectors"),
        ({"vectors": np.full((2, WIDTH), np.nan, np.float32)}, "finite"),
        ({"terms": [["a"]]}, "terms"),
        ({"terms": [["a b"], []]}, "white space"),
        ({"terms": [[""], []]}, "white space"),
        ({"terms": [["a\u3000"], []]}, "white space"),
    ],
)
def test_entries_that_do_not_fit_are_refused(
    store: Store, change: dict[str, object], message: str
) -> None:
    """An entry whose parts contradict each other changes nothing."""
    store.put(numbered(0))
    with pytest.raises(ValueError, match=message):
        store.put(entry("document 0", ["a ", "b "], **change))
    holds(store, numbered(0))


def test_spans_must_tile(store: Store) -> None:
    """Spans with a hole are refused, since the store keeps document_offsets only."""
    good = entry("d", ["a ", "b "])
    good.spans[1, 0] = 3
    with pytest.raises(ValueError, match="tile"):
        store.put(good)


@pytest.mark.parametrize("query", [np.zeros(3, np.float32), np.full(WIDTH, np.inf, np.float32)])
def test_questions_that_do_not_fit_are_refused(store: Store, query: np.ndarray) -> None:
    """A vector of another width, or without finite values, is an error and not an answer."""
    store.put(numbered(0))
    with pytest.raises(ValueError):
        store.nearest(query, 3)
    with pytest.raises(ValueError):
        store.similarity(query, 0, 1)


TERMS = st.one_of(
    st.sampled_from(AWKWARD[:27]),
    st.sampled_from(["u", "v", "w"]),
    st.text(min_size=1, max_size=3).filter(lambda term: term.split() == [term]),
)
SENTENCE = st.tuples(st.text(max_size=5), st.lists(TERMS, max_size=6))
CHANGE = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.one_of(st.none(), st.just("vacuum"), st.lists(SENTENCE, max_size=6)),
)


@given(changes=st.lists(CHANGE, max_size=8), seed=st.integers(0, 50), wanted=st.lists(TERMS))
@settings(max_examples=40, deadline=None)
def test_both_stores_answer_alike(
    changes: list[tuple[str, object]], seed: int, wanted: list[str]
) -> None:
    """After any changes the durable store answers as the plain one does, also when reopened."""
    with TemporaryDirectory() as folder:
        plain, durable = opened(None), opened(Path(folder))
        for number, (name, change) in enumerate(changes):
            for each in (plain, durable):
                if change is None:
                    each.delete(name)
                elif change == "vacuum":
                    each.vacuum()
                else:
                    texts, terms = [text for text, _ in change], [terms for _, terms in change]
                    each.put(entry(name, texts, terms=terms, seed=seed + number % 3))
        if seed % 2:
            durable.close()
            durable = opened(Path(folder), read_only=True)
        _agree(plain, durable, rows(1, seed + 100)[0], [*wanted, "u", "v", "w", "a"])
        durable.close()


def _agree(plain: Store, durable: Store, query: np.ndarray, terms: list[str]) -> None:
    assert durable.documents() == plain.documents()
    assert durable.statistics() == plain.statistics()
    for info in plain.documents():
        assert durable.info(info.name) == info
        assert durable.document(info.name) == plain.document(info.name)
        ours, theirs = durable.sentences(info.name), plain.sentences(info.name)
        assert (ours.first, ours.spans.tolist()) == (theirs.first, theirs.spans.tolist())
        assert ours.lengths.tolist() == theirs.lengths.tolist()
        run = info.first, info.sentences
        assert np.abs(durable.vectors(*run) - plain.vectors(*run)).max(initial=0) < 1e-6
        off = durable.similarity(query, *run) - plain.similarity(query, *run)
        assert np.abs(off).max(initial=0) < 1e-6
    for names in (None, ["a"], ["c", "a", "nobody"]):
        for n in (1, 3, 100):
            found, scores = durable.nearest(query, n, names)
            due, due_scores = plain.nearest(query, n, names)
            # Rows whose scores differ by less than float32 can tell may change places.
            assert np.abs(scores - due_scores).max(initial=0) < 1e-6
            if len(np.unique(np.round(due_scores, 5))) == len(due_scores) and n == 100:
                assert found.tolist() == due.tolist()
            assert (
                durable.matching(terms, n, names).tolist()
                == plain.matching(terms, n, names).tolist()
            )
    ours, theirs = durable.postings(terms), plain.postings(terms)
    assert ours.keys() == theirs.keys()
    for term, (held, counts) in theirs.items():
        assert ours[term][0].tolist() == held.tolist()
        assert ours[term][1].tolist() == counts.tolist()
        assert (ours[term][0].dtype, ours[term][1].dtype) == (np.int64, np.int32)
