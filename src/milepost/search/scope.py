"""Which sentences are scored, and what a question's words and vector say of each.

Where a search covers few sentences, all of them are scored; else the documents that hold the best
candidates of two lists (nearest landmarks, matching words), whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from milepost.search.lexical import bm25, idf

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
    """Measure the question against a state of a store, in at most seven of its calls.

    Args:
        snapshot: the state.
        query: the question.
        holding: names of the documents that hold its phrases; None where it has none. In large
            collections only these are scored.
    """
    import numpy as np

    documents = _documents(snapshot, query, holding)
    sentences = snapshot.sentences(documents)
    offsets = sentences.document_offsets
    statistics = snapshot.statistics()
    firsts = np.array([info.first for info in documents], np.int64)
    counts: dict[str, NDArray[np.float32]] = {}
    weights: dict[str, float] = {}
    for term, (rows, often) in snapshot.postings(query.terms).items():
        weights[term] = idf(len(rows), statistics.sentences) if len(rows) else 0.0
        counts[term] = _placed(rows, often, firsts, offsets)
    known = {term: weight for term, weight in weights.items() if weight > 0.0}
    mean = statistics.terms / max(1, statistics.sentences)
    return Scope(
        documents=documents,
        document_offsets=offsets,
        spans=sentences.spans,
        similarity=snapshot.similarity(query.vector, documents),
        lexical=bm25(counts, sentences.lengths.astype(np.float32), offsets, known, mean),
        vocab_coverage=sentences.vocab_coverage,
        paragraph_starts=sentences.paragraph_starts,
        idf=weights,
        counts=counts,
    )


def _documents(
    snapshot: Snapshot, query: Query, holding: frozenset[str] | None
) -> list[DocumentInfo]:
    """Documents to score, in the store's order; those without sentences are left out."""
    wanted = query.documents
    documents = [
        info
        for info in snapshot.documents()
        if info.sentences and (wanted is None or info.name in wanted)
    ]
    if sum(info.sentences for info in documents) <= EVERYTHING:
        return documents
    if holding is not None:
        wanted = holding
        documents = [info for info in documents if info.name in wanted]
        if sum(info.sentences for info in documents) <= EVERYTHING:
            return documents
    import numpy as np

    among = None if wanted is None else documents
    rows, _ = snapshot.nearest(query.vector, CANDIDATES, among)
    matching = snapshot.matching(query.terms, CANDIDATES, among)
    firsts = np.array([info.first for info in documents], np.int64)
    # Best candidates of both lists in turn, until the documents that hold them are enough. The
    # last one may go beyond: a document larger than the limit must be found as well.
    chosen: set[int] = set()
    total = 0
    for rank in range(max(len(rows), len(matching))):
        for row in (*rows[rank : rank + 1], *matching[rank : rank + 1]):
            number = int(np.searchsorted(firsts, row, side="right")) - 1
            if number not in chosen and total < EVERYTHING:
                chosen.add(number)
                total += documents[number].sentences
    return [documents[number] for number in sorted(chosen)]


def _placed(
    rows: NDArray[np.int64],
    often: NDArray[np.int32],
    firsts: NDArray[np.int64],
    document_offsets: NDArray[np.int64],
) -> NDArray[np.float32]:
    """A term's counts on the sentences of the scope, ``(n,)``."""
    import numpy as np

    placed = np.zeros(int(document_offsets[-1]), np.float32)
    if not len(rows) or not len(firsts):
        return placed
    # Documents come in order of their first row, so rows are found by bisection.
    document = np.searchsorted(firsts, rows, side="right") - 1
    inside = document >= 0
    document, rows, often = document[inside], rows[inside], often[inside]
    offset = rows - firsts[document]
    inside = offset < (document_offsets[document + 1] - document_offsets[document])
    placed[document_offsets[document[inside]] + offset[inside]] = often[inside]
    return placed
