"""A double of a remote language model: the OpenAI chat protocol over HTTP, streamed.

A remote service cannot be had in tests, so this stands for it; everything on our side of the
connection is real. Starlette and uvicorn speak the HTTP; ``tests/chat/test_stream.py`` checks with
OpenAI's own client that the protocol is theirs.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route


@dataclass
class Stream:
    """How an answer is streamed.

    Attributes:
        pieces: its text; bytes are sent as they stand, in the place of an event.
        reason: why it ends; None: it breaks off after the pieces.
        between: called before each piece.
    """

    pieces: list[str | bytes]
    reason: str | None = "stop"
    between: Callable[[int], Any] = lambda _: None


Reply = Callable[[dict[str, Any]], "Stream | Response | str"]


@dataclass
class Model:
    """What was asked of the server.

    Attributes:
        url: the endpoint.
        requests: bodies in order.
        headers: theirs.
        left: set when a client has gone before the end of an answer.
    """

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)


def refused(status: int, message: str) -> Response:
    """An error in OpenAI's form."""
    return JSONResponse({"error": {"message": message, "type": "error"}}, status)


@contextmanager
def serving(reply: Reply) -> Iterator[Model]:
    """Serve on a free port of this machine until the block ends.

    Args:
        reply: a request's body to what comes back: a stream, a text (in pieces of words), or any
            response.
    """
    model = Model()

    async def completions(request: Request) -> Any:
        body = await request.json()
        model.requests.append(body)
        model.headers.append(dict(request.headers))
        found = reply(body)
        if isinstance(found, Response):
            return found
        stream = Stream(words(found)) if isinstance(found, str) else found
        if not body.get("stream"):
            text = "".join(piece for piece in stream.pieces if isinstance(piece, str))
            return JSONResponse(completion(text))
        return Streamed(stream, model)

    async def other(_: Request) -> Response:
        return PlainTextResponse("not here", 404)

    app = Starlette(
        routes=[
            Route("/v1/chat/completions", completions, methods=["POST"]),
            Route("/{path:path}", other, methods=["GET", "POST"]),
        ]
    )
    config = uvicorn.Config(
        app, port=0, log_config=None, log_level="critical", ws="none", lifespan="off",
        loop="asyncio", http="h11", timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.002)
    port = server.servers[0].sockets[0].getsockname()[1]
    model.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield model
    finally:
        server.should_exit = True
        thread.join(10)


class Streamed(Response):
    """Server-sent events, with or without their end."""

    def __init__(self, stream: Stream, model: Model) -> None:
        super().__init__(media_type="text/event-stream")
        self.stream, self.model = stream, model

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the events; without a reason to end, the last chunk is never sent."""
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        leaving = asyncio.create_task(self._leaves(receive))
        async for data in self._events():
            if leaving.done():
                self.model.left.set()
                return
            await send({"type": "http.response.body", "body": data, "more_body": True})
        leaving.cancel()
        if self.stream.reason is not None:
            await send({"type": "http.response.body", "body": b""})

    async def _leaves(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _events(self) -> AsyncIterator[bytes]:
        yield event({"role": "assistant", "content": ""})
        for number, piece in enumerate(self.stream.pieces):
            await asyncio.to_thread(self.stream.between, number)
            yield piece if isinstance(piece, bytes) else event({"content": piece})
        if self.stream.reason is not None:
            yield event({}, self.stream.reason)
            yield b"data: [DONE]\n\n"


def words(text: str) -> list[str | bytes]:
    """A text in pieces as a model makes them."""
    parts = text.split(" ")
    return [part if number == 0 else f" {part}" for number, part in enumerate(parts)]


def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
    """One event of a streamed completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "small",
        "choices": [choice],
    }
    return f"data: {json.dumps(body)}\n\n".encode()


def completion(text: str) -> dict[str, Any]:
    """A completion that comes at once."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
