"""A real server on this machine that speaks the protocol of chat completions, well or badly."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from support.http_server import Handler, listening


class Chat:
    """What the server answers, and what it was asked.

    Args:
        reply: a request's number (from 0) and body → what is done: a string is an answer's text,
            an int a status, bytes a whole body as it is, a dict a status with headers
            (``status``, ``headers``, ``body``), ``DROP`` closes the connection, ``SHORT`` closes
            it in the middle, a float waits so many seconds between the bytes of an answer.

    Attributes:
        requests: the bodies that came, in order.
        headers: theirs.
        times: when they came, in seconds.
    """

    def __init__(self, reply: Callable[[int, dict[str, Any]], Any]) -> None:
        self.reply = reply
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.url = ""


DROP, SHORT = object(), object()


def completion(text: str | None) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@contextmanager
def serving(reply: Callable[[int, dict[str, Any]], Any]) -> Iterator[Chat]:
    """Serve on a free port of this machine until the block ends."""
    chat = Chat(reply)

    class Completions(Handler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = len(chat.requests)
            chat.requests.append(body)
            chat.headers.append({**self.headers, "path": self.path})
            chat.times.append(time.monotonic())
            self.close_connection = True
            self._answer(chat.reply(number, body))

        def do_GET(self) -> None:
            chat.requests.append({"method": "GET", "path": self.path})
            self._send(200, completion("from elsewhere"))

        def _answer(self, what: Any) -> None:
            if what is DROP:
                return
            if what is SHORT:
                self._send(200, completion("What is cut?"), length=9999)
            elif isinstance(what, float):
                self._drip(what)
            elif isinstance(what, int):
                said = {"error": {"message": f"status {what} it is"}}
                self._send(what, json.dumps(said).encode())
            elif isinstance(what, dict):
                self._send(what["status"], what.get("body", b""), headers=what["headers"])
            else:
                self._send(200, what if isinstance(what, bytes) else completion(what))

        def _send(self, status: int, body: bytes, *, headers: Any = (), **more: int) -> None:
            self.answer(status, body, {**dict(headers), "Connection": "close"}, **more)

        def _drip(self, pause_s: float) -> None:
            body = completion("What comes slowly?")
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            for byte in body:
                try:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                except OSError:  # whoever asked has gone
                    return
                time.sleep(pause_s)

    with listening(Completions) as url:
        chat.url = f"{url}/v1"
        yield chat
