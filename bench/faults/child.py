"""A process that works until it is killed, and says what it is doing when that happens.

It is forked from this one, with everything loaded, so that a kill meets the work and not the start
of Python. What it says lies in memory that both share, and in a file: both outlive it.
"""

import ctypes
import mmap
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ACTIVITIES = ("reading", "encoding", "storing", "deleting", "vacuuming", "keeping an upload")
_WRITING = ("storing", "deleting", "vacuuming")
_SUBREAPER = 36  # of prctl: orphans of a killed child become children of this process


class _Shared(ctypes.Structure):
    _fields_ = (
        ("active", ctypes.c_uint8 * len(ACTIVITIES)),
        ("begun", ctypes.c_uint8),
        ("port", ctypes.c_uint32),
        ("writes", ctypes.c_uint32),
    )


class ChildState:
    """What a child says: whether it has begun, its port, what it is doing, what is finished.

    Attributes:
        shared: memory of both processes; ``port`` of a server is 0 until it listens, ``writes``
            counts the writes that have begun.
    """

    def __init__(self, done: Path) -> None:
        self.shared = _Shared.from_buffer(mmap.mmap(-1, 4096))
        self._done = done

    def clear(self) -> None:
        ctypes.memset(ctypes.addressof(self.shared), 0, ctypes.sizeof(self.shared))
        self._done.write_bytes(b"")

    def finished(self, name: str) -> None:
        with self._done.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    def all_finished(self) -> list[str]:
        return self._done.read_text(encoding="utf-8").splitlines()

    def doing(self) -> str:
        active = [what for number, what in enumerate(ACTIVITIES) if self.shared.active[number]]
        return " and ".join(active) or "between"

    def watch(self) -> None:
        """Note the activities of this process from now on: only in a child."""
        import milepost.index.reading_ahead
        from milepost.documents.isolated import Isolated
        from milepost.encoder import Encoder
        from milepost.server.documents.library import Library
        from milepost.store.sqlite.store import SqliteStore

        for owner, name, activity in (
            (milepost.index.reading_ahead, "read_file", "reading"),
            (Isolated, "call_within", "reading"),
            (Encoder, "encode", "encoding"),
            (SqliteStore, "put", "storing"),
            (SqliteStore, "delete", "deleting"),
            (SqliteStore, "vacuum", "vacuuming"),
            (Library, "keep", "keeping an upload"),
        ):
            self._wrap(owner, name, ACTIVITIES.index(activity))

    def _wrap(self, owner: Any, name: str, number: int) -> None:
        plain = getattr(owner, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            self.shared.active[number] = 1
            if ACTIVITIES[number] in _WRITING:
                self.shared.writes += 1
            try:
                return plain(*args, **kwargs)
            finally:
                self.shared.active[number] = 0

        setattr(owner, name, noted)


def start(deed: Callable[[], object], output: Path) -> int:
    """Fork a process that does something and ends; its id. What it prints goes to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        to = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(to, 1)
        os.dup2(to, 2)
        code = int(deed() or 0)  # type: ignore[call-overload]
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def is_gone(pid: int) -> bool:
    """Whether a child has ended, however; ``ended`` still gives its exit code."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def ended(pid: int, seconds: float = 60.0) -> int:
    """Wait for a child; its exit code, negative for a signal. It is killed when time is up."""
    until = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise TimeoutError(f"a child did not end within {seconds:g} s")
        time.sleep(0.001)


_own: set[int] = set()
"""Children that this process had before: those that multiprocessing starts for itself."""


def adopt_orphans() -> None:
    """Become the parent of whatever a killed child leaves, so that it can be counted."""
    _own.update(_children())
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def orphans(seconds: float = 10.0) -> int:
    """Processes that are left, after this time to end; they are killed."""
    until = time.monotonic() + seconds
    while left := _children():
        for pid in left:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > until:
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            return len(left)
        time.sleep(0.01)
    return 0


def _children() -> list[int]:
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [pid for word in text.split() if (pid := int(word)) not in _own]
