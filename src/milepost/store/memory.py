"""The contract at its plainest: dictionaries and NumPy, the reference for every other store."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray

from milepost._forking import free_in_child
from milepost.errors import StoreError
from milepost.store import postings
from milepost.store.base import (
    ALL,
    DocumentInfo,
    DocumentSelection,
    Entry,
    Part,
    Sentences,
    Snapshot,
    Statistics,
)
from milepost.store.check import check_entry, check_vector
from milepost.store.listing import ListedSnapshot, Listing
from milepost.store.local import Postings, rows_of
from milepost.store.postings import Lists
from milepost.store.tokens import tokens
from milepost.types import Mark


@dataclass(frozen=True, slots=True)
class _Stored:
    info: DocumentInfo
    lengths: NDArray[np.int32]
    entry: Entry
    terms: dict[str, bytes]  # of each token, see ``postings.packed``


class MemoryStore:
    """A store that lives as long as its process; safe to use from several threads."""

    def __init__(self, fingerprint: str, dimensions: int) -> None:
        self.fingerprint = fingerprint
        self.dimensions = dimensions
        self._lock = free_in_child(threading.RLock())
        self._live: dict[str, _Stored] = {}  # in order of first row: rows only grow
        self._dead = 0
        self._next = 0
        self._ids = count()
        self._state: _MemorySnapshot | None = None  # of now, for all who ask; None after a change
        self._closed = False

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._lock:
            self._open()
            if self._state is None:
                self._state = _MemorySnapshot(dict(self._live), self._dead, self.dimensions)
            state = self._state
        yield state

    def put(self, entry: Entry) -> None:
        check_entry(entry, self.dimensions)
        source = entry.document
        lengths = np.array([len(terms) for terms in entry.terms], dtype=np.int32)
        own = replace(
            entry,
            document=replace(source, blocks=(), locator=None),
            spans=entry.spans.astype(np.int64),
            vectors=entry.vectors.astype(np.float32),
            vocab_coverage=entry.vocab_coverage.astype(np.float32),
            paragraph_starts=entry.paragraph_starts.astype(np.bool_),
        )
        packed = {name: data for name, _, data in postings.packed(entry.terms)}
        with self._lock:
            self._open()
            self._state = None
            self.delete(source.name)
            info = DocumentInfo(
                source.name,
                source.source,
                source.hash,
                entry.signature,
                len(source.text),
                len(entry.spans),
                self._next,
                source.notes,
                next(self._ids),
                entry.options,
                source.properties,
            )
            self._live[source.name] = _Stored(info, lengths, own, packed)
            self._next += len(entry.spans)

    def touch(self, info: DocumentInfo) -> bool:
        with self._lock:
            self._open()
            stored = self._live.get(info.name)
            if stored is None:
                return False
            self._state = None
            held = replace(
                stored.info,
                signature=info.signature,
                options=info.options,
                properties=info.properties,
            )
            self._live[info.name] = replace(stored, info=held)
            return True

    def delete(self, name: str) -> bool:
        with self._lock:
            self._open()
            stored = self._live.pop(name, None)
            if stored is not None:
                self._state = None
                self._dead += stored.info.sentences
            return stored is not None

    def vacuum(self, *, now: bool = False) -> None:
        with self._lock:
            self._open()
            self._dead, self._state = 0, None

    def remains(self, *, now: bool) -> str:
        return ""

    def optimize(self) -> None:
        """Nothing: every search is exact."""

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._live, self._dead, self._state = {}, 0, None

    def _open(self) -> None:
        if self._closed:
            raise StoreError("the index in memory is closed", "milepost.open() for a new one")


class _MemorySnapshot(ListedSnapshot):
    """See ``store.base.Snapshot``; nothing of it changes, so that all threads share one."""

    def __init__(self, live: Mapping[str, _Stored], dead: int, dimensions: int) -> None:
        self._live, self._dead, self._dimensions = live, dead, dimensions
        self.listing = Listing([stored.info for stored in live.values()])

    def statistics(self) -> Statistics:
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        return Statistics(
            len(self._live),
            sum(stored.info.sentences for stored in self._live.values()),
            sum(int(stored.lengths.sum()) for stored in self._live.values()),
            self._dead,
        )

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        parts = [self._live[info.name] for info in documents]
        sizes = [info.sentences for info in documents]
        return Sentences(
            np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64),
            np.concatenate([np.empty((0, 2), np.int64), *(part.entry.spans for part in parts)]),
            np.concatenate([np.empty(0, np.int32), *(part.lengths for part in parts)]),
            np.concatenate(
                [np.empty(0, np.float32), *(part.entry.vocab_coverage for part in parts)]
            ),
            np.concatenate(
                [np.empty(0, np.bool_), *(part.entry.paragraph_starts for part in parts)]
            ),
        )

    def similarity(
        self, vector: NDArray[np.float32], documents: Sequence[DocumentInfo]
    ) -> NDArray[np.float32]:
        check_vector(vector, self._dimensions)
        # A matrix product may sum a row differently depending on its place; so equal rows tie.
        wide = vector.astype(np.float32)
        scores: NDArray[np.float32] = np.einsum("ij,j->i", self.vectors(documents), wide)
        return scores

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        parts = [self._live[info.name].entry.vectors for info in documents]
        return np.concatenate([np.empty((0, self._dimensions), np.float32), *parts])

    def texts(self, parts: Sequence[Part]) -> list[str]:
        return [self._live[info.name].entry.document.text[start:end] for info, start, end in parts]

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        return [self._live[info.name].entry.document.marks for info in documents]

    def postings(self, terms: Sequence[str], among: DocumentSelection = ALL) -> dict[str, Postings]:
        return postings.of_terms(terms, self._lists(terms, self.select(among) or []))

    def candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        n: int,
        ranges: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        every = self.listing.documents
        documents = every if ranges is None else self.owners(ranges[:, 0])
        rows = rows_of(documents)
        score = self.similarity(vector, documents)
        nearest = rows[np.lexsort((rows, -score))[: max(n, 0)]]
        frequencies = {
            name: int(sizes.sum()) for name, (_, sizes, _) in self._lists(terms, every).items()
        }
        lists = self._lists(terms, documents)
        return nearest, postings.best(lists, frequencies, self.statistics(), n)

    def _lists(self, terms: Sequence[str], documents: Sequence[DocumentInfo]) -> dict[str, Lists]:
        held = [(info.first, self._live[info.name].terms) for info in documents]
        return {
            name: postings.joined((first, terms[name]) for first, terms in held if name in terms)
            for name in tokens(terms)
        }
