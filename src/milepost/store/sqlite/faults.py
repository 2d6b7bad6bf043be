"""Faults of SQLite and the system in Milepost's own words."""

from __future__ import annotations

import errno
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from milepost.errors import IndexBusy, MilepostError, StorageFull, StoreError
from milepost.store.sqlite import schema

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# SQLite reports a quota or a limit on file size as a failed write, and a full disk under its
# shared memory as a failure of its own.
_FULL_IO = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
_DOOR = "check the folder's permissions, or choose another with --db FOLDER"


def kind(error: sqlite3.Error) -> int:
    """SQLite's primary code of an error, 0 where Python itself raised it."""
    return _code(error) & 0xFF


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite and the system into Milepost's own."""
    try:
        yield
    except sqlite3.Error as error:
        raise _fault(error, folder) from error
    except zlib.error as error:
        raise schema.damaged(folder, f"{schema.FILE}: {error}") from error
    except OSError as error:
        if error.errno in _FULL:
            raise _full(folder) from error
        raise StoreError(f"{folder} cannot be used: {error.strerror or error}", _DOOR) from error


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", None) or 0


def _full(folder: Path) -> StorageFull:
    return StorageFull(
        f"no space left for the index {folder}; its contents are intact",
        "free some space (or raise the quota) and run the command again",
    )


def _fault(error: sqlite3.Error, folder: Path) -> MilepostError:
    primary = kind(error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IndexBusy(
            f"another process is writing to the index {folder}",
            "wait until it is done, then run the command again",
        )
    if primary == sqlite3.SQLITE_FULL or _code(error) in _FULL_IO:
        return _full(folder)
    if primary == sqlite3.SQLITE_NOTADB:
        return schema.foreign(folder)
    if primary == sqlite3.SQLITE_CORRUPT:
        return schema.damaged(folder, f"{schema.FILE}: {error}")
    if primary == sqlite3.SQLITE_READONLY:
        return StorageFull(f"the index {folder} cannot be written: {error}", _DOOR)
    if primary in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(f"no permission to open the index {folder} ({error})", _DOOR)
    return StoreError(f"the index {folder} cannot be used: {error}")
