"""The contract of all stores: they keep and return data, and make no decisions.

A *row* is the number of one sentence (landmark) in the whole store. A document owns the rows
``first … first + sentences - 1``. Rows of deleted documents are never reused.

``put``, ``touch`` and ``delete`` are one transaction each: after a kill, a full disk or an
exception the store contains either all of a document or none of it, and all other documents. All
data is read through a ``Snapshot``: one committed state, unaffected by concurrent writes. The
number of calls does not depend on the number of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from milepost._numpy import NDArray, np
from milepost.filters import Filter
from milepost.filters.facts import BUILT_IN
from milepost.properties import EMPTY
from milepost.types import Document, Mark, Value


@dataclass(frozen=True, slots=True)
class Entry:
    """One document to be stored.

    Attributes:
        document: name, text, marks, source, hash, notes and properties are stored; blocks and
            locator are not.
        spans: ``(n, 2)`` int64: start and end of each sentence; they tile ``document.text``.
        vectors: ``(n, d)`` float32, unit length.
        vocab_coverage: ``(n,)`` float32 in 0–1, see ``Landmarks.vocab_coverage``.
        paragraph_starts: ``(n,)`` bool, see ``index.entries.paragraph_starts``.
        terms: ``n`` lists: the lexical terms of each sentence, in order and with repeats. A term
            has at least one character, of any script, and no white space.
        signature: size in bytes and mtime in ns of the file, or None if there is no file.
        options: the reading options of the file, ``str(ReadOptions)``.
    """

    document: Document
    spans: NDArray[np.int64]
    vectors: NDArray[np.float32]
    vocab_coverage: NDArray[np.float32]
    paragraph_starts: NDArray[np.bool_]
    terms: Sequence[Sequence[str]]
    signature: tuple[int, int] | None = None
    options: str = ""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """The record of a stored document without its text.

    ``id`` identifies the document within its store until it is replaced. ``options`` are the
    reading options of the file. ``properties`` are metadata such as title, author and date.
    """

    name: str
    source: str | None
    hash: str
    signature: tuple[int, int] | None
    characters: int
    sentences: int
    first: int
    notes: tuple[str, ...] = ()
    id: int = -1
    options: str = ""
    properties: Mapping[str, Value] = EMPTY


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of some documents, concatenated.

    Attributes:
        document_offsets: ``(documents + 1,)`` int64: first sentence of each document, and ``n``.
        spans: ``(n, 2)`` int64: start and end of each sentence in its document.
        lengths: ``(n,)`` int32: number of terms of each sentence.
        vocab_coverage: ``(n,)`` float32 in 0–1, stored with a resolution of 1/255.
        paragraph_starts: ``(n,)`` bool, whether a sentence begins a paragraph.
    """

    document_offsets: NDArray[np.int64]
    spans: NDArray[np.int64]
    lengths: NDArray[np.int32]
    vocab_coverage: NDArray[np.float32]
    paragraph_starts: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over all documents of a snapshot.

    ``terms`` is the sum of the sentences' lengths; ``dead`` is the number of rows of deleted
    documents, which take up space until ``vacuum``.
    """

    documents: int
    sentences: int
    terms: int
    dead: int = 0


@dataclass(frozen=True, slots=True)
class DocumentSelection:
    """Selects the documents that a search covers; all by default.

    ``names`` selects documents by name, ``where`` by a filter; a document must pass both.
    """

    names: frozenset[str] | None = None
    where: Filter | None = None

    def check_keys(self, known: Callable[[], Collection[str]]) -> None:
        """Refuse a filter with a key that no document has, and suggest the nearest known one.

        ``known`` returns the keys of the documents, including ``document``; none, and then no key
        is refused, if there are no documents. It is called only if needed.
        """
        if self.where is not None and self.asks_for_keys and (keys := known()):
            self.where.check_keys(keys)

    @property
    def asks_for_keys(self) -> bool:
        """Whether the filter uses keys that not every document has."""
        return self.where is not None and not self.where.keys <= BUILT_IN


ALL = DocumentSelection()

Part = tuple[DocumentInfo, int, int]  # a document, and start and end of a stretch of its text


@dataclass(frozen=True, slots=True)
class Measured:
    """A question's measurements on the ``n`` sentences of some documents.

    Attributes:
        sentences: spans, lengths and flags of the sentences.
        similarity: ``(n,)`` float32: dot product of each sentence with the question's vector.
        counts: ``(n,)`` float32 for each term: its frequency in each sentence.
        frequencies: for each term the number of sentences in the whole store that contain it.
    """

    sentences: Sentences
    similarity: NDArray[np.float32]
    counts: dict[str, NDArray[np.float32]]
    frequencies: dict[str, int]


class Snapshot(Protocol):
    """One committed state of a store.

    A search calls ``select_candidates`` and ``score_inputs``, then ``texts`` for the reranker and
    ``excerpts`` for its passages; ``texts`` twice more where a question may name a long document.
    Each call is one round trip if the store is remote; ``select_candidates`` is two in large
    collections. A search never lists all documents.

    ``documents`` arguments are records returned by this snapshot; results have the same order. For
    ``sentences`` and ``vectors`` the records must be sorted by ``first``, as
    ``documents()`` returns them.
    """

    def documents(self) -> list[DocumentInfo]:
        """List all documents in order of their first row."""
        return self.select(ALL) or []

    def info(self, name: str) -> DocumentInfo | None:
        """Return a document's record, or None."""
        return next(iter(self.infos([name])), None)

    def infos(self, names: Sequence[str]) -> list[DocumentInfo]:
        """Return the records of named documents in row order; unknown names are left out."""
        return self.select(DocumentSelection(frozenset(names))) or []

    def select(
        self, among: DocumentSelection, most: int | None = None
    ) -> list[DocumentInfo] | None:
        """Return the selected documents in order of their first row.

        None if they have more sentences than ``most``, where that is a number. A key that no
        document has is refused.
        """

    def owners(self, rows: NDArray[np.int64]) -> list[DocumentInfo]:
        """Return the distinct owners of rows that this snapshot returned, in the rows' order."""

    def statistics(self) -> Statistics:
        """Count over all documents."""

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        """Return the sentences of some documents, without their vectors."""

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        """Return the stored vectors, ``(n, d)`` float32, rounded to the store's type."""

    def texts(self, parts: Sequence[Part]) -> list[str]:
        """Return ``text[start:end]`` of each part, reading no more of the texts than needed."""

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        """Return the marks of each document."""

    def select_candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        *,
        most: int,
        candidates: int,
        among: DocumentSelection = ALL,
    ) -> tuple[list[DocumentInfo], bool]:
        """Choose the documents that a search scores; those without sentences are left out.

        Args:
            vector: ``(d,)`` float32, of the question.
            terms: the question's terms.
            most: maximum number of sentences for which all documents are chosen.
            candidates: beyond that, number of rows taken from each of two lists: those most similar
                to the vector, and those that contain any of the terms, best by BM25.
            among: the documents that may be chosen.

        Returns:
            All documents in order of their first row, and True; or, if they have more than ``most``
            sentences, the owners of the candidates, taken alternately from both lists, best first,
            and False.
        """

    def score_inputs(
        self, vector: NDArray[np.float32], terms: Sequence[str], documents: Sequence[DocumentInfo]
    ) -> Measured:
        """Measure a question's vector and terms against the sentences of some documents."""

    def excerpts(self, parts: Sequence[Part]) -> list[tuple[str, tuple[Mark, ...]]]:
        """Return the ``texts`` of the parts, each with the ``marks`` of its document."""

    def postings(
        self, terms: Sequence[str], among: DocumentSelection = ALL
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Map each term to the rows that contain it, ascending, and its frequency in each.

        A term that is not in the text maps to two empty arrays. ``among`` selects documents.
        """


class Store(Protocol):
    """The contract; ``tests/store/test_store_contract.py`` tests every implementation."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the model that made the vectors."""

    @property
    def dimensions(self) -> int:
        """Width ``d`` of the vectors."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Hold the newest committed state for the duration of a ``with`` block.

        A snapshot never waits for a writer or another snapshot; it belongs to one thread.
        """

    def put(self, entry: Entry) -> None:
        """Add a document, or replace the one of the same name, in one transaction.

        Nothing of it is stored if there is no space (``StorageFull``).
        """

    def touch(self, info: DocumentInfo) -> bool:
        """Give the document of a name, whose text has not changed, another record.

        That is its signature, options and properties. False if there is none of that name.
        """

    def delete(self, name: str) -> bool:
        """Remove a document; return False if there was none of that name."""

    def vacuum(self, *, now: bool = False) -> None:
        """Reclaim the space of deleted documents; rows keep their numbers.

        ``now`` leaves no byte of them in the files of the index, even if searches that have begun
        fail for it; ``IndexBusy`` where another process reads. Without space for the copy nothing
        is lost.
        """

    def remains(self, *, now: bool) -> str:
        """Say what still holds bytes of deleted documents, and until when; empty if nothing does.

        ``now``: after ``vacuum(now=True)``; an error where the store refuses that.
        """

    def optimize(self) -> None:
        """Build the indexes that speed up large collections; called after adding documents."""

    def close(self) -> None:
        """Close all files; the store cannot be used afterwards."""


def stored_document(state: Snapshot, info: DocumentInfo) -> Document:
    """Read a document as it was put; it has no locator."""
    return Document(
        name=info.name,
        text=state.texts([(info, 0, info.characters)])[0],
        marks=state.marks([info])[0],
        source=info.source,
        hash=info.hash,
        notes=info.notes,
        properties=info.properties,
    )
