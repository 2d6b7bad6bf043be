"""LangChain's own standard suites, and what our adapters promise beyond them."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("langchain_tests", reason="needs the integrations extra")

from langchain_core.documents import Document
from langchain_tests.integration_tests import EmbeddingsIntegrationTests, RetrieversIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from milepost.embedding import embed_query
from milepost.errors import InputError, NotAnIndex
from milepost.index import Index
from milepost.integrations import langchain as adapter
from milepost.integrations.langchain import MilepostEmbeddings, MilepostRetriever
from milepost.testing import fake_encoder, fake_index
from support.docstring_code import run_use

TEXTS = {
    name: f"The {name} is at sea. It carries {name} oil. Its master is old."
    for name in ("whale", "brig", "sloop", "cutter")
}


@pytest.fixture
def anyio_backend() -> str:
    """Run the suites' async tests on asyncio alone."""
    return "asyncio"


@pytest.mark.anyio
class TestRetriever(RetrieversIntegrationTests):
    """The standard suite: exactly k documents, by constructor and by call, and ``ainvoke``."""

    @property
    def retriever_constructor(self) -> type[MilepostRetriever]:
        return MilepostRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": fake_index(TEXTS)}

    @property
    def retriever_query_example(self) -> str:
        return "Who is the master of the whale?"


class Standard:
    @property
    def embeddings_class(self) -> type[MilepostEmbeddings]:
        return MilepostEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"model": fake_encoder()}


class TestEmbeddingsUnit(Standard, EmbeddingsUnitTests):
    """The standard suite without a network."""


@pytest.mark.anyio
class TestEmbeddings(Standard, EmbeddingsIntegrationTests):
    """The standard suite of embeddings."""


def test_a_document_is_the_passage_and_its_place(index: Index) -> None:
    found = MilepostRetriever(index=index, k=1).invoke("deep water for a ship")
    passage = index.search("deep water for a ship", k=1)[0]
    assert [document.page_content for document in found] == [passage.text]
    place = found[0].metadata
    assert found[0].id == f"ships:{passage.start}-{passage.end}"
    assert (place["document"], place["page"]) == ("ships", 7)
    assert (place["start"], place["end"]) == (passage.start, passage.end)
    assert place["heading"] == passage.heading
    assert place["score"] == passage.score
    assert place["hits"][0] == {
        "start": passage.hits[0].start,
        "end": passage.hits[0].end,
        "score": passage.hits[0].score,
    }


@pytest.mark.parametrize("use_async", [False, True])
def test_the_options_of_one_question(index: Index, *, use_async: bool) -> None:
    retriever = MilepostRetriever(index=index, k=3, min_score=0.0)

    def asked(**options: Any) -> list[Document]:
        question = "deep water for a ship"
        if use_async:
            return asyncio.run(retriever.ainvoke(question, **options))
        return retriever.invoke(question, **options)

    assert {document.metadata["document"] for document in asked(documents=["gold"])} == {"gold"}
    assert sum(len(document.page_content) for document in asked(k=None, budget="30c")) <= 30
    assert asked(min_score=1.0) == []
    assert len(asked(k=2, rerank=False)) == 2


def test_wrong_values_and_folders_are_refused(index: Index, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        MilepostRetriever(index=index, k=0)
    with pytest.raises(NotAnIndex):
        MilepostRetriever(index=tmp_path / "missing")
    with pytest.raises(InputError, match="k = 0"):
        MilepostRetriever(index=index).invoke("ships", k=0)
    with pytest.raises(TypeError, match="top_k"):
        MilepostRetriever(index=index).invoke("ships", top_k=3)


def test_ainvoke_leaves_the_loop_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search waits for something that only the loop does: a blocked loop would never end."""
    released = threading.Event()
    index = fake_index(TEXTS)
    run = index.model._engine.run

    def waiting(*args: Any) -> Any:
        assert released.wait(30), "the loop was blocked"
        return run(*args)

    monkeypatch.setattr(index.model._engine, "run", waiting)

    async def both() -> list[Document]:
        task = asyncio.ensure_future(MilepostRetriever(index=index, k=1).ainvoke("whale oil"))
        await asyncio.sleep(0.01)
        assert not task.done()
        released.set()
        return await task

    assert len(asyncio.run(both())) == 1


def test_embeddings_are_those_of_the_encoder() -> None:
    encoder = fake_encoder()
    embeddings = MilepostEmbeddings(encoder)
    texts = ["One whale. Two whales.", "", "Three ships. " * 200]
    vectors = np.array(embeddings.embed_documents(texts))
    np.testing.assert_allclose(vectors[2], encoder.encode(texts[2]).document, atol=1e-5)
    assert not vectors[1].any()
    assert np.array_equal(embeddings.embed_query("One?"), encoder.encode_query("One?"))
    assert np.array_equal(embeddings.embed_query("?"), embed_query(encoder, "?"))


def test_the_lines_of_use_run(reports: Path) -> None:
    names = run_use(adapter)
    assert "signed by Ada Lovelace" in names["documents"][0].page_content
    assert names["documents"][0].metadata["source"] == str(reports / "contract.txt")


def test_arguments_that_are_not_known_are_refused(index: Index) -> None:
    """A filter of another name must not be dropped: unfiltered passages would come back."""
    for unknown in ({"filter": {"kind": "md"}}, {"search_kwargs": {"k": 1}}, {"top_k": 1}):
        with pytest.raises(ValueError, match="Extra inputs are not permitted"):
            MilepostRetriever(index=index, **unknown)
        with pytest.raises(TypeError, match=f"'{next(iter(unknown))}' is no option of a search"):
            MilepostRetriever(index=index).invoke("ships", **unknown)
    with pytest.raises(InputError):
        MilepostRetriever(index=index, where="kind =")


def test_the_filter_by_constructor_and_by_call(index: Index) -> None:
    made = MilepostRetriever(index=index, where='document = "gold"')
    assert {each.metadata["document"] for each in made.invoke("a ship")} == {"gold"}
    found = made.invoke("a ship", where='document = "ships"')
    assert {each.metadata["document"] for each in found} == {"ships"}


def test_a_changed_copy_asks_its_own_index(index: Index) -> None:
    other = fake_index({"only": "Here is one sentence."})
    made = MilepostRetriever(index=index).model_copy(update={"index": other})
    assert {each.metadata["document"] for each in made.invoke("sentence")} == {"only"}
