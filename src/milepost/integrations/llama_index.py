"""Milepost in LlamaIndex: a retriever over an index, and an embedding model.

    from milepost.integrations.llama_index import MilepostRetriever
    retriever = MilepostRetriever("reports.milepost", k=3)
    nodes = retriever.retrieve("Who signed the contract?")

Needs ``llama-index-core``: ``pip install '.[llama-index]'`` in a clone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    QueryType,
    RelatedNodeInfo,
    TextNode,
)

from milepost.encoder import Encoder, load
from milepost.encoder.embedding import embed_documents, embed_query
from milepost.encoder.engine.folder import model_of
from milepost.errors import WrongType
from milepost.filters import Filter
from milepost.index.naming import Name
from milepost.integrations import retrieval
from milepost.types import Passage


class MilepostRetriever(BaseRetriever):
    """Passages of an index as nodes with scores, best first.

    A node's text is the passage; ``start_char_idx`` and ``end_char_idx`` are its offsets; its
    metadata holds its other fields, as ``milepost search --json`` names them, and the document's
    properties, of which a language model is shown document, place ("page 7"), heading, title,
    author, date and url. ``retrieve`` and ``aretrieve`` take ``k``, ``budget``, ``documents``,
    ``min_score``, ``rerank`` and ``where``, too, for one question; ``aretrieve`` runs in a thread.
    Sentences beside one another are one passage, so there may be fewer than ``k``.

    Args:
        index: the folder of an index, or an open ``Index``.
        k, budget, documents, min_score, rerank, where: as in ``Index.search``.
        model: name or folder of the model that made the index; None for the default.
        callback_manager: LlamaIndex's own.

    Raises:
        StoreError: the folder holds no index, or one of another model or schema.
    """

    def __init__(
        self,
        index: retrieval.IndexSource,
        k: int | None = None,
        *,
        budget: str | int | None = None,
        documents: Name | Sequence[Name] | None = None,
        min_score: float = 0.0,
        rerank: bool = True,
        where: str | Filter | None = None,
        model: str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._limits: dict[str, Any] = {
            "k": k,
            "budget": budget,
            "documents": documents,
            "min_score": min_score,
            "rerank": rerank,
            "where": where,
        }
        retrieval.check_options(self._limits)
        self._held = retrieval.Held(index, model)

    def retrieve(self, str_or_query_bundle: QueryType, **options: Any) -> list[NodeWithScore]:
        """Search; ``options`` go before those of the retriever, for this question."""
        if options:
            return self._changed(options).retrieve(str_or_query_bundle)
        found: list[NodeWithScore] = super().retrieve(str_or_query_bundle)
        return found

    async def aretrieve(
        self, str_or_query_bundle: QueryType, **options: Any
    ) -> list[NodeWithScore]:
        """Search in a thread; see ``retrieve``."""
        if options:
            return await self._changed(options).aretrieve(str_or_query_bundle)
        found: list[NodeWithScore] = await super().aretrieve(str_or_query_bundle)
        return found

    def _changed(self, options: dict[str, Any]) -> MilepostRetriever:
        """Make a retriever with other options; several threads may ask with their own."""
        retrieval.check_options(options)
        other = copy(self)
        other._limits = self._limits | options
        return other

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._held.search(query_bundle.query_str, **self._limits)
        return [NodeWithScore(node=_node(*each), score=each[0].score) for each in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class MilepostEmbedding(BaseEmbedding):
    """Vectors of texts and questions, for LlamaIndex's vector stores.

    A text of any length is read whole; its vector is the mean of its landmarks. Questions are read
    with the model's instruction for questions. All vectors are of unit length. The async methods
    run in a thread.

    Args:
        model: an encoder, a shipped model's name or a model folder; None for ``model_name``, under
            which LlamaIndex saves a model, or the default.
        embed_batch_size: maximum number of texts read together.
        **settings: other fields of ``BaseEmbedding``.

    Raises:
        TypeError: it has no such field.
        ModelError: the model is missing or damaged.
    """

    _encoder: Encoder = PrivateAttr()

    def __init__(
        self, model: Encoder | str | None = None, *, embed_batch_size: int = 256, **settings: Any
    ) -> None:
        for name in settings.keys() - type(self).model_fields.keys():
            raise WrongType(f"{name!r} is no field of an embedding model", "leave it out")
        asked = settings.get("model_name") if model is None else model
        encoder = asked if isinstance(asked, Encoder) else load(asked)
        name = encoder.manifest.name
        if encoder.folder.is_dir() and model_of(encoder.fingerprint) is None:
            name = str(encoder.folder)
        super().__init__(embed_batch_size=embed_batch_size, **{"model_name": name, **settings})
        self._encoder = encoder

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes the class down."""
        return "MilepostEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = embed_query(self._encoder, query).tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = embed_documents(self._encoder, texts).tolist()
        return vectors

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


def _node(passage: Passage, known: dict[str, Any]) -> TextNode:
    hidden = [name for name, value in known.items() if name not in retrieval.SHOWN or value is None]
    return TextNode(
        id_=retrieval.identifier(passage),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.document)},
        text=passage.text,
        start_char_idx=passage.start,
        end_char_idx=passage.end,
        metadata=known,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
