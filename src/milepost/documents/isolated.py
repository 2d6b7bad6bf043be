"""Calls in a process of their own: a file that crashes its reader does not end the server."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from milepost.errors import MilepostError, UnreadableFile, in_words

P = ParamSpec("P")
R = TypeVar("R")

GIBIBYTE = 1 << 30

_READY = "ready"
_START = 60.0  # seconds that the process may take to start, which no call pays for
_LONGEST = 200  # characters of what a library says of a damaged file: it may be the file itself


class Isolated:
    """Runs functions, one at a time, in another process, which is replaced when it dies.

    Functions are named by their module, arguments and results are pickled. Calls may come from any
    thread. One call may take so many ``seconds``; the process may have so many bytes of ``memory``.
    """

    def __init__(self, *, seconds: float = 600.0, memory: int = 8 * GIBIBYTE) -> None:
        self._seconds, self._memory = seconds, memory
        self._one = threading.Lock()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """``function(*args)`` in the other process; its errors, or its death, are raised here."""
        return self.call_within(self._seconds, function, *args, **kwargs)

    def call_within(
        self, seconds: float, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """``call`` with another limit of time."""
        with self._one:
            try:
                pipe = self._started()
                pipe.send((function, args, kwargs))
                if not pipe.poll(seconds):
                    self._stop()
                    raise UnreadableFile(f"reading took more than {seconds:g} s", "")
                done, value = pipe.recv()
            except (EOFError, BrokenPipeError, ConnectionResetError):
                self._stop()
                raise UnreadableFile("the file crashed its reader", "") from None
        if not done:
            raise value
        result: R = value
        return result

    def close(self) -> None:
        """End the process; a call that runs fails."""
        process = self._process
        if process is not None:
            process.kill()
        with self._one:
            self._stop()

    def _started(self) -> Connection[Any, Any]:
        if self._process is None or not self._process.is_alive() or self._pipe is None:
            self._stop()
            # Not forked: the server has threads, whose locks a fork would copy as they are.
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs, self._memory), name="milepost-reader", daemon=True
            )
            with theirs:
                process.start()
            self._process = process  # one that could not start cannot be stopped
            if not self._pipe.poll(_START) or self._pipe.recv() != _READY:
                raise EOFError
        return self._pipe

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def _serve(pipe: Connection[Any, Any], memory: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's business
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(ImportError, ValueError, OSError):  # Windows; or a lower limit is set already
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    pipe.send(_READY)
    while True:
        try:
            function, args, kwargs = pipe.recv()
        except EOFError:
            return
        try:
            reply = True, function(*args, **kwargs)
        except MilepostError as error:
            reply = False, UnreadableFile(error.problem, error.hint, getattr(error, "remedy", None))
        except MemoryError:
            reply = False, UnreadableFile("reading needs more memory than a file may take")
        except Exception as error:  # whatever a library raises on a damaged file
            file = next((each.name for each in args if isinstance(each, Path)), "the file")
            said = in_words(error)[:_LONGEST]
            reply = False, UnreadableFile(f"{file} cannot be read: {said}")
        pipe.send(reply)


def _end_with_parent() -> None:
    """End this process when its parent was killed: nobody would end a call that takes for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
