"""Connections: snapshots for readers, one transaction at a time for a writer.

A store has one connection for reading and, from its first write on, one for writing, each behind
its own lock: threads of one store take turns to query, and none waits for a write. Other
processes have connections of their own; WAL lets them read while one writes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from milepost.errors import StoreError
from milepost.store.sqlite import schema, segment
from milepost.store.sqlite.faults import door, kind, translated
from milepost.store.sqlite.folder import connect, found, log_size

# What SQLite says where it may not make its shared memory beside the file.
_NO_ROOM = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR}


class Reading:
    """The connection that reads: a snapshot a call, never the lock of a writer."""

    def __init__(self, folder: Path, fingerprint: str, dimensions: int, patience_s: float) -> None:
        self._folder = folder
        self._model = fingerprint, dimensions
        self._patience_s = patience_s
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._stamp: tuple[int, ...] = ()
        self._frozen = False  # reads a file that nobody writes, see _open
        self.epoch = 0  # counts the files opened: caches of an earlier epoch are void

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Hold one committed state of the index for the length of the block."""
        with self._lock, translated(self._folder):
            connection = self._current()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    def close(self) -> None:
        """Close the connection; the next snapshot would open it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _current(self) -> sqlite3.Connection:
        path = found(self._folder)
        if self._connection is not None and self._stamp != self._look(path):
            self.close()  # erased and made anew, or changed under a read-only view
        if self._connection is None:
            self._connection = self._open(path)
            self.epoch += 1
        return self._connection

    def _look(self, path: Path) -> tuple[int, ...]:
        """Note what must not change while the connection is open."""
        held = path.stat()
        if not self._frozen:
            return held.st_dev, held.st_ino
        return held.st_dev, held.st_ino, held.st_size, held.st_mtime_ns, log_size(path)

    def _open(self, path: Path) -> sqlite3.Connection:
        self._frozen = False
        self._stamp = self._look(path)
        try:
            return self._checked(connect(path, "mode=ro", self._patience_s))
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
        self._frozen = True
        self._stamp = self._look(path)
        return self._checked(connect(path, "mode=ro&immutable=1", self._patience_s))

    def _checked(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            with door(self._folder):
                schema.identify(connection, self._folder)
            schema.check_model(
                schema.read_meta(connection, self._folder), self._folder, *self._model
            )
        except BaseException:
            connection.close()
            raise
        return connection


class Writing:
    """The connection that writes, opened by the first write: one transaction a call."""

    def __init__(self, folder: Path, fingerprint: str, dimensions: int, patience_s: float) -> None:
        self._folder = folder
        self._model = fingerprint, dimensions
        self._patience_s = patience_s
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._stamp: tuple[int, int] = 0, 0

    @contextmanager
    def transaction(self) -> Iterator[tuple[sqlite3.Connection, schema.Meta]]:
        """Hold the index for writing; all of the block is kept, or none of it.

        Raises:
            IndexBusy: another process holds it for longer than the patience.
        """
        with self._lock, translated(self._folder):
            connection = self._current()
            connection.execute("BEGIN IMMEDIATE")
            try:
                meta = schema.read_meta(connection, self._folder)
                schema.check_model(meta, self._folder, *self._model)
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

    def close(self) -> None:
        """Close the connection; the next transaction would open it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _current(self) -> sqlite3.Connection:
        path = found(self._folder)
        held = path.stat()
        if self._connection is not None and self._stamp != (held.st_dev, held.st_ino):
            self.close()  # erased and made anew: a write to the old file would be lost
        if self._connection is None:
            connection = connect(path, "mode=rw", self._patience_s)
            try:
                schema.identify(connection, self._folder)
                schema.upgrade(connection)
                connection.execute("PRAGMA synchronous = FULL")  # what was put survives a power cut
                connection.execute("PRAGMA journal_size_limit = 33554432")
            except BaseException:
                connection.close()
                raise
            self._connection, self._stamp = connection, (held.st_dev, held.st_ino)
        return self._connection
