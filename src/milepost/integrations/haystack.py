"""Milepost in Haystack: a retriever over an index, and embedders of questions and documents.

    from milepost.integrations.haystack import MilepostRetriever
    retriever = MilepostRetriever("reports.milepost", top_k=3)
    documents = retriever.run("Who signed the contract?")["documents"]

Needs ``haystack-ai``: ``pip install '.[haystack]'`` in a clone. A saved pipeline is loaded with
``Pipeline.load(file, allowed_modules=["milepost.*"])``, as Haystack loads only its own modules
unless others are named. Haystack reports its use to its makers unless
``HAYSTACK_TELEMETRY_ENABLED=False`` is set; Milepost reports nothing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from haystack import Document, component, default_from_dict, default_to_dict

from milepost.encoder import Encoder, load
from milepost.encoder.embedding import embed_documents, embed_query
from milepost.errors import InputError
from milepost.filters import Filter
from milepost.index.naming import Name, several
from milepost.integrations import retrieval


@component
class MilepostRetriever:
    """Passages of an index as Haystack documents, best first.

    ``content`` is the passage, ``score`` its probability; ``meta`` holds its other fields, as
    ``milepost search --json`` names them, and the document's properties. Sentences beside one
    another are one passage, so there may be fewer than ``top_k``.

    Args:
        index: the folder of an index, or an open ``Index`` (which cannot be saved in a file).
        top_k: number of passages; None for 5, or with a budget for as many as it holds.
        budget, documents, min_score, rerank, where: as in ``Index.search``.
        model: name or folder of the model that made the index; None for the default.
    """

    def __init__(
        self,
        index: retrieval.IndexSource,
        top_k: int | None = None,
        budget: str | int | None = None,
        documents: Name | Sequence[Name] | None = None,
        min_score: float = 0.0,
        rerank: bool = True,
        model: str | None = None,
        where: str | Filter | None = None,
    ) -> None:
        given = {"k": top_k, "budget": budget, "min_score": min_score, "where": where}
        retrieval.check_options(given)
        self.index = index
        self.top_k = top_k
        self.budget = budget
        self.documents = documents
        self.min_score = min_score
        self.rerank = rerank
        self.model = model
        self.where = None if where is None else str(where)  # a pipeline is saved as text

    @cached_property
    def _held(self) -> retrieval.Held:
        return retrieval.Held(self.index, self.model)

    def warm_up(self) -> None:
        """Open the index and load its model."""
        _ = self._held.index.model

    def to_dict(self) -> dict[str, Any]:
        """What a saved pipeline holds of it.

        Raises:
            InputError: it was made with an open index.
        """
        return default_to_dict(
            self,
            index=retrieval.folder_of(self.index),
            top_k=self.top_k,
            budget=self.budget,
            documents=self.documents and [os.fspath(name) for name in several(self.documents)],
            min_score=self.min_score,
            rerank=self.rerank,
            model=self.model,
            where=self.where,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MilepostRetriever:
        """Make it from what ``to_dict`` gave."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        documents: list[str] | None = None,
        where: str | None = None,
    ) -> dict[str, Any]:
        """Search; an argument that is given stands in the place of the retriever's own.

        ``filters`` are for Haystack's protocol of retrievers, and refused.

        Raises:
            InputError: filters are given, a document is not in the index, ``top_k`` is below 1, or
                ``where`` cannot be read.
        """
        if filters:
            raise InputError("Milepost does not read Haystack's filters", "where='kind = \"pdf\"'")
        passages = self._held.search(
            query,
            k=self.top_k if top_k is None else top_k,
            budget=self.budget,
            documents=self.documents if documents is None else documents,
            rerank=self.rerank,
            min_score=self.min_score,
            where=self.where if where is None else where,
        )
        found = [
            Document(
                id=retrieval.identifier(passage),
                content=passage.text,
                meta=meta,
                score=passage.score,
            )
            for passage, meta in passages
        ]
        return {"documents": found}

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        documents: list[str] | None = None,
        where: str | None = None,
    ) -> dict[str, Any]:
        """Search in a thread; see ``run``."""
        return await asyncio.to_thread(self.run, query, filters, top_k, documents, where)


class _Embedder:
    """What both embedders share: the model, loaded when it is needed."""

    def __init__(self, model: Encoder | str | None) -> None:
        self.model = model

    def warm_up(self) -> None:
        _ = self.encoder

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, loaded when it is first needed."""
        return self.model if isinstance(self.model, Encoder) else load(self.model)

    def model_name(self) -> str | None:
        """What a saved pipeline holds of the model; a given encoder has no place in a file."""
        if isinstance(self.model, Encoder):
            raise InputError("a loaded encoder cannot be saved in a file", "model=NAME or FOLDER")
        return self.model

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, model=self.model_name())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return default_from_dict(cls, data)


@component
class MilepostTextEmbedder(_Embedder):
    """The vector of a question, read with the model's instruction for questions.

    Args:
        model: a shipped model's name or a model folder, None for the default; or an encoder
            (which cannot be saved in a file).
    """

    def __init__(self, model: Encoder | str | None = None) -> None:
        _Embedder.__init__(self, model)  # component() makes another class, so super() fails

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """Embed a question."""
        return {"embedding": embed_query(self.encoder, text).tolist()}

    @component.output_types(embedding=list[float])
    async def run_async(self, text: str) -> dict[str, Any]:
        """Embed a question in a thread."""
        return await asyncio.to_thread(self.run, text)


@component
class MilepostDocumentEmbedder(_Embedder):
    """Documents with their vectors: each is read whole, its vector is the mean of its landmarks.

    Args:
        model: as for ``MilepostTextEmbedder``.
        meta_fields_to_embed: metadata that is read in front of the content.
        embedding_separator: what stands between them.
    """

    def __init__(
        self,
        model: Encoder | str | None = None,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
    ) -> None:
        _Embedder.__init__(self, model)  # component() makes another class, so super() fails
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator

    def to_dict(self) -> dict[str, Any]:
        """What a saved pipeline holds of it."""
        return default_to_dict(
            self,
            model=self.model_name(),
            meta_fields_to_embed=self.meta_fields_to_embed,
            embedding_separator=self.embedding_separator,
        )

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Embed documents; those given are not changed."""
        vectors = embed_documents(self.encoder, [self._text(each) for each in documents])
        return {
            "documents": [
                replace(document, embedding=vector.tolist())
                for document, vector in zip(documents, vectors, strict=True)
            ]
        }

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """Embed documents in a thread."""
        return await asyncio.to_thread(self.run, documents)

    def _text(self, document: Document) -> str:
        values = [document.meta.get(name) for name in self.meta_fields_to_embed]
        parts = [*(str(value) for value in values if value is not None), document.content or ""]
        return self.embedding_separator.join(parts)
