"""Chunks and paragraphs."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import milepost
from milepost.documents import split
from milepost.encoder.windows.document_vector import document_vector
from milepost.errors import InputError, UnreadableFile
from milepost.testing import fake_encoder
from milepost.types import Chunk, Document, Mark

ENCODER = fake_encoder()
WORDS = [
    *("bees", "wax", "Honey", "the", "e.g.", "3.5", "naïve", "蜂", "ok.", "Why?", "…", "🐝"),
    "\n\n",
]

texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
    st.text(max_size=200),
    st.text(alphabet="ab .\n\t", max_size=300),
)
sizes = st.one_of(
    st.integers(1, 400).map(lambda n: f"{n}c"), st.integers(1, 80).map(lambda n: f"{n}t")
)


def cut(text: str, size: str | int = "1600c", **settings: object) -> list[Chunk]:
    return milepost.chunks(Document("d", text), size=size, model=ENCODER, **settings)


def tokens(text: str, a: int, b: int) -> int:
    spans = [(max(a, s), min(b, e)) for s, e in split(text) if s < b and e > a]
    return sum(len(ids) for ids, _, _ in ENCODER.tokenizer.count([text[s:e] for s, e in spans]))


@settings(max_examples=80)
@given(texts, sizes)
def test_chunks_tile_the_text_within_the_size(text: str, size: str) -> None:
    found = cut(text, size)
    assert "".join(chunk.text for chunk in found) == text
    edges = [0, *(chunk.end for chunk in found)]
    assert [chunk.start for chunk in found] == edges[:-1]
    limit = int(size[:-1])
    for chunk in found:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.document == "d"
        if size[-1] == "c":
            assert len(chunk.text.strip()) <= limit
        else:
            assert tokens(text, chunk.start, chunk.end) <= limit


@settings(max_examples=80)
@given(texts, sizes)
def test_a_sentence_is_in_one_chunk_unless_it_is_too_long_for_any(text: str, size: str) -> None:
    borders = {chunk.start for chunk in cut(text, size)}
    limit = int(size[:-1])
    for start, end in split(text):
        if any(start < border < end for border in borders):
            long = tokens(text, start, end) if size[-1] == "t" else len(text[start:end].strip())
            assert long > limit


@settings(max_examples=50)
@given(texts, sizes)
def test_no_two_chunks_would_fit_into_one(text: str, size: str) -> None:
    found = cut(text, size)
    limit = int(size[:-1])
    for one, two in pairwise(found):
        following = next(end for start, end in split(text) if start <= two.start < end)
        if size[-1] == "t":
            assert tokens(text, one.start, following) > limit
        else:
            assert len(text[one.start : following].strip()) > limit


@settings(max_examples=50)
@given(texts, sizes)
def test_vectors_are_the_means_of_the_landmarks(text: str, size: str) -> None:
    found = cut(text, size)
    whole = ENCODER.encode(Document("d", text))
    edges = set(whole.spans.reshape(-1).tolist())
    for chunk in found:
        assert chunk.vector.dtype == np.float32
        assert chunk.vector.shape == (32,)
        length = float(np.linalg.norm(chunk.vector))
        assert length == pytest.approx(1, abs=1e-5) or length == 0
    if all(chunk.end in edges for chunk in found):
        for chunk in found:
            inside = (whole.spans[:, 0] >= chunk.start) & (whole.spans[:, 1] <= chunk.end)
            expected = document_vector(whole.vectors[inside])
            np.testing.assert_allclose(chunk.vector, expected, atol=1e-5)


LONG = "Bees build cells of wax. The queen lays the eggs. Honey is kept for the winter. " * 5


def test_a_function_pools_the_landmarks() -> None:
    def last(landmarks: np.ndarray, counts: list[int]) -> np.ndarray:
        return 3 * landmarks[np.cumsum(counts) - 1]

    found = cut(LONG, 120, pooling=last)
    landmarks = ENCODER.encode(LONG)
    ends = landmarks.spans[:, 1].tolist()
    assert len(found) > 3
    for chunk in found:
        expected = landmarks.vectors[ends.index(chunk.end)]
        np.testing.assert_allclose(chunk.vector, expected, atol=1e-5)


@pytest.mark.parametrize("rows", [lambda _, counts: np.ones(len(counts)), lambda *_: np.eye(2)])
def test_a_function_that_gives_something_else_is_refused(rows) -> None:
    with pytest.raises(InputError, match="the pooling gives an array of shape"):
        cut(LONG, 120, pooling=rows)


@pytest.mark.parametrize("size", ["", "0c", "0", "-5", "12x", "c", "1.5c"])
def test_a_size_that_is_no_length_is_refused(size: str) -> None:
    with pytest.raises(InputError, match="is not a length"):
        milepost.chunks("missing.txt", size=size, model=ENCODER)


def test_errors_of_files_and_poolings() -> None:
    with pytest.raises(UnreadableFile, match=r"missing\.txt"):
        milepost.chunks("missing.txt", model=ENCODER)
    with pytest.raises(InputError, match="unknown pooling 'meen'"):
        cut(LONG, pooling="meen")


def test_an_empty_document_has_no_chunks() -> None:
    assert cut("") == []
    assert cut("", pooling=lambda *_: pytest.fail("asked for nothing")) == []


def test_a_heading_begins_a_chunk() -> None:
    body = "The hive has six frames of comb."
    text = f"# One\n\n{body}\n\n# Two\n\n{body}\n"
    one, two = text.index("One"), text.index("Two")
    marks = (Mark(one, "heading", "One", 1), Mark(two, "heading", "Two", 1))
    document = Document("d", text, marks, blocks=(0, two - 2))
    found = milepost.chunks(document, size=len(text) - len(body), model=ENCODER)
    assert [chunk.heading for chunk in found] == ["One", "Two"]
    assert [chunk.text for chunk in found] == [text[: two - 2], text[two - 2 :]]


def test_pages_and_headings_are_those_of_the_first_word(tmp_path: Path) -> None:
    file = tmp_path / "bees.md"
    file.write_text("# Bees\n\nThey build.\n\n## Wax\n\nIt melts.\n", encoding="utf-8")
    found = milepost.chunks(file, size=18, model=ENCODER)
    assert found[0].heading == "Bees"
    assert found[-1].heading == "Wax"
    assert {chunk.document for chunk in found} == {str(file)}
    assert "".join(chunk.text for chunk in found) == milepost.read(file).text

    text = "  First page.\n\n\nSecond page."
    marks = (Mark(2, "page", "1"), Mark(text.index("Second"), "page", "2"))
    pages = milepost.chunks(Document("p", text, marks), size=14, model=ENCODER)
    assert [chunk.page for chunk in pages] == [1, 2]
