"""The contract of ``milepost.store.base``, over every store."""

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.store import DocumentSelection, Statistics, Store
from milepost.types import Mark
from support.store_entries import WIDTH, entry, holds, numbered, opened, rows, unit
from support.store_reads import NOBODY, all_of, matching, nearest, reads, similarity, touch

AWKWARD = [
    "a", "A", "don't", "x.y", "東京", "京都", "ab_cd", "42", '"', "*", "NEAR", "OR", "+-", "é", "É",
    "ß", "\x00", "\ue000", "\U0010fffd", "\U0010ffff", "𝒳", "مرحبا", "ไทย", "(", "a" * 500,
    "a" * 501, "a" * 40_000, "a" * 40_001, "ﬁ", "e\u0301", "\u200b",
]  # fmt: skip


def test_empty_store_answers(store: Store) -> None:
    query = unit(127, *[0] * 7)
    assert store.delete("x") is False
    assert store.touch(NOBODY) is False
    store.vacuum()
    with store.snapshot() as state:
        assert state.documents() == []
        assert state.info("x") is None
        assert state.statistics() == Statistics(0, 0, 0)
        for among in (None, []):
            found, scores = nearest(state, query, 5, among)
            assert (found.dtype, scores.dtype) == (np.int64, np.float32)
            assert (len(found), len(scores)) == (0, 0)
            assert matching(state, ["a"], 5, among).tolist() == []
        assert [part.tolist() for part in state.postings(["a"])["a"]] == [[], []]
        assert state.postings([]) == {}
        none = state.sentences([])
        assert none.document_offsets.tolist() == [0]
        assert (none.spans.shape, none.spans.dtype) == ((0, 2), np.int64)
        kept = none.lengths, none.vocab_coverage, none.paragraph_starts
        assert [(each.shape, each.dtype) for each in kept] == [
            ((0,), np.int32),
            ((0,), np.float32),
            ((0,), np.bool_),
        ]
        assert state.vectors([]).shape == (0, WIDTH)
        assert similarity(state, query, []).shape == (0,)
        assert state.texts([]) == state.marks([]) == []


def test_everything_comes_back(store: Store) -> None:
    given = entry(
        "/tmp/名.pdf",
        ["One. ", "Two two. ", "", "𝒳 and \x00. "],
        starts=[True, False, True, True],
        seed=4,
        source="/tmp/名.pdf",
        hash="ff",
        notes=("page 3 has no text",),
        properties={"title": '名 "x"', "year": 2020, "draft": False, "tags": ["a", "b"]},
        marks=(Mark(0, "page", "1"), Mark(5, "heading", "Two", 2)),
    )
    store.put(given)
    holds(store, given)
    assert reads(store).marks("/tmp/名.pdf") == given.document.marks
    info = reads(store).info("/tmp/名.pdf")
    assert reads(store).documents() == [info]
    assert (info.source, info.hash, info.notes) == ("/tmp/名.pdf", "ff", ("page 3 has no text",))
    assert (info.signature, info.sentences, info.first) == ((4, 10**18 + 4), 4, 0)
    assert info.properties == {
        "title": '名 "x"',
        "year": 2020.0,
        "draft": False,
        "tags": ("a", "b"),
    }
    assert info.characters == len(given.document.text)
    assert reads(store).statistics() == Statistics(1, 4, 6)


def test_text_slices_across_pieces(store: Store) -> None:
    text = "".join(chr(0x4E00 + i % 5000) for i in range(50_000))
    store.put(entry("long", [text]))
    for at in [(0, 0), (0, 5), (16_383, 16_385), (16_384, 32_768), (10, 49_999), (49_990, 60_000),
               (-5, 50_000), (7, 3), (60_000, 70_000)]:  # fmt: skip
        assert reads(store).text("long", *at) == text[slice(*at)]


def test_many_documents_are_read_at_once(store: Store) -> None:
    given = [numbered(number) for number in range(3)]
    for each in given:
        store.put(each)
    with store.snapshot() as state:
        one, _, three = state.documents()
        asked = [three, one, one]
        assert state.marks(asked) == [given[n].document.marks for n in (2, 0, 0)]
        texts = state.texts([(info, 3, 9) for info in asked])
        assert texts == [given[n].document.text[3:9] for n in (2, 0, 0)]
        kept = state.sentences([one, three])
        assert kept.document_offsets.tolist() == [0, 30, 60]
        assert kept.spans.tolist() == [*given[0].spans.tolist(), *given[2].spans.tolist()]
        vectors = np.concatenate([given[0].vectors, given[2].vectors])
        assert np.abs(state.vectors([one, three]) - vectors).max() < 1e-6


def test_document_without_sentences(store: Store) -> None:
    for name, words in (("a", ["x "]), ("empty", []), ("b", ["x "]), ("blank", [])):
        store.put(entry(name, words))
    read = reads(store)
    assert [info.name for info in read.documents()] == ["a", "empty", "b", "blank"]
    kept = read.sentences("empty")
    assert (kept.spans.shape, len(kept.lengths), len(kept.vocab_coverage)) == ((0, 2), 0, 0)
    assert (kept.document_offsets.tolist(), len(kept.paragraph_starts)) == ([0, 0], 0)
    assert read.document("empty").text == ""
    assert read.nearest(unit(*[127] * 8), 5, ["empty"])[0].tolist() == []
    assert read.matching(["x"], 5, ["empty"]).tolist() == []
    assert read.matching(["x"], 5, ["empty", "b"]).tolist() == [1]
    assert store.delete("empty")
    assert [info.name for info in read.documents()] == ["a", "b", "blank"]


def test_replacement_takes_new_rows(store: Store) -> None:
    store.put(entry("a", ["old word "], seed=1))
    store.put(entry("b", ["word "], seed=2))
    store.put(entry("a", ["new word ", "word "], seed=3))
    read = reads(store)
    assert [(info.name, info.first) for info in read.documents()] == [("b", 1), ("a", 2)]
    assert len({info.id for info in read.documents()}) == 2
    assert read.postings(["old"])["old"][0].tolist() == []
    assert read.postings(["word"])["word"][0].tolist() == [1, 2, 3]
    assert sorted(read.nearest(rows(1, 1)[0], 9)[0].tolist()) == [1, 2, 3]
    assert read.statistics() == Statistics(2, 3, 4, dead=1)


def test_ties_go_to_the_lower_row(store: Store) -> None:
    same = np.repeat(unit(127, 5, -3, 9, 0, 1, 77, 31)[None], 700, axis=0)
    store.put(entry("other", ["o "] * 5, vectors=rows(5, 9)))
    store.put(entry("a", ["s "] * 700, vectors=same))
    store.put(entry("b", ["s "] * 3, vectors=same[:3]))
    read = reads(store)
    found, scores = read.nearest(same[0], 702)
    assert found.tolist() == list(range(5, 707))
    assert len(set(scores.tolist())) == 1
    assert read.nearest(same[0], 3, ["b", "a"])[0].tolist() == [5, 6, 7]
    assert read.nearest(same[0], 3, ["b", "other"])[0].tolist() == [705, 706, 707]
    assert read.matching(["s"], 4).tolist() == [5, 6, 7, 8]


def test_names_limit_the_search(store: Store) -> None:
    for number in range(6):
        store.put(entry(f"d{number}", ["word common ", f"only{number} common "], seed=number))
    read, names, query = reads(store), ["d4", "d1"], rows(1, 99)[0]
    assert sorted(read.nearest(query, 50, names)[0].tolist()) == [2, 3, 8, 9]
    assert sorted(read.matching(["common"], 50, names).tolist()) == [2, 3, 8, 9]
    assert len(read.matching(["common"], 3, names)) == 3
    assert read.nearest(query, 50, [])[0].tolist() == []
    assert read.matching(["common"], 50, []).tolist() == []
    assert read.matching(["common"], 50, ["d1", "d2", "d3"]).tolist() == [2, 3, 4, 5, 6, 7]
    assert read.nearest(query, 0)[0].tolist() == []
    assert read.matching(["common"], 0).tolist() == []
    with store.snapshot() as state:
        backwards = [info for info in reversed(state.documents()) if info.name in names]
        assert sorted(matching(state, ["common"], 50, backwards).tolist()) == [2, 3, 8, 9]


def test_matching_by_hand(store: Store) -> None:
    store.put(entry("d", ["rare x x x ", "rare ", "x ", "y ", "y z ", "z ", "z ", "z "]))
    read = reads(store)
    assert read.matching(["rare"], 9).tolist() == [1, 0]
    assert read.matching(["rare", "z"], 9).tolist() == [1, 0, 5, 6, 7, 4]
    assert read.matching(["z", "z", "rare"], 2).tolist() == [1, 0]
    assert read.matching([], 9).tolist() == []
    assert read.matching(["nowhere"], 9).tolist() == []


@pytest.mark.parametrize("term", AWKWARD, ids=lambda term: f"{term[:9]!a}x{len(term)}")
def test_terms_are_kept_exactly(store: Store, term: str) -> None:
    others = [other for other in AWKWARD if other != term]
    store.put(entry("d", ["1", "2", "3"], terms=[others, [term, "b", term], [*others, term]]))
    held, counts = reads(store).postings([term])[term]
    assert (held.tolist(), counts.tolist()) == ([1, 2], [2, 1])
    assert sorted(reads(store).matching([term], 9).tolist()) == [1, 2]
    store.delete("d")
    assert reads(store).postings([term])[term][0].tolist() == []


def test_many_terms_in_one_question(store: Store) -> None:
    store.put(entry("d", [f"t{number} " for number in range(1000)]))
    assert len(reads(store).matching([f"t{number}" for number in range(1000)], 2000)) == 1000


def test_strings_that_are_no_unicode(store: Store) -> None:
    for name in (os.fsdecode(b"/tmp/\xff.txt"), "a\0b", '\x01"a"', "名", "it's"):
        given = entry(name, ["lone \ud800 ", "end "], source=name, hash=name)
        store.put(given)
        holds(store, given)
        first = reads(store).documents()[0].first
        assert reads(store).matching(["\ud800"], 5, [name]).tolist() == [first]
        assert touch(store, name, (1, 2))
        (info,) = reads(store).documents()
        assert (info.name, info.source, info.hash, info.signature) == (name, name, name, (1, 2))
        assert store.delete(name)
        assert reads(store).documents() == []


def test_rows_keep_their_numbers(store: Store) -> None:
    store.put(entry("a", ["1 ", "2 "], seed=1))
    store.put(entry("b", ["3 "], seed=2))
    store.delete("a")
    read, query = reads(store), rows(1, 5)[0]
    assert read.statistics().dead == 2
    before = read.documents()
    store.vacuum()
    assert read.statistics().dead == 0
    assert read.documents() == before
    assert np.allclose(read.vectors("b"), rows(1, 2), atol=1e-6)
    assert np.allclose(read.similarity(query, "b"), rows(1, 2) @ query, atol=1e-6)
    assert read.nearest(query, 5)[0].tolist() == [2]
    assert read.postings(["3", "1"])["3"][0].tolist() == [2]
    store.put(entry("c", ["4 "], seed=3))
    assert [(info.name, info.first) for info in read.documents()] == [("b", 2), ("c", 3)]
    store.delete("c")
    store.vacuum()
    store.put(entry("d", ["5 "], seed=4))
    assert [(info.name, info.first) for info in read.documents()] == [("b", 2), ("d", 4)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vectors": rows(2, 0, WIDTH + 1)}, "vectors"),
        ({"vectors": rows(3, 0)}, "vectors"),
        ({"vectors": np.full((2, WIDTH), np.nan, np.float32)}, "finite"),
        ({"starts": [True]}, "paragraph_starts"),
        ({"terms": [["a"]]}, "terms"),
        ({"terms": [["a b"], []]}, "white space"),
        ({"terms": [["a\u3000"], []]}, "white space"),
    ],
)
def test_entries_that_do_not_fit_are_refused(
    store: Store, change: dict[str, object], message: str
) -> None:
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
    store.put(numbered(0))
    with pytest.raises(ValueError, match="vector"):
        reads(store).nearest(query, 3)
    with pytest.raises(ValueError, match="vector"):
        reads(store).similarity(query, "document 0")


TERMS = st.one_of(
    st.sampled_from(AWKWARD[:27]),
    st.sampled_from(["u", "v", "w"]),
    st.text(min_size=1, max_size=3).filter(lambda term: term.split() == [term]),
)
SENTENCE = st.tuples(st.text(max_size=5), st.lists(TERMS, max_size=6))
CHANGE = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.one_of(st.none(), st.sampled_from(["vacuum", "touch"]), st.lists(SENTENCE, max_size=6)),
)


@given(changes=st.lists(CHANGE, max_size=8), seed=st.integers(0, 50), wanted=st.lists(TERMS))
@settings(max_examples=20)
def test_both_stores_answer_alike(
    changes: list[tuple[str, object]], seed: int, wanted: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        plain, durable = opened(None), opened(Path(folder))
        for number, (name, change) in enumerate(changes):
            for each in (plain, durable):
                if change is None:
                    each.delete(name)
                elif change == "vacuum":
                    each.vacuum()
                elif change == "touch":
                    touch(each, name, (seed, number))
                else:
                    texts, terms = [text for text, _ in change], [terms for _, terms in change]
                    each.put(entry(name, texts, terms=terms, seed=seed + number % 3))
        if seed % 2:
            durable.close()
            durable = opened(Path(folder), read_only=True)
        _agree(plain, durable, rows(1, seed + 100)[0], [*wanted, "u", "v", "w", "a"])
        durable.close()


def _agree_in_a_search(plain: Store, durable: Store, query: np.ndarray, terms: list[str]) -> None:
    """The calls of a search answer alike: what is scored, what is measured, what is shown."""
    with plain.snapshot() as theirs, durable.snapshot() as ours:
        for names in (None, frozenset(["a"]), frozenset(["c", "a"])):
            for most in (0, 3, 1000):
                limits = {"most": most, "candidates": 100, "among": DocumentSelection(names)}
                found, complete = ours.select_candidates(query, terms, **limits)
                due, all_of_them = theirs.select_candidates(query, terms, **limits)
                assert complete == all_of_them
                if complete:
                    assert [info.name for info in found] == [info.name for info in due]
                else:  # the order of equal scores may differ
                    assert {info.name for info in found} == {info.name for info in due}
        wanted = [info for info in theirs.documents() if info.name != "b"]
        held = [ours.info(info.name) for info in wanted]
        found, due = (
            ours.score_inputs(query, terms, held),
            theirs.score_inputs(query, terms, wanted),
        )
        assert ours.statistics() == theirs.statistics()
        assert found.frequencies == due.frequencies
        assert found.sentences.document_offsets.tolist() == due.sentences.document_offsets.tolist()
        assert found.sentences.spans.tolist() == due.sentences.spans.tolist()
        assert np.abs(found.similarity - due.similarity).max(initial=0) < 1e-6
        assert found.counts.keys() == due.counts.keys()
        for term, counts in due.counts.items():
            assert found.counts[term].tolist() == counts.tolist()
            assert found.counts[term].dtype == np.float32
        parts = [(info, 0, 7) for info in held], [(info, 0, 7) for info in wanted]
        assert ours.excerpts(parts[0]) == theirs.excerpts(parts[1])


def _agree(plain: Store, durable: Store, query: np.ndarray, terms: list[str]) -> None:
    _agree_in_a_search(plain, durable, query, terms)
    theirs, ours = reads(plain), reads(durable)
    held, expected = (_everything(each, query, terms) for each in (durable, plain))
    for key, most in (("coverage", 0.5 / 255 + 1e-6), ("similarity", 1e-6), ("vectors", 1e-6)):
        np.testing.assert_allclose(held.pop(key), expected.pop(key), rtol=0, atol=most)
    assert held == expected
    for names in (None, ["a"], ["c", "a"]):
        for n in (1, 3, 100):
            found, scores = ours.nearest(query, n, names)
            due, due_scores = theirs.nearest(query, n, names)
            # Rows whose scores differ by less than float32 can tell may change places.
            assert np.abs(scores - due_scores).max(initial=0) < 1e-6
            if len(np.unique(np.round(due_scores, 5))) == len(due_scores) and n == 100:
                assert found.tolist() == due.tolist()
            assert (
                ours.matching(terms, n, names).tolist() == theirs.matching(terms, n, names).tolist()
            )
    for rows_of, counts in ours.postings(terms).values():
        assert (rows_of.dtype, counts.dtype) == (np.int64, np.int32)


def _everything(store: Store, query: np.ndarray, terms: list[str]) -> dict[str, Any]:
    """What a store says but for ids, which are its own, and for rows that may change places."""
    with store.snapshot() as state:
        found = all_of(state, query, terms)
    for key in ("documents", "records"):
        found[key] = [replace(info, id=0) for info in found[key]]
    return {key: value for key, value in found.items() if not key.startswith("nearest")}
