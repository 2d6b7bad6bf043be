"""A pseudo-terminal of Unix that a call of this process, or another process, writes to."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from support.cli_process import command, environment

_ROWS = 24


@contextmanager
def _terminal(columns: int) -> Iterator[tuple[int, list[bytes]]]:
    """A terminal to write to, by its descriptor, and what it shows once that one is closed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
    shown: list[bytes] = []

    def read() -> None:
        try:
            while data := os.read(ours, 65536):
                shown.append(data)
        except OSError:  # Linux says so when the other side is closed
            pass

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        yield theirs, shown
    finally:
        reader.join()
        os.close(ours)


def run_on_terminal(*args: object, columns: int = 80, **environ: str) -> tuple[int, str]:
    """Run a command in this process on a terminal; its exit code and what is shown."""
    from milepost.cli.program import program

    code: object = 0
    with (
        _terminal(columns) as (theirs, shown),
        os.fdopen(theirs, "w", encoding="utf-8") as stream,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in ("stdout", "stderr", "__stdout__"):
            patch.setattr(sys, name, stream)
        for name, value in environ.items():
            patch.setenv(name, value)
        try:
            program.main([str(arg) for arg in args])
        except SystemExit as end:
            code = end.code
    return int(str(code or 0)), b"".join(shown).decode()


def start_on_terminal(*args: object, columns: int = 80) -> tuple[int, str]:
    """As ``run_on_terminal``, in a process of its own."""
    with _terminal(columns) as (theirs, shown):
        process = subprocess.Popen(
            command(*args), stdin=theirs, stdout=theirs, stderr=theirs, env=environment()
        )
        os.close(theirs)
    return process.wait(), b"".join(shown).decode()


def settled(shown: str) -> str:
    """What is shown in the end: without the lines of progress that were erased."""
    return re.sub(r"[^\n]*\r?\n(?:\x1b\[\?25h)?\r?(?=\x1b\[1A\x1b\[2K)", "", shown)


def plain(shown: str) -> str:
    """What is shown, without links, colours and movements of the cursor."""
    return re.sub(r"\x1b\]8;[^\x1b]*\x1b\\|\x1b\[[0-9;?]*[A-Za-z]", "", shown)
