"""The adapters inside LlamaIndex itself: retrieval, query engine, vector index, async."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the integrations extra")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore

from milepost.index import Index
from milepost.integrations import llama_index as adapter
from milepost.integrations.llama_index import MilepostEmbedding, MilepostRetriever
from milepost.testing import fake_encoder
from support.docstring_code import run_use

WATER = "deep water for a ship"


@pytest.mark.parametrize("use_async", [False, True])
def test_a_node_is_the_passage_and_its_place(index: Index, *, use_async: bool) -> None:
    retriever = MilepostRetriever(index, k=2)
    found = asyncio.run(retriever.aretrieve(WATER)) if use_async else retriever.retrieve(WATER)
    passages = index.search(WATER, k=2)
    assert [node.node.get_content() for node in found] == [passage.text for passage in passages]
    assert [node.score for node in found] == [passage.score for passage in passages]
    first, passage = found[0].node, passages[0]
    assert (first.start_char_idx, first.end_char_idx) == (passage.start, passage.end)
    assert first.node_id == f"ships:{passage.start}-{passage.end}"
    assert first.metadata["page"] == 7
    assert first.metadata["hits"][0]["start"] == passage.hits[0].start


def test_a_language_model_sees_the_place_and_no_numbers(index: Index) -> None:
    node = MilepostRetriever(index, k=1).retrieve(WATER)[0].node
    said = node.get_content(MetadataMode.LLM)
    assert "document: ships" in said
    assert "page: 7" in said
    assert "score" not in said
    assert "hits" not in said


def test_a_query_engine_answers_from_the_passages(index: Index) -> None:
    engine = RetrieverQueryEngine.from_args(MilepostRetriever(index, k=1), llm=MockLLM())
    answer = engine.query("At what degrees does gold melt?")
    assert "Gold melts at 1064 degrees." in str(answer)
    assert answer.source_nodes[0].metadata["document"] == "gold"


def test_embeddings_are_those_of_the_encoder() -> None:
    encoder = fake_encoder()
    embedding = MilepostEmbedding(encoder, embed_batch_size=2)
    texts = ["One whale. Two whales.", "", "Three ships. " * 100, "Gold. Lead."]
    many = embedding.get_text_embedding_batch(texts)
    assert many == asyncio.run(embedding.aget_text_embedding_batch(texts))
    for text, vector in zip(texts, many, strict=True):
        expected = encoder.encode(text).document
        np.testing.assert_allclose(vector, expected, atol=1e-5)
        np.testing.assert_allclose(embedding.get_text_embedding(text), expected, atol=1e-5)
    one = embedding.get_query_embedding("One? Two.")
    assert np.array_equal(one, encoder.encode_query("One? Two."))
    assert one == asyncio.run(embedding.aget_query_embedding("One? Two."))
    assert embedding.model_name == encoder.manifest.name


def test_aretrieve_leaves_the_loop_free(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    run = index.model._engine.run

    def waiting(*args: Any) -> Any:
        assert released.wait(30), "the loop was blocked"
        return run(*args)

    monkeypatch.setattr(index.model._engine, "run", waiting)

    async def both() -> list[NodeWithScore]:
        task = asyncio.ensure_future(MilepostRetriever(index, k=1).aretrieve(WATER))
        await asyncio.sleep(0.01)
        released.set()
        return await task

    assert len(asyncio.run(both())) == 1


def test_the_lines_of_use_run(reports: Path) -> None:
    names = run_use(adapter)
    assert "signed by Ada Lovelace" in names["nodes"][0].node.get_content()
    assert names["nodes"][0].node.metadata["source"] == str(reports / "contract.txt")


@pytest.mark.parametrize("use_async", [False, True])
def test_the_options_of_one_question(index: Index, *, use_async: bool) -> None:
    retriever = MilepostRetriever(index, k=3, where='document = "gold"')

    def asked(**options: Any) -> set[str]:
        if use_async:
            found = asyncio.run(retriever.aretrieve(WATER, **options))
        else:
            found = retriever.retrieve(WATER, **options)
        return {node.node.metadata["document"] for node in found}

    assert asked() == {"gold"}
    assert asked(where='document = "ships"') == {"ships"}
    assert len(asked(where=None, k=1)) == 1
    assert asked() == {"gold"}, "an option of one question stayed"
    with pytest.raises(TypeError, match="'top_k' is no option"):
        asked(top_k=1)
