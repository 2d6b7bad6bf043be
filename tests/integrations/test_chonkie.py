"""The chunker where chonkie's own are used: called, in batches, in a pipeline."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("chonkie", reason="needs the integrations extra")

from chonkie import Document, Pipeline
from chonkie.chunker import BaseChunker
from chonkie.types import Chunk

import milepost
from milepost.errors import InputError
from milepost.integrations import chonkie as adapter
from milepost.integrations.chonkie import MilepostChunker
from milepost.testing import fake_encoder
from milepost.types import Document as Text
from support.docstring_code import run_use

ENCODER = fake_encoder()
TEXT = "Bees build cells of wax. The queen lays the eggs.\n\nHoney is kept for the winter. " * 4


def test_it_is_a_chunker_of_chonkie() -> None:
    chunker = MilepostChunker(20, ENCODER)
    assert isinstance(chunker, BaseChunker)
    one = chunker.chunk(TEXT)
    assert [chunk.text for chunk in chunker(TEXT)] == [chunk.text for chunk in one]
    both = chunker.chunk_batch([TEXT, "Gold."], show_progress=False)
    assert [len(chunks) for chunks in both] == [len(one), 1]
    assert [len(chunks) for chunks in chunker([TEXT, ""], show_progress=False)] == [len(one), 0]
    assert len(asyncio.run(chunker.achunk(TEXT))) == len(one)
    assert "20t" in repr(chunker)


def test_chunks_are_those_of_milepost() -> None:
    found = MilepostChunker("120c", ENCODER).chunk(TEXT)
    expected = milepost.chunks(Text("text", TEXT), size="120c", model=ENCODER)
    assert len(found) == len(expected) > 2
    for chunk, ours in zip(found, expected, strict=True):
        assert isinstance(chunk, Chunk)
        assert chunk.text == ours.text == TEXT[chunk.start_index : chunk.end_index]
        assert chunk.token_count == ENCODER.count_tokens(chunk.text)
        np.testing.assert_array_equal(chunk.embedding, ours.vector)


@settings(max_examples=50)
@given(st.text(max_size=200), st.integers(1, 60))
def test_without_vectors_the_chunks_are_the_same(text: str, size: int) -> None:
    plain = MilepostChunker(size, ENCODER, pooling=None).chunk(text)
    full = MilepostChunker(f"{size}t", ENCODER).chunk(text)
    places = [(chunk.start_index, chunk.end_index, chunk.token_count) for chunk in plain]
    assert places == [(chunk.start_index, chunk.end_index, chunk.token_count) for chunk in full]
    assert all(chunk.embedding is None for chunk in plain)
    assert "".join(chunk.text for chunk in plain) == text


def test_a_pipeline_of_chonkie_uses_it_by_name() -> None:
    document = Pipeline().chunk_with("milepost", chunk_size="120c", model=ENCODER).run(texts=TEXT)
    assert isinstance(document, Document)
    assert "".join(chunk.text for chunk in document.chunks) == TEXT
    given_ = Document(content=TEXT, metadata={"title": "Bees"})
    made = MilepostChunker(20, ENCODER).chunk_document(given_)
    assert {chunk.metadata["title"] for chunk in made.chunks} == {"Bees"}


@pytest.mark.parametrize("size", [0, -3, "12x", "", 1.5])
def test_a_size_that_is_no_length_is_refused(size: object) -> None:
    with pytest.raises(InputError, match="is not a length"):
        MilepostChunker(size, ENCODER)


def test_the_lines_of_use_run(folder: Path) -> None:
    found = run_use(adapter)["chunks"]
    assert [chunk.text for chunk in found] == [
        "The contract was drafted in May. It was signed by Ada Lovelace."
    ]
    assert len(found[0].embedding) == 768
