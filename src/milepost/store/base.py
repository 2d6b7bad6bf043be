"""What every store offers: it keeps and returns, and decides nothing.

A *row* is the number of one sentence (landmark) in the whole store. A document owns the run of
rows ``first … first + sentences - 1``; rows of deleted documents are never handed out again,
so a reader's numbers stay true while a writer works.

``put`` and ``delete`` are one transaction each: after a kill, a full disk or an exception the
store holds either all of a document or none of it, and the documents before it unharmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from milepost.types import Document, Mark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Entry:
    """One document on its way into a store.

    Attributes:
        document: name, text, marks, source, hash and notes are kept; blocks and locator are not.
        spans: ``(n, 2)`` int64, the sentences; they tile ``document.text``.
        vectors: ``(n, d)`` float32, unit length.
        vocab_coverage: ``(n,)`` float32 in 0–1, see ``Landmarks.vocab_coverage``.
        terms: the lexical terms of each sentence, ``n`` lists, in order, repeats kept. A term
            has no white space and at least one character; any script.
        signature: size in bytes and mtime in ns of the file, or None where there is no file.
    """

    document: Document
    spans: NDArray[np.int64]
    vectors: NDArray[np.float32]
    vocab_coverage: NDArray[np.float32]
    terms: Sequence[Sequence[str]]
    signature: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What a store tells of a document without reading its text."""

    name: str
    source: str | None
    hash: str
    signature: tuple[int, int] | None
    characters: int
    sentences: int
    first: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of one document.

    Attributes:
        first: row of the first sentence.
        spans: ``(n, 2)`` int64 offsets into the document's text.
        lengths: ``(n,)`` int32, number of terms in each.
        vocab_coverage: ``(n,)`` float32 in 0–1 (kept to 1/255).
        paragraph_starts: ``(n,)`` bool, whether it begins a paragraph, see ``paragraph_starts``.
    """

    first: int
    spans: NDArray[np.int64]
    lengths: NDArray[np.int32]
    vocab_coverage: NDArray[np.float32]
    paragraph_starts: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over all live documents.

    ``terms`` is the sum of the sentences' lengths; ``dead`` counts the rows of deleted documents
    that take up space until ``vacuum``.
    """

    documents: int
    sentences: int
    terms: int
    dead: int = 0


class Store(Protocol):
    """The contract; ``tests/store/test_store_contract.py`` runs over every implementation."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the model whose vectors are kept."""

    @property
    def dimensions(self) -> int:
        """Width ``d`` of the vectors."""

    def put(self, entry: Entry) -> None:
        """Add a document, or replace the one of the same name, in one transaction.

        Raises:
            IndexBusy: another process is writing.
            StorageFull: no space; nothing of the entry is kept.
        """

    def delete(self, name: str) -> bool:
        """Remove a document; False where there was none of that name."""

    def documents(self) -> list[DocumentInfo]:
        """All documents in order of their first row."""

    def info(self, name: str) -> DocumentInfo | None:
        """One document's record, or None."""

    def document(self, name: str) -> Document:
        """Return the whole document with its marks.

        Raises:
            KeyError: no document has that name.
        """

    def marks(self, name: str) -> tuple[Mark, ...]:
        """``document(name).marks``, without reading the text."""

    def text(self, name: str, start: int, end: int) -> str:
        """``document(name).text[start:end]``, reading no more of the text than that needs."""

    def sentences(self, name: str) -> Sentences:
        """Everything but the vectors of the sentences of one document."""

    def similarity(
        self, vector: NDArray[np.float32], first: int, count: int
    ) -> NDArray[np.float32]:
        """``(count,)`` float32: dot product of ``vector`` ``(d,)`` with rows ``first …``.

        Rows of a document that was deleted since answer until ``vacuum``.

        Raises:
            StoreError: the store does not hold all of these rows.
        """

    def vectors(self, first: int, count: int) -> NDArray[np.float32]:
        """``(count, d)`` float32: the stored vectors (as kept: rounded to the store's type)."""

    def nearest(
        self, vector: NDArray[np.float32], n: int, names: Sequence[str] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` live rows most similar to ``vector``, and their scores, best first.

        Ties go to the lower row. ``names`` limits the search to those documents.
        """

    def postings(
        self, terms: Sequence[str]
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """For each term: the live rows that hold it, ascending, and how often each does.

        A term that stands nowhere maps to two empty arrays.
        """

    def matching(
        self, terms: Sequence[str], n: int, names: Sequence[str] | None = None
    ) -> NDArray[np.int64]:
        """At most ``n`` live rows that hold one of the terms, best by BM25 of the sentence."""

    def statistics(self) -> Statistics:
        """Count over all live documents."""

    def vacuum(self) -> None:
        """Give back the space of deleted documents; rows keep their numbers.

        Raises:
            IndexBusy: another process is writing.
            StorageFull: no space for the copy; nothing is lost.
        """

    def close(self) -> None:
        """Release files; the store cannot be used afterwards."""
