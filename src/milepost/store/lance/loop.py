"""LanceDB's calls are coroutines: a thread of LanceDB's runs them, several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from lancedb.background_loop import LOOP  # renewed after a fork

T = TypeVar("T")


def wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and wait for its result."""
    result: T = LOOP.run(work)
    return result


async def together(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    """Run coroutines at the same time, all of them to their end, before an error is raised."""
    done = await asyncio.gather(*work, return_exceptions=True)
    for each in done:
        if isinstance(each, BaseException):
            raise each
    return done
