"""A real server on this machine that speaks OpenAI's protocol, at once or streamed, well or badly.

A remote service cannot be had in tests, so this stands for it; everything on our side of the
connection is real, and ``tests/docs/test_examples.py`` asks it with OpenAI's own client.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.http_server import Handler, listening

DROP, SHORT = object(), object()


@dataclass
class Reply:
    """A whole answer; a body that is not bytes is sent as JSON."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Stream:
    """How an answer is streamed; bytes are sent as they stand, in the place of an event."""

    pieces: list[str | bytes]
    reason: str | None = "stop"  # None: it breaks off after the pieces
    between: Callable[[int], Any] = lambda _: None  # called before each piece


@dataclass
class Chat:
    """What was asked of the server at ``url``; ``path`` is among the headers of a request."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    # Set when a client has gone before the end of a streamed answer.
    left: threading.Event = field(default_factory=threading.Event)


def refused(status: int, message: str) -> Reply:
    """An error in OpenAI's form."""
    return Reply({"error": {"message": message, "type": "error"}}, status)


def completion(text: str | None) -> dict[str, Any]:
    """A completion that comes at once."""
    message = {"role": "assistant", "content": text}
    return _record("chat.completion", message=message, finish_reason="stop")


def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
    """One event of a streamed completion."""
    record = _record("chat.completion.chunk", delta=delta, finish_reason=reason)
    return f"data: {json.dumps(record)}\n\n".encode()


def _record(kind: str, **choice: Any) -> dict[str, Any]:
    about = {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "small"}
    return {**about, "choices": [{"index": 0, **choice}]}


@contextmanager
def serving(*replies: Any) -> Iterator[Chat]:
    """Serve on a free port of this machine until the block ends.

    The replies are to the requests in turn, the last one to all that follow. A string is an
    answer's text (in pieces of words where a stream is wanted), an int a status, bytes a body of
    JSON as it is; a ``Reply`` or ``Stream`` as it says; ``DROP`` closes the connection, ``SHORT``
    closes it in the middle, a float waits so many seconds between the bytes of an answer; a
    function makes one of these of a request's number (from 0) and body.
    """
    chat = Chat()

    class Completions(Handler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = len(chat.requests)
            self.headers["path"] = self.path
            chat.requests.append(body)
            chat.headers.append(self.headers)
            chat.times.append(time.monotonic())
            self.close_connection = True
            what = replies[min(number, len(replies) - 1)]
            what = what(number, body) if callable(what) else what
            if isinstance(what, str) and body.get("stream"):
                first, *others = what.split(" ")
                what = Stream([first, *(f" {word}" for word in others)])
            try:
                self._answer(what)
            except OSError:  # whoever asked has gone
                chat.left.set()

        def do_GET(self) -> None:
            chat.requests.append({"method": "GET", "path": self.path})
            self._send(Reply(completion("from elsewhere")))

        def _answer(self, what: Any) -> None:
            if what is DROP:
                return
            if what is SHORT:
                self._send(Reply(completion("What is cut?")), length=9999)
            elif isinstance(what, float):
                self._drip(what)
            elif isinstance(what, int):
                self._send(refused(what, f"status {what} it is"))
            elif isinstance(what, Stream):
                self._stream(what)
            elif isinstance(what, Reply):
                self._send(what)
            else:
                self._send(Reply(completion(what) if isinstance(what, str) else what))

        def _send(self, reply: Reply, **more: int) -> None:
            body, kind = reply.body, {"Content-Type": "application/json", "Connection": "close"}
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.answer(reply.status, data, kind | reply.headers, **more)

        def _stream(self, stream: Stream) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self._chunk(event({"role": "assistant", "content": ""}))
            for number, piece in enumerate(stream.pieces):
                stream.between(number)
                self._chunk(piece if isinstance(piece, bytes) else event({"content": piece}))
            if stream.reason is not None:
                self._chunk(event({}, stream.reason) + b"data: [DONE]\n\n")
                self._chunk(b"")

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

        def _drip(self, pause_s: float) -> None:
            body = json.dumps(completion("What comes slowly?")).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(pause_s)

    with listening(Completions) as url:
        chat.url = f"{url}/v1"
        yield chat
