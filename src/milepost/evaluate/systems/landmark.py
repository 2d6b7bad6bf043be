"""Milepost itself: the whole search, and its landmarks alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from milepost.encoder import Encoder
from milepost.evaluate.systems.units import Scored, Units
from milepost.evaluate.types import Place
from milepost.intake import entry, hashed
from milepost.reranker import BoundReranker, Reranker
from milepost.search import question_terms, search
from milepost.search.ranking import Ranked, Ranking
from milepost.search.scope import gather
from milepost.search.searcher import again_of
from milepost.store import open_store
from milepost.types import Document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.store import Store


class Milepost:
    """``index.search`` as users have it: landmarks and words, fused by the model's numbers.

    Args:
        name: the system's name.
        encoder: the model.
        again: let the model's reranker, where it has one, read the best places again.
    """

    def __init__(self, name: str, encoder: Encoder, *, again: bool = True) -> None:
        self.name = name
        self._encoder = encoder
        self._reranker = Reranker.of(encoder) if again else None
        parts = encoder.fingerprint, *([self._reranker.fingerprint] if self._reranker else [])
        self.fingerprint = "+".join(parts)

    def open(self, documents: Sequence[Document]) -> _OpenMilepost:
        """See ``System.open``."""
        return _OpenMilepost(self._encoder, self._reranker, documents)


class _OpenMilepost:
    def __init__(
        self, encoder: Encoder, reranker: Reranker | None, documents: Sequence[Document]
    ) -> None:
        self._encoder, self._reranker = encoder, reranker
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
            told = self._reranker.for_query(question) if self._reranker else None
            asked = _Once(told) if told else None
            yield _Answered(self._encoder, self._ranking, asked, self._store, self._texts, question)


class _Once:
    """A reranker that reads the same places once, whatever the budgets asked about."""

    def __init__(self, asked: BoundReranker) -> None:
        self._asked, self.tokens, self.room = asked, asked.tokens, asked.room
        self._known: dict[str, list[NDArray[np.float32]]] = {}

    def cosines(self, places: Sequence[Sequence[Sequence[int]]]) -> list[NDArray[np.float32]]:
        key = repr(places)
        if key not in self._known:
            self._known[key] = self._asked.cosines(places)
        return self._known[key]


class _Answered:
    """One question: passages as users see them, sentences and documents by score."""

    def __init__(
        self,
        encoder: Encoder,
        ranking: Ranking,
        reranker: _Once | None,
        store: Store,
        texts: dict[str, str],
        question: str,
    ) -> None:
        self._store, self._texts = store, texts
        self._vector = encoder.encode_query(question)
        self._terms = question_terms(question)
        self._vocab_coverage = encoder.vocab_coverage(question)
        self._ranking, self._reranker = ranking, reranker

    def spend(self, budget: int) -> list[Place]:
        """The passages of a search with this budget."""
        answer = search(
            self._store,
            self._vector,
            self._terms,
            vocab_coverage=self._vocab_coverage,
            ranking=self._ranking,
            reranker=self._reranker,
            k=None,
            budget=budget,
        )
        return [Place(p.document, p.start, p.end, p.score) for p in answer.passages]

    def best(self, most: int) -> list[Place]:
        """Sentences by score."""
        return self._scored.best(most)

    def documents(self, most: int) -> list[str]:
        """Documents by the score of their best sentence."""
        return self._scored.documents(most)

    @cached_property
    def _scored(self) -> Scored:
        scope = gather(self._store, self._vector, self._terms)
        documents = tuple(Document(d.name, self._texts[d.name]) for d in scope.documents)
        units = Units(documents, scope.spans, scope.document_offsets)
        if not len(units):
            return Scored(units, scope.similarity)
        again = again_of(self._store, scope, self._reranker)
        return Scored(units, Ranked(scope, self._vocab_coverage, self._ranking, again).score)


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
