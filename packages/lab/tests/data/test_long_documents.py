"""Cuts that hold one another, and questions that all of them can answer."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_lab.data.long_documents import (  # noqa: E402
    FIRST,
    STEP,
    LongDocument,
    Words,
    first_of,
    gather,
    in_tokens,
    inside,
    short_pairs,
    stretch,
)
from support.long_corpus import words_of, write, write_corpus  # noqa: E402
from support.small_models import write_tokenizer  # noqa: E402


@given(
    tokens=st.integers(FIRST, 60_000),
    share=st.floats(0, 1),
    lengths=st.lists(st.integers(FIRST // STEP, 200).map(lambda n: n * STEP), max_size=6),
)
def test_longer_cuts_hold_the_shorter_ones(tokens: int, share: float, lengths: list[int]) -> None:
    """From the first one on, in steps of whole windows, all of them of the length asked for."""
    first = int(share * (tokens - FIRST)) // STEP * STEP
    document = LongDocument("d", "t", [], tokens, first)
    assert document.start(FIRST) in (first, 0)
    begin, end = first, first + FIRST
    for length in sorted({FIRST, *lengths}):
        start, stop = document.start(length), min(tokens, document.start(length) + length)
        assert 0 <= start <= begin
        assert stop >= end
        assert start % STEP == 0
        assert stop - start == min(length, tokens)
        begin, end = start, stop


@given(
    text=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=7), max_size=9),
    start=st.integers(0, 40),
    length=st.integers(0, 40),
)
def test_a_stretch_is_a_slice(text: list[list[int]], start: int, length: int) -> None:
    """Its tokens are those of the flat text; no sentence is empty."""
    found = stretch(text, start, length)
    flat = [token for sentence in text for token in sentence]
    assert [token for part in found for token in part] == flat[start : start + length]
    assert all(found)


def test_evidence_in_tokens() -> None:
    """A span is as long as the sentences that it touches."""
    sentences = [(0, 10, 3), (10, 20, 4), (20, 30, 5)]
    assert in_tokens([(12, 14), (5, 25), (20, 30)], sentences) == [(3, 7), (0, 12), (7, 12)]


def test_the_first_cut_holds_most_evidence() -> None:
    """Of three questions two lie together; one of several places is enough."""
    together = [[(3000, 3050)], [(90, 95), (3300, 3400)]]
    first = first_of("d", 8000, [[(7000, 7100)], *together])
    assert all(inside(places, first) for places in together)
    assert first % STEP == 0
    assert first_of("d", FIRST, []) == 0


def test_without_evidence_the_name_decides() -> None:
    """Not always the beginning."""
    assert len({first_of(f"document {n}", 20_000, []) for n in range(20)}) > 5


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Corpus and tasks."""
    return write_corpus(tmp_path)


def test_gathering(shared: Path, tmp_path: Path) -> None:
    """Long documents, each once; titles and questions about the first cut; no title in the text."""
    words = Words(write_tokenizer(tmp_path / "tokenizer.json"))
    found, asked = gather(shared, words, least=2000, documents=9, questions=9)
    assert [(document.name, document.task) for document in found] == [
        ("a", "articles"),
        ("long", "trials"),
    ]
    assert {(q.name, q.kind, q.document) for q in asked} == {
        ("a title", "title", "a"),
        ("written/w", "written", "a"),
        ("trials/long", "trials", "long"),
    }
    article = found[0]
    assert article.tokens == sum(map(len, article.text))
    flat = [token for sentence in article.cut(FIRST) for token in sentence]
    (evidence,) = words.ids(["the bird sat on a tree"])
    assert any(flat[n : n + len(evidence)] == evidence for n in range(len(flat)))
    whole = [token for sentence in article.cut(10**6) for token in sentence]
    (title,) = words.ids(["the bird on the mat"])
    assert not any(whole[n : n + len(title)] == title for n in range(len(whole)))
    few, some = gather(shared, words, least=2000, documents=1, questions=1)
    assert [document.name for document in few] == ["a"]
    assert [question.kind for question in some] == ["title"]


def test_short_pairs(tmp_path: Path) -> None:
    """Long enough passages, cut alike, each once."""
    words = Words(write_tokenizer(tmp_path / "tokenizer.json"))
    random = Random(2)
    passages = [words_of(random, 60) for _ in range(5)]
    rows = [{"query": f"cat {n}", "passage": p} for n, p in enumerate([*passages, "The cat."])]
    write(tmp_path / "one.jsonl.gz", rows)
    write(tmp_path / "two.jsonl.gz", [{"query": "again", "passage": passages[0]}])
    pairs = short_pairs(tmp_path, ["one", "two"], words, 9, 40)
    assert len(pairs) == 5
    assert all(sum(map(len, passage)) == 40 for _, passage in pairs)
    assert words.ids(["again"])[0] not in [query[0] for query, _ in pairs]
    assert pairs[:2] == short_pairs(tmp_path, ["one", "two"], words, 2, 40)
