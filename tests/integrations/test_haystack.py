"""The components inside real Haystack pipelines, saved and loaded again."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("haystack", reason="needs the integrations extra")

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.core.errors import DeserializationError

from milepost.errors import InputError
from milepost.filters import parse
from milepost.index import Index
from milepost.integrations.haystack import (
    MilepostDocumentEmbedder,
    MilepostRetriever,
    MilepostTextEmbedder,
)
from milepost.testing import fake_encoder

WATER = "deep water for a ship"
ALLOWED = ["milepost.*"]


def test_a_pipeline_of_retriever_and_prompt(index: Index) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", MilepostRetriever(index, top_k=3))
    template = "{% for d in documents %}[{{ d.meta.document }}] {{ d.content }}\n{% endfor %}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents"]))
    pipeline.connect("retriever.documents", "prompt.documents")
    said = pipeline.run({"retriever": {"query": WATER, "top_k": 1}})["prompt"]["prompt"]
    assert said.startswith("[ships] ")
    assert said.count("\n[") == 0
    gold = {"retriever": {"query": WATER, "documents": ["gold"]}}
    assert pipeline.run(gold)["prompt"]["prompt"].startswith("[gold] ")


def test_a_saved_pipeline_is_loaded_again(reports: Path) -> None:
    pipeline = Pipeline()
    limits = {"top_k": 1, "min_score": 0.01, "documents": "contract.txt"}
    retriever = MilepostRetriever("reports.milepost", where=parse('kind = "txt"'), **limits)
    pipeline.add_component("retriever", retriever)
    text = pipeline.dumps()
    with pytest.raises(DeserializationError):
        Pipeline.loads(text)
    again = Pipeline.loads(text, allowed_modules=ALLOWED)
    assert again.to_dict() == pipeline.to_dict()
    again.warm_up()
    question = {"retriever": {"query": "Who signed the contract?"}}
    assert again.run(question) == pipeline.run(question)
    assert "Ada" in again.run(question)["retriever"]["documents"][0].content


def test_embedders_are_saved_and_loaded_again() -> None:
    pipeline = Pipeline()
    pipeline.add_component("text", MilepostTextEmbedder("landmark-light"))
    made = MilepostDocumentEmbedder("landmark-light", ["title"], " / ")
    pipeline.add_component("documents", made)
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=ALLOWED)
    assert again.to_dict() == pipeline.to_dict()
    assert again.get_component("documents").embedding_separator == " / "
    with pytest.raises(InputError, match="encoder cannot be saved"):
        MilepostTextEmbedder(fake_encoder()).to_dict()


def test_vectors_are_those_of_the_encoder() -> None:
    encoder = fake_encoder()
    question = MilepostTextEmbedder(encoder).run("One? Two.")["embedding"]
    assert np.array_equal(question, encoder.encode_query("One? Two."))
    given = [
        Document(content="Whales dive. " * 100, meta={"title": "Whales", "year": 1851}),
        Document(content=None),
    ]
    embedder = MilepostDocumentEmbedder(encoder, ["title", "year", "missing"])
    whales, nothing = embedder.run(given)["documents"]
    expected = encoder.encode("Whales\n1851\n" + "Whales dive. " * 100).document
    np.testing.assert_allclose(whales.embedding, expected, atol=1e-5)
    assert not any(nothing.embedding)
    assert [document.embedding for document in given] == [None, None]


def test_what_cannot_be_done_is_refused(index: Index) -> None:
    retriever = MilepostRetriever(index)
    with pytest.raises(InputError, match=r"does not read Haystack's filters.*where="):
        retriever.run(WATER, filters={"field": "meta.page", "operator": "==", "value": 7})
    with pytest.raises(InputError, match="open index cannot be saved"):
        retriever.to_dict()
