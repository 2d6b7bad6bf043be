"""Which sentences are looked at closely, and what a question's words and vector say of each.

Where everything in question is small, all of it is looked at; else the documents that hold the
best candidates of the two lists (nearest landmarks, matching words), whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milepost.errors import StoreError
from milepost.search.lexical import bm25, idf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.store.base import DocumentInfo, Sentences, Store

EVERYTHING = 60_000
"""Sentences up to which all are looked at: 60,000 landmarks of width 384 are scanned in some
20 ms, and no candidate can be missed."""

CANDIDATES = 400
"""Rows taken from each of the two lists beyond that."""


class Moved(Exception):
    """A writer has replaced or removed a document while it was looked at; ask again."""


@contextmanager
def unmoved(name: str) -> Iterator[None]:
    """Ask a store of a document that was there a moment ago.

    Raises:
        Moved: it is gone.
    """
    try:
        yield
    except KeyError:
        raise Moved(name) from None


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
        idf: of each of the question's terms, 0 for those that stand nowhere.
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
        """The document that sentence ``number`` stands in."""
        return int(self.document_offsets.searchsorted(number, side="right")) - 1


def gather(
    store: Store,
    vector: NDArray[np.float32],
    terms: Sequence[str],
    names: Sequence[str] | None = None,
) -> Scope:
    """Measure the question against the store.

    Args:
        store: where to look.
        vector: ``(d,)`` the question's vector.
        terms: its distinct terms.
        names: only these documents.

    Raises:
        Moved: a document was replaced or removed meanwhile.
    """
    import numpy as np

    documents = _documents(store, vector, terms, names)
    sentences = [_sentences(store, info) for info in documents]
    sizes = [len(part.spans) for part in sentences]
    document_offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)
    count = int(document_offsets[-1])
    statistics = store.statistics()
    postings = store.postings(terms)
    firsts = np.array([part.first for part in sentences], np.int64)
    counts: dict[str, NDArray[np.float32]] = {}
    weight: dict[str, float] = {}
    for term, (rows, often) in postings.items():
        weight[term] = idf(len(rows), statistics.sentences) if len(rows) else 0.0
        counts[term] = _placed(rows, often, firsts, document_offsets, count)
    lengths = _joined([part.lengths for part in sentences], (0,)).astype(np.float32)
    mean = statistics.terms / max(1, statistics.sentences)
    known = {term: weight for term, weight in weight.items() if weight > 0.0}
    return Scope(
        documents=documents,
        document_offsets=document_offsets,
        spans=_joined([part.spans for part in sentences], (0, 2)).astype(np.int64, copy=False),
        similarity=_joined(
            [
                _similarity(store, vector, info.name, part)
                for info, part in zip(documents, sentences, strict=True)
            ],
            (0,),
        ).astype(np.float32),
        lexical=bm25(counts, lengths, document_offsets, known, mean),
        vocab_coverage=_joined([part.vocab_coverage for part in sentences], (0,)).astype(
            np.float32
        ),
        paragraph_starts=_joined([part.paragraph_starts for part in sentences], (0,)).astype(
            np.bool_
        ),
        idf=weight,
        counts=counts,
    )


def _sentences(store: Store, info: DocumentInfo) -> Sentences:
    with unmoved(info.name):
        found = store.sentences(info.name)
    if found.first != info.first:
        raise Moved(info.name)
    return found


def _similarity(
    store: Store, vector: NDArray[np.float32], name: str, part: Sentences
) -> NDArray[np.float32]:
    try:
        return store.similarity(vector, part.first, len(part.spans))
    except StoreError:
        now = store.info(name)
        if now is None or now.first != part.first:  # and a vacuum has dropped the old rows
            raise Moved(name) from None
        raise


def _documents(
    store: Store,
    vector: NDArray[np.float32],
    terms: Sequence[str],
    names: Sequence[str] | None,
) -> list[DocumentInfo]:
    """Documents to look at, in the store's order; those without sentences are left out."""
    wanted = None if names is None else set(names)
    documents = [
        info
        for info in store.documents()
        if info.sentences and (wanted is None or info.name in wanted)
    ]
    if sum(info.sentences for info in documents) <= EVERYTHING:
        return documents
    import numpy as np

    rows, _ = store.nearest(vector, CANDIDATES, names)
    matching = store.matching(terms, CANDIDATES, names)
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
    count: int,
) -> NDArray[np.float32]:
    """A term's counts on the sentences of the scope, ``(count,)``."""
    import numpy as np

    placed = np.zeros(count, np.float32)
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


def _joined(parts: list[NDArray[np.generic]], empty: tuple[int, ...]) -> NDArray[np.generic]:
    import numpy as np

    return np.concatenate(parts) if parts else np.zeros(empty)
