"""One committed state of an index: its tables through one connection, its vectors mapped."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost.store.base import DocumentInfo, Sentences, Statistics
from milepost.store.check import check_vector
from milepost.store.local import LocalSnapshot
from milepost.store.sqlite import read
from milepost.store.sqlite.faults import translated
from milepost.store.sqlite.vectors import View, all_runs
from milepost.types import Mark


class SqliteSnapshot(LocalSnapshot):
    """See ``store.base.Snapshot``; made by ``SqliteStore.snapshot`` alone."""

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, view: View, dimensions: int
    ) -> None:
        self._folder, self._connection = folder, connection
        self._view, self._dimensions = view, dimensions
        self._runs: NDArray[np.int64] | None = None
        self._documents: list[DocumentInfo] | None = None

    def documents(self) -> list[DocumentInfo]:
        """All documents in order of their first row."""
        if self._documents is None:
            with translated(self._folder):
                self._documents = read.documents(self._connection)
        return list(self._documents)

    def info(self, name: str) -> DocumentInfo | None:
        """One document's record, or None."""
        with translated(self._folder):
            return read.info(self._connection, name)

    def statistics(self) -> Statistics:
        """Count over all documents."""
        with translated(self._folder):
            return read.statistics(self._connection)

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        """Everything but the vectors of the sentences of some documents."""
        with translated(self._folder):
            return read.sentences(self._connection, documents)

    def similarity(
        self, vector: NDArray[np.float32], documents: Sequence[DocumentInfo]
    ) -> NDArray[np.float32]:
        """``(n,)`` float32: dot product of ``vector`` ``(d,)`` with all sentences of documents."""
        check_vector(vector, self._dimensions)
        return self._view.similarity(self._chosen(documents), vector)

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        """``(n, d)`` float32: the stored vectors, as rounded to int8."""
        return self._view.vectors(self._chosen(documents), self._dimensions)

    def texts(self, parts: Sequence[tuple[DocumentInfo, int, int]]) -> list[str]:
        """``text[start:end]`` of each part."""
        with translated(self._folder):
            return read.texts(self._connection, parts)

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        """Pages and headings of each document."""
        with translated(self._folder):
            return read.marks(self._connection, documents)

    def postings(
        self, terms: Sequence[str]
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """For each term: the rows that hold it, ascending, and how often each does."""
        with translated(self._folder):
            return read.postings(self._connection, terms)

    def nearest(
        self,
        vector: NDArray[np.float32],
        n: int,
        documents: Sequence[DocumentInfo] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` rows most similar to ``vector``, and their scores, best first."""
        check_vector(vector, self._dimensions)
        runs = self._all_runs() if documents is None else self._chosen(documents)
        return self._view.nearest(runs, vector, n)

    def matching(
        self, terms: Sequence[str], n: int, documents: Sequence[DocumentInfo] | None = None
    ) -> NDArray[np.int64]:
        """At most ``n`` rows that hold one of the terms, best by BM25 of the sentence."""
        with translated(self._folder):
            return read.matching(self._connection, terms, n, documents)

    def _chosen(self, documents: Sequence[DocumentInfo]) -> NDArray[np.int64]:
        """Runs of some documents, ascending."""
        runs = self._all_runs()
        firsts = np.array([info.first for info in documents if info.sentences], np.int64)
        return runs[np.isin(runs[:, 0], firsts)]

    def _all_runs(self) -> NDArray[np.int64]:
        if self._runs is None:
            with translated(self._folder):
                self._runs = all_runs(self._connection)
        return self._runs
