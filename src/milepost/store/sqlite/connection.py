"""Connections: snapshots for readers, one transaction at a time for a writer.

Each snapshot has a connection of its own, so that threads of one store read at the same time; from
its first write on a store has one connection for writing, behind a lock. WAL lets all of them, of
all processes, read while one writes. A fork copies connections, but not their locks in the system:
the child closes them at once, while those of the parent keep the log in its place.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from milepost._forking import free_in_child, run_in_child
from milepost.errors import StoreError
from milepost.store.check import Model
from milepost.store.sqlite import schema, segment
from milepost.store.sqlite.faults import kind, translated
from milepost.store.sqlite.folder import connect, database, log_size

# What SQLite says where it may not make its shared memory beside the file.
_NO_ROOM = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR}


@dataclass(slots=True)
class Reader:
    """A connection that reads, in a transaction between ``begin`` and ``end``.

    While it is used its ``stamp`` must not change; device and inode of the file come first.
    ``frozen``: it reads a file that nobody writes, see ``Reading._open``.
    """

    connection: sqlite3.Connection
    stamp: tuple[int, ...]
    frozen: bool


class Reading:
    """Connections that read: each snapshot has one of its own and never waits.

    Connections are kept for the next snapshot; threads that read at the same time open more.
    """

    def __init__(self, folder: Path, model: Model, patience_s: float) -> None:
        self._folder, self._model, self._patience_s = folder, model, patience_s
        self._lock = free_in_child(threading.Lock())
        self._idle: list[Reader] = []
        self._closed = False
        run_in_child(self._forget)

    def begin(self) -> Reader:
        """Begin a read transaction; its state is that of the first read."""
        with translated(self._folder):
            reader = self._take()
            try:
                reader.connection.execute("BEGIN")
            except BaseException:
                reader.connection.close()
                raise
            return reader

    def end(self, reader: Reader) -> None:
        """End a read transaction and keep the connection for the next one."""
        try:
            reader.connection.rollback()
        except sqlite3.Error:  # nothing was written, so nothing is lost with the connection
            reader.connection.close()
            return
        with self._lock:
            if not self._closed:
                self._idle.append(reader)
                return
        reader.connection.close()

    def close(self) -> None:
        """Close the connections that no snapshot holds."""
        with self._lock:
            self._closed = True
        self._forget()

    def _forget(self) -> None:
        idle, self._idle = self._idle, []
        for reader in idle:
            reader.connection.close()

    def _take(self) -> Reader:
        """A connection to the file that is there now."""
        path = database(self._folder)
        while True:
            with self._lock:
                reader = self._idle.pop() if self._idle else None
            if reader is None:
                return self._open(path)
            if reader.stamp == _stamp(path, frozen=reader.frozen):
                return reader
            reader.connection.close()  # erased and made anew, or changed under a read-only view

    def _open(self, path: Path) -> Reader:
        stamp = _stamp(path, frozen=False)
        try:
            return Reader(self._checked(connect(path, "mode=ro", self._patience_s)), stamp, False)
        except sqlite3.OperationalError as error:
            if kind(error) not in _NO_ROOM:
                raise
            if log_size(path) > 0:
                raise StoreError(
                    f"the index {self._folder} was not closed and cannot be read where it is",
                    "make the folder writable, or copy it to where it can be written",
                ) from error
        # A folder that cannot be written has no room for SQLite's shared memory. Without a
        # writer's log the file can be read as it stands.
        stamp = _stamp(path, frozen=True)
        connection = connect(path, "mode=ro&immutable=1", self._patience_s)
        return Reader(self._checked(connection), stamp, True)

    def _checked(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            schema.identify(connection, self._folder)
            schema.read_own_meta(connection, self._folder, self._model)
        except BaseException:
            connection.close()
            raise
        return connection


def _stamp(path: Path, *, frozen: bool) -> tuple[int, ...]:
    """What must not change while a connection is used; device and inode come first."""
    held = path.stat()
    if not frozen:
        return held.st_dev, held.st_ino
    return held.st_dev, held.st_ino, held.st_size, held.st_mtime_ns, log_size(path)


class Writing:
    """The connection that writes, opened by the first write: one transaction a call."""

    def __init__(self, folder: Path, model: Model, patience_s: float) -> None:
        self._folder, self._model, self._patience_s = folder, model, patience_s
        self._lock = free_in_child(threading.RLock())
        self._connection: sqlite3.Connection | None = None
        self._stamp: tuple[int, ...] = ()
        run_in_child(self._forget)

    @contextmanager
    def transaction(self) -> Iterator[tuple[sqlite3.Connection, schema.Meta]]:
        """Hold the index for writing; all of the block is kept, or none of it."""
        with self._lock, translated(self._folder):
            connection = self._current()
            connection.execute("BEGIN IMMEDIATE")
            try:
                meta = schema.read_own_meta(connection, self._folder, self._model)
                path = self._folder / segment.file_name(meta.generation)
                segment.trim(path, meta.next_place, meta.dimensions)
                yield connection, meta
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    def compact(self) -> None:
        """Let SQLite rewrite its file without the pages it no longer uses."""
        with self._lock, translated(self._folder):
            self._current().execute("VACUUM")

    def fold(self) -> bool:
        """Fold SQLite's log into its file and empty it; False while another process reads it."""
        with self._lock, translated(self._folder):
            busy, *_ = self._current().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def close(self) -> None:
        """Close the connection; the next transaction would open it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _forget(self) -> None:
        if self._lock.acquire(blocking=False):  # else a thread of the parent goes on writing
            self.close()
            self._lock.release()

    def _current(self) -> sqlite3.Connection:
        path = database(self._folder)
        stamp = _stamp(path, frozen=False)
        if self._connection is not None and self._stamp != stamp:
            self.close()  # erased and made anew: a write to the old file would be lost
        if self._connection is None:
            connection = connect(path, "mode=rw", self._patience_s)
            try:
                schema.identify(connection, self._folder)
                connection.execute("PRAGMA synchronous = FULL")  # what was put survives a power cut
                connection.execute("PRAGMA journal_size_limit = 33554432")
            except BaseException:
                connection.close()
                raise
            self._connection, self._stamp = connection, stamp
        return self._connection
