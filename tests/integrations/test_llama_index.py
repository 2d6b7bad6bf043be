"""The adapters inside LlamaIndex itself: retrieval, query engine, vector index, async."""

import asyncio
import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the integrations extra")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode

from milepost.index import Index
from milepost.integrations.llama_index import MilepostEmbedding, MilepostRetriever
from milepost.testing import fake_encoder

WATER = "deep water for a ship"


def test_a_language_model_reads_the_page_once_and_no_numbers(index: Index) -> None:
    node = MilepostRetriever(index, k=1).retrieve(WATER)[0].node
    passage = index.search(WATER, k=1)[0]
    assert (node.start_char_idx, node.end_char_idx) == (passage.start, passage.end)
    assert (node.metadata["page"], node.ref_doc_id) == (7, "ships")
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        said, text = node.get_content(mode).split("\n\n", 1)
        assert said.split("\n") == ["document: ships", "heading: Harbours", "place: page 7"]
        assert text == node.text
    gold = MilepostRetriever(index, k=1).retrieve("At what degrees does gold melt?")[0].node
    assert gold.get_content(MetadataMode.LLM).startswith("document: gold\n\nGold melts")


def test_a_query_engine_answers_from_the_passages(index: Index) -> None:
    engine = RetrieverQueryEngine.from_args(MilepostRetriever(index, k=1), llm=MockLLM())
    answer = engine.query("At what degrees does gold melt?")
    assert "Gold melts at 1064 degrees." in str(answer)
    assert answer.source_nodes[0].metadata["document"] == "gold"


def test_a_saved_embedding_keeps_its_model() -> None:
    """LlamaIndex saves the name alone, and pickles by it: another model's vectors are no error."""
    made = MilepostEmbedding("landmark-light")
    again = (
        MilepostEmbedding.from_dict(made.to_dict()),
        pickle.loads(pickle.dumps(made)),
        copy.deepcopy(made),
        MilepostEmbedding(model_name=str(made._encoder.folder)),
    )
    vector = made.get_text_embedding("One whale.")
    assert all(each.get_text_embedding("One whale.") == vector for each in again)
    assert {each.model_name for each in again} == {"landmark-light", str(made._encoder.folder)}


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
    assert MilepostEmbedding(encoder, num_workers=2).num_workers == 2
    with pytest.raises(TypeError, match="'batch_size' is no field"):
        MilepostEmbedding(encoder, batch_size=2)
