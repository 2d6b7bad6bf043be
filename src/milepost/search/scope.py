"""Which sentences are scored, and what a question's words and vector say of each.

Where a search covers few sentences, all of them are scored; else the documents that hold the best
candidates of two lists (nearest landmarks, matching words), whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from milepost.search.lexical import bm25, idf
from milepost.store.base import Among

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.search.query import Query
    from milepost.store.base import DocumentInfo, Snapshot

EVERYTHING = 60_000
"""Sentences up to which all are scored: 60,000 landmarks of width 384 are scanned in some 20 ms,
and no candidate can be missed."""

CANDIDATES = 400
"""Rows taken from each of the two lists beyond that."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The sentences of some documents, in order, with what was measured on them.

    Attributes:
        documents: the documents, in order.
        document_offsets: ``(documents + 1,)`` int64: first sentence of each, and ``n``.
        spans: ``(n, 2)`` int64 offsets into each one's document.
        similarity: ``(n,)`` float32, landmark · question.
        lexical: ``(3, n)`` float32: BM25 of the sentence, with one and three neighbours.
        vocab_coverage: ``(n,)`` float32, see ``Landmarks.vocab_coverage``.
        paragraph_starts: ``(n,)`` bool; the first sentence of a document starts one.
        idf: of each of the question's terms, 0 for those that are not in the text.
        counts: for each term how often each sentence holds it, ``(n,)`` float32.
    """

    documents: list[DocumentInfo]
    document_offsets: NDArray[np.int64]
    spans: NDArray[np.int64]
    similarity: NDArray[np.float32]
    lexical: NDArray[np.float32]
    vocab_coverage: NDArray[np.float32]
    paragraph_starts: NDArray[np.bool_]
    idf: dict[str, float]
    counts: dict[str, NDArray[np.float32]]

    def owner(self, number: int) -> int:
        """The document that sentence ``number`` is in."""
        return int(self.document_offsets.searchsorted(number, side="right")) - 1

    def part(self, first: int, last: int) -> tuple[DocumentInfo, int, int]:
        """Document, start and end of sentences ``first … last - 1``, which are in one document."""
        return (
            self.documents[self.owner(first)],
            int(self.spans[first, 0]),
            int(self.spans[last - 1, 1]),
        )


def gather(snapshot: Snapshot, query: Query, holding: frozenset[str] | None = None) -> Scope:
    """Measure the question against a state of a store, in at most three of its calls.

    Args:
        snapshot: the state.
        query: the question.
        holding: names of the documents that hold its phrases; None where it has none. In large
            collections only these are scored.
    """
    documents = _documents(snapshot, query, holding)
    found = snapshot.measure(query.vector, query.terms, documents)
    sentences, statistics = found.sentences, found.statistics
    weights = {
        term: idf(often, statistics.sentences) if often else 0.0
        for term, often in found.frequencies.items()
    }
    known = {term: weight for term, weight in weights.items() if weight > 0.0}
    mean = statistics.terms / max(1, statistics.sentences)
    lengths, offsets = sentences.lengths.astype("float32"), sentences.document_offsets
    return Scope(
        documents=documents,
        document_offsets=offsets,
        spans=sentences.spans,
        similarity=found.similarity,
        lexical=bm25(found.counts, lengths, offsets, known, mean),
        vocab_coverage=sentences.vocab_coverage,
        paragraph_starts=sentences.paragraph_starts,
        idf=weights,
        counts=found.counts,
    )


def _documents(
    snapshot: Snapshot, query: Query, holding: frozenset[str] | None
) -> list[DocumentInfo]:
    """Documents to score, in the store's order; those without sentences are left out."""

    def choose(among: Among) -> tuple[list[DocumentInfo], bool]:
        return snapshot.choose(
            query.vector,
            query.terms,
            most=EVERYTHING,
            candidates=CANDIDATES,
            among=among,
        )

    documents, complete = choose(query.among)
    if not complete and holding is not None:
        documents, complete = choose(Among(holding))
    if complete:
        return documents
    # The best ones, until they are enough. The last one may go beyond: a document larger than the
    # limit must be found as well.
    sizes = list(accumulate((info.sentences for info in documents), initial=0))
    chosen = [info for info, before in zip(documents, sizes, strict=False) if before < EVERYTHING]
    return sorted(chosen, key=lambda info: info.first)
