"""Milepost in LangChain: a retriever over an index, and embeddings.

    from milepost.integrations.langchain import MilepostRetriever
    retriever = MilepostRetriever(index="reports.milepost", k=3)
    documents = retriever.invoke("Who signed the contract?")

Needs ``langchain-core``: ``pip install '.[langchain]'`` in a clone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PrivateAttr

from milepost.encoder import Encoder, load
from milepost.encoder.embedding import embed_documents, embed_query
from milepost.filters import Filter
from milepost.index.naming import Name
from milepost.integrations.retrieval import OPTIONS, Held, check_options, identifier


class MilepostRetriever(BaseRetriever):
    """Passages of an index as LangChain documents, best first.

    ``invoke`` and ``ainvoke`` take ``k``, ``budget``, ``documents``, ``min_score``, ``rerank`` and
    ``where``, too, for one question; other arguments are refused. ``page_content`` is the passage;
    ``metadata`` holds its other fields, as ``milepost search --json`` names them, and the
    document's properties. Sentences beside one another are one passage, so there may be fewer than
    ``k``.

    Attributes:
        index: the folder of an index, or an open ``Index``.
        k, budget, documents, min_score, rerank, where: as in ``Index.search``.
        model: name or folder of the model that made the index; None for the default.
    """

    # Else a misspelt or foreign argument, such as a filter, would be dropped in silence.
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    index: Any
    k: int | None = None
    budget: str | int | None = None
    documents: Name | Sequence[Name] | None = None
    min_score: float = 0.0
    rerank: bool = True
    where: str | Filter | None = None
    model: str | None = None
    _held: Held = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Open the index; the model loads with the first question."""
        super().model_post_init(context)
        check_options(self._limits())
        self._held = Held(self.index, self.model)

    def _limits(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in OPTIONS}

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        **options: Any,
    ) -> list[Document]:
        check_options(options)
        self._held = self._held.of(self.index, self.model)
        return [
            Document(page_content=passage.text, id=identifier(passage), metadata=metadata)
            for passage, metadata in self._held.search(query, **(self._limits() | options))
        ]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,
        **options: Any,
    ) -> list[Document]:
        # LangChain's own version would leave out the options.
        return await asyncio.to_thread(self._get_relevant_documents, query, **options)


class MilepostEmbeddings(Embeddings):
    """Vectors of texts and questions, for LangChain's vector stores.

    A text of any length is read whole; its vector is the mean of its landmarks. All vectors are of
    unit length. The async methods run in a thread.

    Args:
        model: an encoder, a shipped model's name or a model folder; None for the default.

    Raises:
        ModelError: the model is missing or damaged.
    """

    def __init__(self, model: Encoder | str | os.PathLike[str] | None = None) -> None:
        self._encoder = model if isinstance(model, Encoder) else load(model)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The document vector of each text; zeros for white space."""
        vectors: list[list[float]] = embed_documents(self._encoder, texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question, read with the model's instruction for questions."""
        vector: list[float] = embed_query(self._encoder, text).tolist()
        return vector
