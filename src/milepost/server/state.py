"""What the routes of one server share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar, cast

import anyio
from anyio.to_thread import run_sync
from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError

from milepost.documents.isolated import Isolated
from milepost.encoder import Encoder
from milepost.server.batching import MAX_WAITING, Batcher
from milepost.server.documents.indexing import Indexer
from milepost.server.documents.library import Library
from milepost.server.failures import HttpError
from milepost.server.govern import Governor
from milepost.server.metrics import Metrics
from milepost.server.settings import ServeSettings

T = TypeVar("T")

CLIENT_LEFT = 499
"""Status of a request whose client left before the answer; nobody sees it but the metrics."""


@dataclass(slots=True)
class State:
    """The parts of a server.

    ``pages`` is the process that finds boxes and draws pages; ``searches`` lets so many run as the
    settings say; ``waiting`` is the number of those that run or wait.
    """

    settings: ServeSettings
    library: Library
    encoder: Encoder
    batcher: Batcher
    indexer: Indexer
    pages: Isolated
    metrics: Metrics
    governor: Governor
    searches: anyio.CapacityLimiter
    waiting: int = 0

    async def searching(self, work: Callable[[], T], *, patient: bool = False) -> T:
        """Run a search in a thread; indexing pauses meanwhile. Status 503 where too many wait.

        One that is ``patient`` waits however many do, as a part of an answer that has begun. One
        whose client has left goes on to its end, and counts until then: a thread cannot be stopped.
        """
        if self.waiting >= MAX_WAITING and not patient:
            raise HttpError(503, "too many searches wait", "later", {"Retry-After": "2"})

        def governed() -> T:
            with self.governor.search():
                return work()

        self.waiting += 1
        try:
            return await run_sync(governed, limiter=self.searches)
        finally:
            self.waiting -= 1


async def _state(request: Request) -> State:
    return cast("State", request.app.state.milepost)


ServerState = Annotated[State, Depends(_state)]
"""The parts of the server that a request has come to."""


async def _look(state: ServerState) -> None:
    if state.library.roots:
        await run_sync(state.indexer.refresh)


FOLLOWED = Depends(_look)
"""Has a request answered of the files as they are now, which takes a second at most."""


async def _known(request: Request) -> None:
    known = {each.alias for each in request.scope["route"].dependant.query_params}
    for name in request.query_params:
        if name not in known:
            raise RequestValidationError([{"loc": ("query", name), "type": "extra_forbidden"}])


KNOWN = Depends(_known)
"""Refuses query parameters that a route does not have: a filter of another name filters nothing."""


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """The result of work that is cancelled, with status 499, when the client leaves."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HttpError(CLIENT_LEFT, "the client left")
        return task.result()
    finally:
        task.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
