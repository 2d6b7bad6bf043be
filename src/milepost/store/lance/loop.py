"""LanceDB's calls are coroutines: one thread of this process runs them, several at a time."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_guard = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None  # process, and its loop


def wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and wait for its result."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def together(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    """Run coroutines at the same time, all of them to their end, before an error is raised."""
    done = await asyncio.gather(*work, return_exceptions=True)
    for each in done:
        if isinstance(each, BaseException):
            raise each
    return done


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _guard:
        if _running is None or _running[0] != os.getpid():  # threads do not survive a fork
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="milepost-lance", daemon=True).start()
            _running = os.getpid(), loop
        return _running[1]
