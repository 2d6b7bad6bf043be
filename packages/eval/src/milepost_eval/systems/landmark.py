"""Milepost itself: the whole search, and its landmarks alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from milepost.encoder import Encoder
from milepost.encoder.reranker import LandmarkReranker, preload_judge
from milepost.index.entries import entry, hashed
from milepost.search import Limits, Query, SearchModel, SearchResult, search
from milepost.search.ranking import Ranking, rank
from milepost.search.reranking import BoundReranker
from milepost.search.scope import gather
from milepost.store import open_store
from milepost.types import Document
from milepost.verdicts import WindowReading
from milepost_eval.systems.units import Scored, Units
from milepost_eval.types import Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.store import Store


class Milepost:
    """``index.search`` as users have it: landmarks and words, fused by the model's numbers.

    Args:
        name: the system's name.
        encoder: the model.
        rerank: let the model's reranker, if it has one, score the best windows.
    """

    def __init__(self, name: str, encoder: Encoder, *, rerank: bool = True) -> None:
        self.name = name
        self._encoder = encoder
        self._reranker = LandmarkReranker.of(encoder) if rerank else None
        loading = preload_judge(encoder) if rerank else None
        self._judge = loading.loaded() if loading else None
        used = (encoder, self._reranker, self._judge)
        self.fingerprint = "+".join(each.fingerprint for each in used if each)

    def open(self, documents: Sequence[Document]) -> _OpenMilepost:
        """See ``System.open``."""
        return _OpenMilepost(self._encoder, self._reranker, self._judge, documents)


class _OpenMilepost:
    def __init__(
        self,
        encoder: Encoder,
        reranker: LandmarkReranker | None,
        judge: LandmarkReranker | None,
        documents: Sequence[Document],
    ) -> None:
        self._encoder, self._reranker, self._judge = encoder, reranker, judge
        self._ranking = Ranking.read(encoder.manifest.fusion, encoder.folder)
        self._texts = {document.name: document.text for document in documents}
        self._store = open_store(
            None, fingerprint=encoder.fingerprint, dimensions=encoder.dimensions
        )
        self.tokens = 0
        for document in documents:
            marks = encoder.encode(document)
            parts = marks.spans, marks.vectors, marks.vocab_coverage
            self._store.put(entry(hashed(document), parts, None))
            self.tokens += marks.tokens_read

    def search(self, questions: Sequence[str]) -> Iterator[_Answered]:
        for question in questions:
            reranker = _CachedReranker(self._reranker) if self._reranker else None
            model = SearchModel(
                self._ranking,
                reranker,
                self._encoder.count_tokens,
                encode=self._encoder.encode_query,
                judge=self._judge,
            )
            query = Query.parse(question, self._encoder, operators=False)
            yield _Answered(self._store, self._texts, query, model)


class _CachedReranker:
    """A reranker that scores the same windows of a question once, whatever the budget."""

    def __init__(self, reranker: LandmarkReranker) -> None:
        self._reranker = reranker
        self._bound: dict[str, BoundReranker | None] = {}
        self._question = ""
        self._scored: dict[str, Sequence[WindowReading]] = {}

    def for_query(self, question: str) -> _CachedReranker | None:
        if question not in self._bound:
            self._bound[question] = self._reranker.for_query(question)
        self._question = question
        return self if self._bound[question] else None

    @property
    def _asked(self) -> BoundReranker:
        bound = self._bound.get(self._question)
        if bound is None:
            raise ValueError("for_query comes first")
        return bound

    @property
    def room(self) -> int:
        return self._asked.room

    def tokens(self, sentences: Sequence[str]) -> Sequence[Sequence[int]]:
        return self._asked.tokens(sentences)

    def read(self, windows: Sequence[Sequence[Sequence[int]]]) -> Sequence[WindowReading]:
        key = self._question + repr(windows)
        if key not in self._scored:
            self._scored[key] = self._asked.read(windows)
        return self._scored[key]


class _Answered:
    """One question: passages as users see them, sentences and documents by score."""

    def __init__(
        self, store: Store, texts: dict[str, str], query: Query, model: SearchModel
    ) -> None:
        self._store, self._texts, self._query, self._model = store, texts, query, model

    def spend(self, budget: int) -> list[Place]:
        """The passages of a search with this budget."""
        # Without a minimum the passages do not depend on the judge.
        model = replace(self._model, judge=None)
        passages = self._search(Limits.parse(budget=budget), model).passages
        return [Place(p.document, p.start, p.end, p.score) for p in passages]

    def strongest(self) -> Place | None:
        """The best sentence of the first passage of a search as users have it."""
        for passage in self.shown.passages:
            hit = passage.best
            return Place(passage.document, hit.start, hit.end, hit.score)
        return None

    @cached_property
    def shown(self) -> SearchResult:
        """See ``Ranking.shown``."""
        return self._search(Limits.parse(), self._model)

    def _search(self, limits: Limits, model: SearchModel) -> SearchResult:
        with self._store.snapshot() as state:
            return search(state, replace(self._query, limits=limits), model)

    def best(self, most: int) -> list[Place]:
        """Sentences by score."""
        return self._scored.best(most)

    def documents(self, most: int) -> list[str]:
        """Documents by the score of their best sentence."""
        return self._scored.documents(most)

    @cached_property
    def _scored(self) -> Scored:
        with self._store.snapshot() as state:
            scope = gather(state, self._query)
            documents = tuple(Document(d.name, self._texts[d.name]) for d in scope.documents)
            units = Units(documents, scope.spans, scope.document_offsets)
            if not len(units):
                return Scored(units, scope.similarity)
            model = self._model
            return Scored(
                units, rank(state, scope, self._query, model.ranking, model.reranker).score
            )


class Landmarks:
    """The landmark vectors alone: cosine of each sentence's landmark with the question.

    Args:
        name: the system's name.
        encoder: the model.
    """

    def __init__(self, name: str, encoder: Encoder) -> None:
        self.name = name
        self.fingerprint = encoder.fingerprint
        self._encoder = encoder

    def open(self, documents: Sequence[Document]) -> OpenLandmarks:
        """See ``System.open``."""
        return OpenLandmarks(self._encoder, documents)


class OpenLandmarks:
    """Sentences of some documents with their landmarks.

    Attributes:
        units: the sentences.
        tokens: tokens read.
    """

    def __init__(self, encoder: Encoder, documents: Sequence[Document]) -> None:
        import numpy as np

        self._encoder = encoder
        marks = [encoder.encode(document) for document in documents]
        self.tokens = sum(each.tokens_read for each in marks)
        document_offsets = np.cumsum([0, *(len(each.spans) for each in marks)], dtype=np.int64)
        spans = np.concatenate([np.zeros((0, 2), np.int64), *(each.spans for each in marks)])
        self.units = Units(tuple(documents), spans, document_offsets)
        self._vectors: NDArray[np.float32] = np.concatenate(
            [np.zeros((0, encoder.dimensions), np.float32), *(each.vectors for each in marks)]
        )

    def scores(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """``(q, n)`` float32 cosines."""
        import numpy as np

        asked = np.array([self._encoder.encode_query(question) for question in questions])
        scores: NDArray[np.float32] = asked.reshape(-1, self._encoder.dimensions) @ self._vectors.T
        return scores

    def search(self, questions: Sequence[str]) -> Iterator[Scored]:
        """See ``Opened.search``."""
        for row in self.scores(questions):
            yield Scored(self.units, row)
