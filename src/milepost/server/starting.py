"""A server that answers before its model is loaded.

Opening the index, loading the model and importing the application take a second or two. Until that
is done in a thread, the page and its files are served, ``/ready`` says 503, and every other request
waits. This module imports little, so that it can answer at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

import milepost
from milepost.server.failures import answer
from milepost.server.guard import Guard
from milepost.server.page_files import page_file
from milepost.server.prefix import route_path

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from milepost.server.settings import ServeSettings

LOADING = "the model is being loaded; try: again in a second"


class Starting:
    """An ASGI application that stands for another one until ``make`` has made it, in a thread.

    Attributes:
        settings: those of the other.
        opened: set by ``make`` when the index is open, or when it could not be opened.
        done: set when the application is made, or could not be made.
        error: why not.
    """

    def __init__(self, make: Callable[[threading.Event], FastAPI], settings: ServeSettings) -> None:
        self._make, self.settings = make, settings
        self._early = Guard(_early, settings)
        self._app: FastAPI | None = None
        self._answered = asyncio.Event()
        self.opened, self.done = threading.Event(), threading.Event()
        self.error: BaseException | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if self._app is None and scope["type"] == "http" and _early_answer(scope) is not None:
            await self._early(scope, receive, send)
            return
        await self._answered.wait()
        if self._app is None:
            await answer(503, "the server could not start")(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        """The lifespan: it begins at once, and has that of the application inside."""
        await receive()
        ending = asyncio.Event()
        task = asyncio.create_task(self._run(ending))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        ending.set()
        await task
        await send({"type": "lifespan.shutdown.complete"})

    async def _run(self, ending: asyncio.Event) -> None:
        try:
            app = await asyncio.to_thread(self._make, self.opened)
            async with app.router.lifespan_context(app):
                self._app = app
                self._answered.set()
                self.done.set()
                await ending.wait()
        except Exception as error:
            self.error = error
        finally:
            self._answered.set()
            self.opened.set()
            self.done.set()


def _early_answer(scope: Scope) -> Response | None:
    """What can be said before the application is there; None where the request must wait."""
    path = route_path(scope)
    if scope["method"] not in ("GET", "HEAD"):  # uvicorn leaves the body of HEAD out
        return None
    if path == "/":
        return page_file("index.html")
    if path.startswith("/page/"):
        return page_file(path.removeprefix("/page/"))
    if path == "/health":
        return JSONResponse({"status": "ok", "version": milepost.__version__})
    if path == "/ready":
        return answer(503, LOADING, {"Retry-After": "1"})
    return None


async def _early(scope: Scope, receive: Receive, send: Send) -> None:
    response = _early_answer(scope)
    assert response is not None
    await response(scope, receive, send)
