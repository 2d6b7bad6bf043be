"""The store in a folder: the contract, over reading connections and one that writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from milepost.errors import IndexBusy, StoreError
from milepost.store.base import DocumentInfo, Entry, Snapshot
from milepost.store.check import check_entry
from milepost.store.sqlite import schema, write
from milepost.store.sqlite.connection import Reader, Reading, Writing
from milepost.store.sqlite.faults import translated
from milepost.store.sqlite.folder import database, log_size, prepare
from milepost.store.sqlite.holding import Hold
from milepost.store.sqlite.snapshot import SqliteSnapshot
from milepost.store.sqlite.vectors import Segments, View
from milepost.store.strings import escape


class SqliteStore:
    """A durable store, open; safe to use from several threads and beside other processes.

    A snapshot sees the newest committed state and never waits; a writer waits for another one
    ``patience_s`` and is then refused.
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
        self.fingerprint, self.dimensions = model = fingerprint, dimensions
        if create:
            prepare(folder, model, patience_s)
        self._hold = Hold(folder)
        self._folder = folder
        self._read_only, self._closed = read_only, False
        self._reading = Reading(folder, model, patience_s)
        self._writing = Writing(folder, model, patience_s)
        self._segments = Segments(folder)
        try:
            with self.snapshot():
                pass  # what is wrong with the index is reported when it is opened
        except BaseException:
            self.close()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        self._open()
        reader, view = self._begin()
        try:
            yield SqliteSnapshot(self._folder, reader.connection, view, self.dimensions)
        finally:
            self._reading.end(reader)

    def _begin(self) -> tuple[Reader, View]:
        """Begin a snapshot: the state of the tables and the segment that goes with it."""
        missing = ""
        for _ in range(3):  # a vacuum may remove the file between snapshot and map
            reader = self._reading.begin()
            try:
                with translated(self._folder):
                    return reader, self._segments.view(reader.connection, reader.stamp[:2])
            except BaseException as error:
                self._reading.end(reader)
                gone = error.__cause__ or error
                if not isinstance(gone, FileNotFoundError):
                    raise
                missing = Path(gone.filename).name
        raise schema.damaged(self._folder, f"{missing} is missing")

    def put(self, entry: Entry) -> None:
        check_entry(entry, self.dimensions)
        writing, prepared = self._writable(), write.prepare(entry)
        with writing.transaction() as (connection, meta):
            write.put(connection, meta, self._folder, prepared)

    def touch(self, info: DocumentInfo) -> bool:
        with self._writable().transaction() as (connection, meta):
            return write.touch(connection, meta, info)

    def delete(self, name: str) -> bool:
        with self._writable().transaction() as (connection, meta):
            return write.delete(connection, meta, escape(name)) is not None

    def vacuum(self, *, now: bool = False) -> None:
        with self._writable().transaction() as (connection, meta):
            generation = write.vacuum(connection, meta, self._folder)
        write.sweep(self._folder, generation)
        self._writing.compact()
        if not self._writing.fold() and now:
            raise IndexBusy(
                f"the index {self._folder} is being read, and its log still holds removed text",
                "close what reads it, then milepost remove --now --db FOLDER",
            )

    def remains(self, *, now: bool) -> str:
        with self.snapshot() as state:
            dead = state.statistics().dead
        if not dead and not log_size(database(self._folder)):
            return ""
        return "its files, until others take the space or removed sentences outnumber the rest"

    def optimize(self) -> None:
        """Nothing: every search is exact."""

    def close(self) -> None:
        self._closed = True
        self._segments.close()
        # The writer last: the last one to close folds SQLite's log into the file.
        self._reading.close()
        self._writing.close()
        self._hold.close()

    def _open(self) -> None:
        if self._closed:
            raise StoreError(f"the index {self._folder} is closed")

    def _writable(self) -> Writing:
        self._open()
        if self._read_only:
            raise StoreError(f"the index {self._folder} was opened for reading only")
        return self._writing
