"""The store in a folder: the contract, over one reading and one writing connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from milepost.errors import StoreError
from milepost.store.base import DocumentInfo, Entry, Sentences, Statistics
from milepost.store.check import check_entry, check_vector
from milepost.store.sqlite import read, schema, write
from milepost.store.sqlite.connection import Reading, Writing
from milepost.store.sqlite.folder import prepare
from milepost.store.sqlite.vectors import View, Views
from milepost.types import Document, Mark

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Read = Callable[Concatenate[sqlite3.Connection, _P], _T]


class SqliteStore:
    """A durable store, open; safe to use from several threads and beside other processes.

    Every call sees the newest committed state. A reader never waits for a writer; a writer waits
    for another one ``patience_s`` and is then refused.
    """

    def __init__(
        self,
        folder: Path,
        fingerprint: str,
        dimensions: int,
        *,
        create: bool = True,
        read_only: bool = False,
        patience_s: float = 5.0,
    ) -> None:
        if create:
            prepare(folder, fingerprint, dimensions, patience_s)
        self._folder = folder
        self._fingerprint = fingerprint
        self._dimensions = dimensions
        self._read_only = read_only
        self._closed = False
        self._reading = Reading(folder, fingerprint, dimensions, patience_s)
        self._writing = Writing(folder, fingerprint, dimensions, patience_s)
        self._views = Views(folder)
        try:
            self._view(lambda _connection: None)  # what is wrong with the index is said at the door
        except BaseException:
            self.close()
            raise

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the model whose vectors are kept."""
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return self._dimensions

    def put(self, entry: Entry) -> None:
        """Add a document, or replace the one of the same name, in one transaction."""
        check_entry(entry, self._dimensions)
        self._may_write()
        prepared = write.prepare(entry)
        with self._writing.transaction() as (connection, meta):
            write.put(connection, meta, self._folder, prepared)

    def delete(self, name: str) -> bool:
        """Remove a document; False where there was none of that name."""
        self._may_write()
        with self._writing.transaction() as (connection, _):
            return write.delete(connection, write.kept(name))

    def documents(self) -> list[DocumentInfo]:
        """All documents in order of their first row."""
        return self._ask(read.documents)

    def info(self, name: str) -> DocumentInfo | None:
        """One document's record, or None."""
        return self._ask(read.info, name)

    def document(self, name: str) -> Document:
        """Return the whole document with its marks; KeyError where there is none."""
        return self._ask(read.document, name)

    def marks(self, name: str) -> tuple[Mark, ...]:
        """``document(name).marks``, without reading the text."""
        return self._ask(read.marks, name)

    def text(self, name: str, start: int, end: int) -> str:
        """``document(name).text[start:end]``, reading no more than the pieces that it touches."""
        return self._ask(read.text, name, start, end)

    def sentences(self, name: str) -> Sentences:
        """Everything but the vectors of the sentences of one document."""
        return self._ask(read.sentences, name)

    def similarity(
        self, vector: NDArray[np.float32], first: int, count: int
    ) -> NDArray[np.float32]:
        """``(count,)`` float32: dot product of ``vector`` ``(d,)`` with rows ``first …``."""
        check_vector(vector, self._dimensions)
        view, runs = self._view(lambda at: self._views.runs(at, first, count))
        return view.similarity(runs, vector, first, count)

    def vectors(self, first: int, count: int) -> NDArray[np.float32]:
        """``(count, d)`` float32: the vectors of rows ``first …``, as rounded to int8."""
        view, runs = self._view(lambda at: self._views.runs(at, first, count))
        return view.vectors(runs, first, count, self._dimensions)

    def nearest(
        self, vector: NDArray[np.float32], n: int, names: Sequence[str] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` live rows most similar to ``vector``, and their scores, best first."""
        check_vector(vector, self._dimensions)

        def chosen(connection: sqlite3.Connection) -> NDArray[np.int64]:
            runs = self._views.live(connection)
            if names is None:
                return runs
            return runs[np.isin(runs[:, 0], read.ranges(connection, names)[:, 0])]

        view, runs = self._view(chosen)
        return view.nearest(runs, vector, n)

    def postings(
        self, terms: Sequence[str]
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """For each term: the live rows that hold it, ascending, and how often each does."""
        return self._ask(read.postings, terms)

    def matching(
        self, terms: Sequence[str], n: int, names: Sequence[str] | None = None
    ) -> NDArray[np.int64]:
        """At most ``n`` live rows that hold one of the terms, best by BM25 of the sentence."""
        return self._ask(read.matching, terms, n, names)

    def statistics(self) -> Statistics:
        """Count over all live documents."""
        return self._ask(read.statistics)

    def vacuum(self) -> None:
        """Give back the space of deleted documents; rows keep their numbers."""
        self._may_write()
        with self._writing.transaction() as (connection, meta):
            generation = write.vacuum(connection, meta, self._folder)
        write.sweep(self._folder, generation)
        self._writing.compact()

    def close(self) -> None:
        """Release files; the store cannot be used afterwards."""
        self._closed = True
        self._views.close()
        # The writer last: the last one to close folds SQLite's log into the file.
        self._reading.close()
        self._writing.close()

    def _ask(self, question: _Read[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        self._open()
        with self._reading.snapshot() as connection:
            return question(connection, *args, **kwargs)

    def _view(self, runs: Callable[[sqlite3.Connection], _T]) -> tuple[View, _T]:
        """Take a view of the segment and what ``runs`` says in the same snapshot."""
        self._open()
        missing = ""
        for _ in range(3):  # a vacuum may take the file away between snapshot and map
            with self._reading.snapshot() as connection:
                try:
                    view = self._views.view(connection, self._reading.epoch)
                except FileNotFoundError as error:
                    missing = Path(error.filename).name
                    continue
                return view, runs(connection)
        raise schema.damaged(self._folder, f"{missing} is missing")

    def _open(self) -> None:
        if self._closed:
            raise StoreError(f"the index {self._folder} is closed")

    def _may_write(self) -> None:
        self._open()
        if self._read_only:
            raise StoreError(f"the index {self._folder} was opened for reading only")
