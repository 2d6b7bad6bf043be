"""One committed state of an index: its tables through one connection, its vectors mapped."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost.store.base import ALL, DocumentInfo, DocumentSelection, Sentences, Statistics
from milepost.store.check import check_vector
from milepost.store.local import LocalSnapshot, Postings, limited, ranges_of
from milepost.store.sqlite import read, records
from milepost.store.sqlite.faults import translated
from milepost.store.sqlite.vectors import View, all_runs, runs_of
from milepost.types import Mark

_MANY = 5_000
"""Runs from which all are read, once for all snapshots of a state."""


class SqliteSnapshot(LocalSnapshot):
    """See ``store.base.Snapshot``; made by ``SqliteStore.snapshot`` alone."""

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, view: View, dimensions: int
    ) -> None:
        self._folder, self._connection = folder, connection
        self._view, self._dimensions = view, dimensions
        self._ranges: dict[
            DocumentSelection, NDArray[np.int64]
        ] = {}  # of those that were asked for

    def select(
        self, among: DocumentSelection, most: int | None = None
    ) -> list[DocumentInfo] | None:
        among.check_keys(self.keys)
        if most is not None and self._sentences(among) > most:
            return None
        held = self._view.held.documents if among == ALL else None
        if held is None:
            with translated(self._folder):
                held = records.select(self._connection, among)
            if (
                most is not None and among == ALL
            ):  # for a search, which asks for few; and for the next one
                self._view.held.documents = held
        return list(held)

    def owners(self, rows: NDArray[np.int64]) -> list[DocumentInfo]:
        with translated(self._folder):
            return records.owners(self._connection, rows)

    def keys(self) -> frozenset[str]:
        with translated(self._folder):
            return records.keys(self._connection)

    def ranges(self, among: DocumentSelection) -> NDArray[np.int64]:
        if among not in self._ranges:
            with translated(self._folder):
                self._ranges[among] = records.ranges(self._connection, among)
        return self._ranges[among]

    def _sentences(self, among: DocumentSelection) -> int:
        if among == ALL:
            return self.statistics().sentences
        ranges = self.ranges(among)
        return int((ranges[:, 1] - ranges[:, 0]).sum())

    def statistics(self) -> Statistics:
        meta = self._view.meta
        return Statistics(meta.documents, meta.sentences, meta.terms, meta.dead)

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        with translated(self._folder):
            return read.sentences(self._connection, documents)

    def similarity(
        self, vector: NDArray[np.float32], documents: Sequence[DocumentInfo]
    ) -> NDArray[np.float32]:
        check_vector(vector, self._dimensions)
        return self._view.similarity(self._chosen(ranges_of(documents)), vector)

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        """``(n, d)`` float32: the stored vectors, as rounded to int8."""
        return self._view.vectors(self._chosen(ranges_of(documents)), self._dimensions)

    def texts(self, parts: Sequence[tuple[DocumentInfo, int, int]]) -> list[str]:
        with translated(self._folder):
            return read.texts(self._connection, parts)

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        with translated(self._folder):
            return read.marks(self._connection, documents)

    def postings(self, terms: Sequence[str], among: DocumentSelection = ALL) -> dict[str, Postings]:
        among.check_keys(self.keys)
        with translated(self._folder):
            found = read.postings(self._connection, terms)
        return found if among == ALL else limited(found, self.ranges(among))

    def candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        n: int,
        ranges: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        check_vector(vector, self._dimensions)
        runs = self._all_runs() if ranges is None else self._chosen(ranges)
        nearest, _ = self._view.nearest(runs, vector, n)
        with translated(self._folder):
            return nearest, read.matching(self._connection, terms, n, ranges)

    def _chosen(self, ranges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Runs of the documents with some ranges, ascending."""
        if len(ranges) > _MANY:
            self._all_runs()
        runs = self._view.held.runs
        if runs is None:
            with translated(self._folder):
                return runs_of(self._connection, ranges[:, 0])
        return runs[np.searchsorted(runs[:, 0], ranges[:, 0])]

    def _all_runs(self) -> NDArray[np.int64]:
        """They are read once for all snapshots of a state."""
        held = self._view.held
        if held.runs is None:
            with translated(self._folder):
                held.runs = all_runs(self._connection)
        return held.runs
