"""Locks on whole folders: an index that a process has open is not removed from the cache.

They end with the process. Windows needs none: a folder with open files cannot be renamed there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class Hold:
    """A lock that any number of processes share until each has closed its own."""

    def __init__(self, folder: Path) -> None:
        self._file: int | None = None
        with suppress(OSError):  # missing, or without locks; the store says what is wrong
            if sys.platform != "win32":
                self._file = os.open(folder, os.O_RDONLY)
                fcntl.flock(self._file, fcntl.LOCK_SH)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = close  # of an index that nobody has closed


@contextmanager
def unused(path: Path) -> Iterator[bool]:
    """Whether nobody holds a folder; then nobody opens it until the end of the block."""
    if sys.platform == "win32":
        yield True
        return
    file, free = os.open(path, os.O_RDONLY), True
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # any other: a file system without locks
            free = not isinstance(error, BlockingIOError)
        yield free
    finally:
        os.close(file)
