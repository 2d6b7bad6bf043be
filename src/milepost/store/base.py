"""What every store offers: it keeps and returns, and decides nothing.

A *row* is the number of one sentence (landmark) in the whole store. A document owns the run of
rows ``first … first + sentences - 1``. Rows of deleted documents are never handed out again.

``put``, ``touch`` and ``delete`` are one transaction each: after a kill, a full disk or an
exception the store holds either all of a document or none of it, and the other documents
unharmed. Everything is read through a ``Snapshot``: one committed state, whatever is written
meanwhile, in a number of calls that does not depend on the number of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from milepost.filters.facts import BUILT_IN
from milepost.properties import EMPTY
from milepost.types import Document, Mark, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.filters import Filter


@dataclass(frozen=True, slots=True)
class Entry:
    """One document on its way into a store.

    Attributes:
        document: name, text, marks, source, hash, notes and properties are kept; blocks and
            locator are not.
        spans: ``(n, 2)`` int64, the sentences; they tile ``document.text``.
        vectors: ``(n, d)`` float32, unit length.
        vocab_coverage: ``(n,)`` float32 in 0–1, see ``Landmarks.vocab_coverage``.
        paragraph_starts: ``(n,)`` bool, see ``paragraphs.paragraph_starts``.
        terms: the lexical terms of each sentence, ``n`` lists, in order, repeats kept. A term
            has no white space and at least one character; any script.
        signature: size in bytes and mtime in ns of the file, or None where there is no file.
        options: how the file was read, ``str(ReadOptions)``.
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
    """What a store says of a document without reading its text.

    ``id`` names the document within its store, for as long as it is not replaced. ``options``
    says how the file was read. ``properties`` are title, author, date and what else is known of
    it.
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
    """The sentences of some documents, one document behind the other.

    Attributes:
        document_offsets: ``(documents + 1,)`` int64: first sentence of each, and ``n``.
        spans: ``(n, 2)`` int64 offsets into each one's document.
        lengths: ``(n,)`` int32, number of terms in each.
        vocab_coverage: ``(n,)`` float32 in 0–1 (kept to 1/255).
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

    ``terms`` is the sum of the sentences' lengths; ``dead`` counts the rows of deleted documents
    that take up space until ``vacuum``.
    """

    documents: int
    sentences: int
    terms: int
    dead: int = 0


@dataclass(frozen=True, slots=True)
class Among:
    """Which documents a search covers; by default all.

    ``names`` limits it to the documents named, ``where`` to those that a filter leaves; both count.
    """

    names: frozenset[str] | None = None
    where: Filter | None = None

    def check_keys(self, known: Callable[[], Collection[str]]) -> None:
        """Refuse a filter with a key that no document has.

        Args:
            known: gives keys that documents have, ``document`` among them, or none where there
                are no documents: then nothing is refused. Called only where it is needed.

        Raises:
            InputError: a key is unknown, with the nearest that is known.
        """
        if self.asks_for_keys and (keys := known()):
            assert self.where is not None
            self.where.check_keys(keys)

    @property
    def asks_for_keys(self) -> bool:
        """Whether the filter has keys that not every document has."""
        return self.where is not None and not self.where.keys <= BUILT_IN


EVERYWHERE = Among()


@dataclass(frozen=True, slots=True)
class Measured:
    """What a store says of a question and the ``n`` sentences of some documents.

    Attributes:
        sentences: their places, lengths and flags.
        similarity: ``(n,)`` float32, dot product of each with the question's vector.
        counts: for each term how often each sentence holds it, ``(n,)`` float32.
        frequencies: for each term how many sentences of the whole store hold it.
        statistics: counts over the whole store.
    """

    sentences: Sentences
    similarity: NDArray[np.float32]
    counts: dict[str, NDArray[np.float32]]
    frequencies: dict[str, int]
    statistics: Statistics


class Snapshot(Protocol):
    """One committed state of a store.

    A search asks ``choose`` and ``measure``, then ``texts`` for the reranker and ``excerpts`` for
    its passages: four calls, each of them one round trip where the store is on a network (among
    many documents ``choose`` is two). It never asks for the list of all documents.

    ``documents`` arguments are records that this snapshot has returned; results come in the order
    given. Where documents are asked for by ``first`` row order matters (``sentences``,
    ``similarity``, ``vectors``), they must ascend by ``first``, as ``documents()`` returns them.
    """

    def documents(self) -> list[DocumentInfo]:
        """All documents in order of their first row."""

    def info(self, name: str) -> DocumentInfo | None:
        """One document's record, or None."""

    def infos(self, names: Sequence[str]) -> list[DocumentInfo]:
        """The records of the documents named, in order of their first row; others are left out."""

    def select(self, among: Among, most: int | None = None) -> list[DocumentInfo] | None:
        """The documents of ``among`` in order of their first row.

        Args:
            among: which ones.
            most: None is returned where they have more sentences than this; None for no limit.

        Raises:
            InputError: the filter has a key that no document has.
        """

    def owners(self, rows: NDArray[np.int64]) -> list[DocumentInfo]:
        """The documents that own rows which this snapshot gave, each once, in their order."""

    def keys(self) -> frozenset[str]:
        """Keys of the documents' properties, ``document`` among them; none without documents."""

    def statistics(self) -> Statistics:
        """Count over all documents."""

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        """Everything but the vectors of the sentences of some documents."""

    def similarity(
        self, vector: NDArray[np.float32], documents: Sequence[DocumentInfo]
    ) -> NDArray[np.float32]:
        """``(n,)`` float32: dot product of ``vector`` ``(d,)`` with all sentences of documents."""

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        """``(n, d)`` float32: the stored vectors (as kept: rounded to the store's type)."""

    def texts(self, parts: Sequence[tuple[DocumentInfo, int, int]]) -> list[str]:
        """``text[start:end]`` of each part, reading no more of the texts than that needs."""

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        """Pages and headings of each document."""

    def choose(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        *,
        most: int,
        candidates: int,
        among: Among = EVERYWHERE,
    ) -> tuple[list[DocumentInfo], bool]:
        """Choose the documents that a search scores; those without sentences are left out.

        Args:
            vector: ``(d,)`` float32, of the question.
            terms: the question's terms.
            most: sentences up to which all documents are chosen.
            candidates: rows taken from ``nearest`` and from ``matching`` beyond that.
            among: the documents that may be chosen.

        Returns:
            All documents in order of their first row, and True; or, where they have more than
            ``most`` sentences, those that hold the candidates of both lists in turn, best first,
            and False.

        Raises:
            InputError: the filter has a key that no document has.
        """

    def measure(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        documents: Sequence[DocumentInfo],
    ) -> Measured:
        """Measure a question's vector and terms against the sentences of some documents."""

    def excerpts(
        self, parts: Sequence[tuple[DocumentInfo, int, int]]
    ) -> list[tuple[str, tuple[Mark, ...]]]:
        """``texts`` of the parts, each with the ``marks`` of its document."""

    def postings(
        self, terms: Sequence[str], among: Among = EVERYWHERE
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """For each term: the rows that hold it, ascending, and how often each does.

        A term that is not in the text maps to two empty arrays. ``among`` limits it to documents.
        """

    def nearest(
        self,
        vector: NDArray[np.float32],
        n: int,
        documents: Sequence[DocumentInfo] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` rows most similar to ``vector``, and their scores, best first.

        Ties go to the lower row. ``documents`` limits the search to those.
        """

    def matching(
        self, terms: Sequence[str], n: int, documents: Sequence[DocumentInfo] | None = None
    ) -> NDArray[np.int64]:
        """At most ``n`` rows that hold one of the terms, best by BM25 of the sentence."""


class Store(Protocol):
    """The contract; ``tests/store/test_store_contract.py`` runs over every implementation."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the model whose vectors are kept."""

    @property
    def dimensions(self) -> int:
        """Width ``d`` of the vectors."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Hold the newest committed state for the length of a ``with`` block.

        A snapshot waits for no writer and no other snapshot; it belongs to one thread.
        """

    def put(self, entry: Entry) -> None:
        """Add a document, or replace the one of the same name, in one transaction.

        Raises:
            IndexBusy: another process is writing.
            StorageFull: no space; nothing of the entry is kept.
        """

    def touch(
        self,
        name: str,
        signature: tuple[int, int] | None,
        options: str = "",
        properties: Mapping[str, Value] | None = None,
    ) -> bool:
        """Note what is new of a document whose text is the same.

        Args:
            name: of the document.
            signature: size and time of change.
            options: how the file was read.
            properties: take the place of those that are kept; None leaves them as they are.

        Returns:
            False where there is no document of that name.
        """

    def delete(self, name: str) -> bool:
        """Remove a document; False where there was none of that name."""

    def vacuum(self) -> None:
        """Give back the space of deleted documents; rows keep their numbers.

        Raises:
            IndexBusy: another process is writing.
            StorageFull: no space for the copy; nothing is lost.
        """

    def optimize(self) -> None:
        """Make what large collections are searched faster with; called after documents were added.

        Raises:
            IndexBusy: another process is writing.
            StorageFull: no space for it; nothing is lost.
        """

    def close(self) -> None:
        """Release files; the store cannot be used afterwards."""
