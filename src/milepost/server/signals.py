"""What Ctrl-C and SIGTERM do while there is something to serve."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType


@contextmanager
def on_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call this on SIGTERM and Ctrl-C; in another thread than the main one nothing is heard."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, handler) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)


def ended_at_once() -> AbstractContextManager[None]:
    """Let SIGTERM and Ctrl-C end the process at once.

    The first process of a container would ignore SIGTERM otherwise.
    """
    return on_signals(end_process)


def end_process(sig: int, frame: FrameType | None) -> None:
    """End the process; as safe as any kill: what is written takes its place when it is whole."""
    if sig == signal.SIGTERM:
        os._exit(0)
    os.write(2, b"milepost: interrupted\n")
    os._exit(128 + signal.SIGINT)
