"""A file that one process at a time holds; the system takes it back, however the process ends."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)

if sys.platform == "win32":
    import msvcrt

    _PLACE = 1 << 30  # far behind what is written: readers never reach the locked byte

    def _lock(handle: int) -> None:
        os.lseek(handle, _PLACE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _unlock(handle: int) -> None:
        os.lseek(handle, _PLACE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def held(handle: int) -> Iterator[bool]:
    """Hold an open file while this lasts; gives False where another process, or this one, does.

    File systems without locks exclude nobody. The file must not be removed: a lock on a
    file without a name would let the next one in.

    Args:
        handle: of a file that is open for writing.
    """
    try:
        _lock(handle)
    except OSError as error:
        taken, ours = error.errno in _TAKEN, False
    else:
        taken, ours = False, True
    try:
        yield not taken
    finally:
        if ours:
            _unlock(handle)
