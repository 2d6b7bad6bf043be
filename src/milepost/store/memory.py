"""The contract at its plainest: dictionaries and NumPy, the reference for every other store."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milepost.errors import StoreError
from milepost.paragraphs import paragraph_starts
from milepost.store.base import DocumentInfo, Entry, Sentences, Statistics
from milepost.store.check import check_entry, check_vector
from milepost.types import Document, Mark

# The constants of SQLite's FTS5, so that every store ranks alike.
K1, B = 1.2, 0.75
RARE_IDF = 1e-6  # what FTS5 gives a term that stands in more than half of the sentences


@dataclass(frozen=True, slots=True)
class _Kept:
    document: Document
    info: DocumentInfo
    sentences: Sentences
    vectors: NDArray[np.float32]
    terms: tuple[Counter[str], ...]


class MemoryStore:
    """A store that lives as long as its process; safe to use from several threads."""

    def __init__(self, fingerprint: str, dimensions: int) -> None:
        self._fingerprint = fingerprint
        self._dimensions = dimensions
        self._lock = threading.RLock()
        self._live: dict[str, _Kept] = {}  # in order of first row: rows only grow
        self._dead: list[_Kept] = []  # until vacuum: a reader may still hold their rows
        self._rows: dict[str, dict[int, int]] = {}  # term -> row -> how often, rows ascending
        self._lengths: dict[int, int] = {}  # row -> number of terms
        self._next = 0

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the model whose vectors are kept."""
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return self._dimensions

    def put(self, entry: Entry) -> None:
        """Add a document, or replace the one of the same name."""
        check_entry(entry, self._dimensions)
        given = entry.document
        with self._lock:
            self.delete(given.name)
            first, n = self._next, len(entry.spans)
            document = Document(
                given.name, given.text, given.marks, given.source, given.hash, given.notes
            )
            info = DocumentInfo(
                given.name,
                given.source,
                given.hash,
                entry.signature,
                len(given.text),
                n,
                first,
                given.notes,
            )
            lengths = np.array([len(terms) for terms in entry.terms], dtype=np.int32)
            sentences = Sentences(
                first,
                entry.spans.astype(np.int64),
                lengths,
                entry.vocab_coverage.astype(np.float32),
                paragraph_starts(given.text, entry.spans),
            )
            counts = tuple(Counter(terms) for terms in entry.terms)
            for row, counted in enumerate(counts, first):
                self._lengths[row] = counted.total()
                for term, count in counted.items():
                    self._rows.setdefault(term, {})[row] = count
            vectors = entry.vectors.astype(np.float32)
            self._live[given.name] = _Kept(document, info, sentences, vectors, counts)
            self._next += n

    def delete(self, name: str) -> bool:
        """Remove a document; False where there was none of that name."""
        with self._lock:
            kept = self._live.pop(name, None)
            if kept is None:
                return False
            self._dead.append(kept)
            for row, counted in enumerate(kept.terms, kept.info.first):
                del self._lengths[row]
                for term in counted:
                    del self._rows[term][row]
                    if not self._rows[term]:
                        del self._rows[term]
            return True

    def documents(self) -> list[DocumentInfo]:
        """All documents in order of their first row."""
        with self._lock:
            return [kept.info for kept in self._live.values()]

    def info(self, name: str) -> DocumentInfo | None:
        """One document's record, or None."""
        kept = self._live.get(name)
        return kept.info if kept else None

    def document(self, name: str) -> Document:
        """Return the whole document with its marks; KeyError where there is none."""
        return self._live[name].document

    def marks(self, name: str) -> tuple[Mark, ...]:
        """``document(name).marks``."""
        return self._live[name].document.marks

    def text(self, name: str, start: int, end: int) -> str:
        """``document(name).text[start:end]``."""
        return self._live[name].document.text[start:end]

    def sentences(self, name: str) -> Sentences:
        """Everything but the vectors of the sentences of one document."""
        return self._live[name].sentences

    def similarity(
        self, vector: NDArray[np.float32], first: int, count: int
    ) -> NDArray[np.float32]:
        """``(count,)`` float32: dot product of ``vector`` ``(d,)`` with rows ``first …``."""
        check_vector(vector, self._dimensions)
        return _dot(self.vectors(first, count), vector)

    def vectors(self, first: int, count: int) -> NDArray[np.float32]:
        """``(count, d)`` float32: the vectors of rows ``first …``."""
        out = np.empty((count, self._dimensions), dtype=np.float32)
        missing = np.ones(count, dtype=bool)
        with self._lock:
            for kept in (*self._live.values(), *self._dead):
                start = max(first, kept.info.first)
                end = min(first + count, kept.info.first + kept.info.sentences)
                if start < end:
                    own = slice(start - kept.info.first, end - kept.info.first)
                    out[start - first : end - first] = kept.vectors[own]
                    missing[start - first : end - first] = False
        if missing.any():
            raise StoreError(f"rows {first}–{first + count - 1} are not in the index")
        return out

    def nearest(
        self, vector: NDArray[np.float32], n: int, names: Sequence[str] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` live rows most similar to ``vector``, and their scores, best first."""
        check_vector(vector, self._dimensions)
        rows, scores = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        for kept in self._chosen(names):
            rows.append(np.arange(kept.info.sentences) + kept.info.first)
            scores.append(_dot(kept.vectors, vector))
        row, score = np.concatenate(rows), np.concatenate(scores)
        best = np.lexsort((row, -score))[: max(n, 0)]
        return row[best], score[best]

    def postings(
        self, terms: Sequence[str]
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """For each term: the live rows that hold it, ascending, and how often each does."""
        with self._lock:
            found = {term: self._rows.get(term, {}) for term in terms}
            return {
                term: (np.array(list(rows), np.int64), np.array(list(rows.values()), np.int32))
                for term, rows in found.items()
            }

    def matching(
        self, terms: Sequence[str], n: int, names: Sequence[str] | None = None
    ) -> NDArray[np.int64]:
        """At most ``n`` live rows that hold one of the terms, best by BM25 of the sentence."""
        with self._lock:
            total = len(self._lengths)
            mean = sum(self._lengths.values()) / total if total else 0.0
            score: dict[int, float] = {}
            for rows in (self._rows.get(term, {}) for term in dict.fromkeys(terms)):
                idf = math.log((total - len(rows) + 0.5) / (len(rows) + 0.5))
                idf = idf if idf > 0 else RARE_IDF
                for row, count in rows.items():
                    norm = K1 * (1 - B + B * self._lengths[row] / mean)
                    part = idf * ((count * (K1 + 1)) / (count + norm))
                    score[row] = score.get(row, 0.0) + part
            if names is not None:
                allowed = {
                    row
                    for kept in self._chosen(names)
                    for row in range(kept.info.first, kept.info.first + kept.info.sentences)
                }
                score = {row: value for row, value in score.items() if row in allowed}
        best = sorted(score, key=lambda row: (-score[row], row))[: max(n, 0)]
        return np.array(best, dtype=np.int64)

    def statistics(self) -> Statistics:
        """Count over all live documents."""
        with self._lock:
            dead = sum(kept.info.sentences for kept in self._dead)
            terms = sum(self._lengths.values())
            return Statistics(len(self._live), len(self._lengths), terms, dead)

    def vacuum(self) -> None:
        """Give back the space of deleted documents."""
        with self._lock:
            self._dead.clear()

    def close(self) -> None:
        """Let go of everything."""
        self._live.clear()
        self._dead.clear()
        self._rows.clear()
        self._lengths.clear()

    def _chosen(self, names: Sequence[str] | None) -> list[_Kept]:
        with self._lock:
            if names is None:
                return list(self._live.values())
            return [self._live[name] for name in dict.fromkeys(names) if name in self._live]


def _dot(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # A matrix product may sum a row differently depending on its place; so equal rows tie.
    out: NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector.astype(np.float32))
    return out
