"""The contract at its plainest: dictionaries and NumPy, the reference for every other store."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray

from milepost.errors import StoreError
from milepost.properties import checked
from milepost.store.base import (
    ALL,
    DocumentInfo,
    DocumentSelection,
    Entry,
    Sentences,
    Snapshot,
    Statistics,
)
from milepost.store.bm25 import scores
from milepost.store.check import check_entry, check_vector
from milepost.store.listing import ListedSnapshot, Listing
from milepost.store.local import Postings, inside, limited
from milepost.store.postings import Scored, top
from milepost.types import Mark, Value


@dataclass(frozen=True, slots=True)
class _Stored:
    info: DocumentInfo
    lengths: NDArray[np.int32]
    entry: Entry


class MemoryStore:
    """A store that lives as long as its process; safe to use from several threads."""

    def __init__(self, fingerprint: str, dimensions: int) -> None:
        self.fingerprint = fingerprint
        self.dimensions = dimensions
        self._lock = threading.RLock()
        self._live: dict[str, _Stored] = {}  # in order of first row: rows only grow
        # Term -> row -> how often, rows ascending. Rows of deleted documents stay until vacuum,
        # which makes a new dictionary: a snapshot reads its own and passes over foreign rows.
        self._rows: dict[str, dict[int, int]] = {}
        self._dead = 0
        self._next = 0
        self._ids = count()
        self._state: _State | None = None  # of now, for the next snapshot; None after a change
        self._closed = False

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._lock:
            self._open()
            if self._state is None:
                self._state = _State(dict(self._live), self._rows, self._dead)
            state = self._state
        yield _MemorySnapshot(self._lock, state, self.dimensions)

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
            _add(self._rows, self._next, entry.terms)
            self._live[source.name] = _Stored(info, lengths, own)
            self._next += len(entry.spans)

    def touch(
        self,
        name: str,
        signature: tuple[int, int] | None,
        options: str = "",
        properties: Mapping[str, Value] | None = None,
    ) -> bool:
        with self._lock:
            self._open()
            stored = self._live.get(name)
            if stored is None:
                return False
            self._state = None
            held = stored.info.properties if properties is None else checked(properties)
            info = replace(stored.info, signature=signature, options=options, properties=held)
            self._live[name] = replace(stored, info=info)
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
            rows: dict[str, dict[int, int]] = {}
            for stored in self._live.values():
                _add(rows, stored.info.first, stored.entry.terms)
            self._rows, self._dead, self._state = rows, 0, None

    def remains(self, *, now: bool) -> str:
        return ""

    def optimize(self) -> None:
        """Nothing: every search is exact."""

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._live, self._rows, self._dead, self._state = {}, {}, 0, None

    def _open(self) -> None:
        if self._closed:
            raise StoreError("the index in memory is closed", "milepost.open() for a new one")


def _add(rows: dict[str, dict[int, int]], first: int, sentences: Sequence[Sequence[str]]) -> None:
    for row, terms in enumerate(sentences, first):
        for term, times in Counter(terms).items():
            rows.setdefault(term, {})[row] = times


class _State:
    """A state of a ``MemoryStore``; what is made of it is made once for all its snapshots."""

    def __init__(
        self, live: Mapping[str, _Stored], rows: Mapping[str, Mapping[int, int]], dead: int
    ) -> None:
        self.live, self.rows, self._dead = live, rows, dead
        filled = [stored for stored in live.values() if stored.info.sentences]
        self.firsts = np.array([stored.info.first for stored in filled], np.int64)
        self.sizes = np.array([stored.info.sentences for stored in filled], np.int64)
        self._filled = filled

    @cached_property
    def listing(self) -> Listing:
        return Listing([stored.info for stored in self.live.values()])

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """``(n,)`` int32: the number of terms in each sentence."""
        return np.concatenate([np.empty(0, np.int32), *(each.lengths for each in self._filled)])

    @cached_property
    def statistics(self) -> Statistics:
        terms = int(self.lengths.sum())
        return Statistics(len(self.live), int(self.sizes.sum()), terms, self._dead)


class _MemorySnapshot(ListedSnapshot):
    """See ``store.base.Snapshot``; the lock guards the postings, which a writer adds to."""

    def __init__(self, lock: threading.RLock, state: _State, dimensions: int) -> None:
        self._lock, self._state, self._dimensions = lock, state, dimensions
        self._live = state.live

    @property
    def listing(self) -> Listing:
        return self._state.listing

    def statistics(self) -> Statistics:
        return self._state.statistics

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
        return _dot(self.vectors(documents), vector)

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        parts = [self._live[info.name].entry.vectors for info in documents]
        return np.concatenate([np.empty((0, self._dimensions), np.float32), *parts])

    def texts(self, parts: Sequence[tuple[DocumentInfo, int, int]]) -> list[str]:
        return [self._live[info.name].entry.document.text[start:end] for info, start, end in parts]

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        return [self._live[info.name].entry.document.marks for info in documents]

    def postings(self, terms: Sequence[str], among: DocumentSelection = ALL) -> dict[str, Postings]:
        among.check_keys(self.keys)
        found = {term: self._posting(term) for term in terms}
        return found if among == ALL else limited(found, self.ranges(among))

    def candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        n: int,
        ranges: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        documents = self.documents() if ranges is None else self.owners(ranges[:, 0])
        rows, score = _rows_of(documents), self.similarity(vector, documents)
        nearest = rows[np.lexsort((rows, -score))[: max(n, 0)]]
        return nearest, self._matching(terms, n, ranges)

    def _matching(
        self, terms: Sequence[str], n: int, ranges: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        firsts, sizes, lengths = self._state.firsts, self._state.sizes, self._state.lengths
        total = int(sizes.sum())
        mean = float(lengths.sum()) / total if total else 0.0
        ends = np.cumsum(sizes)
        parts: Scored = []
        for term in dict.fromkeys(terms):
            rows, counts = self._posting(term)
            if not len(rows):
                continue
            owner = np.searchsorted(firsts, rows, side="right") - 1
            place = rows - firsts[owner] + (ends - sizes)[owner]
            score = scores(
                counts, lengths[place], frequency=len(rows), sentences=total, mean_length=mean
            )
            there = slice(None) if ranges is None else inside(rows, ranges)
            parts.append((rows[there], score[there]))
        return top(parts, n)

    def _posting(self, term: str) -> Postings:
        """Rows of this state that hold a term, and how often."""
        with self._lock:
            found = self._state.rows.get(term, {})
            rows, times = np.array(list(found), np.int64), np.array(list(found.values()), np.int32)
        firsts, sizes = self._state.firsts, self._state.sizes
        if not len(rows) or not len(firsts):
            return np.empty(0, np.int64), np.empty(0, np.int32)
        owner = np.searchsorted(firsts, rows, side="right") - 1
        there = (owner >= 0) & (rows - firsts[owner] < sizes[owner])
        return rows[there], times[there]


def _rows_of(documents: Sequence[DocumentInfo]) -> NDArray[np.int64]:
    parts = [np.arange(info.first, info.first + info.sentences) for info in documents]
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)


def _dot(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # A matrix product may sum a row differently depending on its place; so equal rows tie.
    out: NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector.astype(np.float32))
    return out
