"""A language model behind an OpenAI-compatible endpoint: ``POST URL/chat/completions``.

A request is sent again where that may help, and the key is never shown. The standard library's
client: what the base install has beside it (httpx2) comes with another package, which has changed
it more than once, and one small request at a time asks for no more. ``openai`` would bring seven
packages, 29 MB, for the same request.
"""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from copy import copy
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from milepost.chat.reading import Reading, streamed, whole
from milepost.chat.thinking import apart, without_thoughts
from milepost.errors import InputError, MilepostError, without_secrets

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses worth another attempt."""

_THIS_ONE = frozenset({400, 413, 422})
"""Statuses that may concern one request only: too long, or filtered."""

_LONGEST_WAIT = 120.0  # seconds between two tries, whatever the endpoint asks for

_ENDING, _OPTION = "/chat/completions", "--endpoint"

Message = dict[str, str]


class NoResponse(MilepostError):
    """The endpoint works, but this one request got no usable answer."""


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: the key would go wherever it points."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _Line(HTTPSHandler, HTTPHandler):
    """Opens connections that another thread can cut, also before the first byte of an answer."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = threading.Event()
        self._socket: socket.socket | None = None

    def do_open(self, http_class: Any, req: Request, **more: Any) -> http.client.HTTPResponse:
        def made(*args: Any, **options: Any) -> http.client.HTTPConnection:
            connection: http.client.HTTPConnection = http_class(*args, **options)
            connect = connection.connect

            def connected() -> None:
                connect()
                self._socket = connection.sock
                if self.ended.is_set():
                    self.cut()

            connection.connect = connected  # type: ignore[method-assign]
            return connection

        return super().do_open(made, req, **more)

    def cut(self) -> None:
        self.ended.set()
        if self._socket is not None:
            with suppress(OSError):  # closed
                # Not that of TLS, which changes what the other thread is reading from.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class Endpoint:
    """Asks a language model, one request at a time.

    ``url`` is with or without ``/chat/completions``, as other tools' ``OPENAI_BASE_URL``; a query
    (``?api-version=…``) is kept and never shown, nor is ``key``, sent as a bearer token;
    ``key_name`` is the variable that holds it, for messages. ``timeout_s`` is for one whole answer;
    of a streamed one, for each piece. ``wait_s`` before the second of ``tries`` is doubled for each
    further one, up to two minutes; what the endpoint asks for (``Retry-After``) counts where it is
    longer. 0 requests ``per_minute`` are no limit. ``report`` is called with a message before a
    wait of more than a few seconds.

    Raises:
        InputError: ``url`` is not an http or https address or holds a password, or a number is
            out of range.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        key_name: str = "OPENAI_API_KEY",
        timeout_s: float = 120.0,
        tries: int = 6,
        wait_s: float = 1.0,
        per_minute: float = 0.0,
        report: Callable[[str], object] = lambda _: None,
    ) -> None:
        if not _is_address(url):
            raise InputError(
                f"{without_secrets(url)!r} is not an address", f"{_OPTION} http://HOST:PORT/v1"
            )
        if timeout_s <= 0 or tries < 1 or wait_s < 0 or per_minute < 0:
            raise InputError("a limit of the endpoint is out of range", "numbers above 0")
        if not key.isascii() or not key.isprintable():
            raise InputError("the API key has invalid characters", f"check {key_name}")
        parts = urlsplit(url)
        if parts.username is not None:
            raise InputError(
                f"the address of {parts.hostname} holds a name or password",
                f"the key in {key_name}",
            )
        path = parts.path.rstrip("/")
        path = path if path.endswith(_ENDING) else path + _ENDING
        self.url = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
        self._target = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
        self.model = model
        self.requests = 0
        self._secrets = [each for each in (key, parts.query) if each]
        self._key, self._key_name = key, key_name
        self._timeout, self._tries, self._wait = timeout_s, tries, wait_s
        self._apart = 60.0 / per_minute if per_minute else 0.0
        self._report = report
        self._next = 0.0
        self._random = random.Random(0)
        self._connect()

    def _connect(self) -> None:
        self._line = _Line()
        self._open = build_opener(_Stay, self._line).open

    def another(self) -> Endpoint:
        """The same endpoint for other requests, which its ``cut`` ends alone."""
        made = copy(self)
        made._connect()
        return made

    def cut(self) -> None:
        """End the request that runs, from any thread: it fails, and no further one is tried."""
        self._line.cut()

    def no_response(self, problem: str) -> NoResponse:
        """The error that says why a request got no usable answer."""
        return NoResponse(f"{self.url}: {problem}", "the same question again")

    def ask(self, messages: Sequence[Message], temperature: float | None = None) -> str:
        """The answer's text, once it is whole.

        A ``temperature`` of None leaves it to the endpoint: which are allowed differs from model to
        model.

        Raises:
            NoResponse: this request cannot be answered, or its answers cannot be read.
            MilepostError: the endpoint cannot be reached or refuses all requests.
        """
        more = {} if temperature is None else {"temperature": temperature}
        return without_thoughts("".join(self._tried(self._data(messages, **more), whole)))

    def stream(self, messages: Sequence[Message]) -> Generator[str, None, str]:
        """The answer's text piece by piece, as it is written; what was thought is a ``Thought``.

        A request is sent again only as long as nothing of an answer has come. Closing the
        generator closes the connection, so that the endpoint can stop.

        Returns:
            The generator's value is why the answer ended: ``stop``, ``length`` (it was cut) …, or
            ``REFUSED`` and what the model says.

        Raises:
            NoResponse: this request cannot be answered, its answers cannot be read, or one has
                broken off.
            MilepostError: the endpoint cannot be reached or refuses all requests.
        """
        return apart(self._tried(self._data(messages, stream=True), streamed))

    def _data(self, messages: Sequence[Message], **more: Any) -> bytes:
        return json.dumps({"model": self.model, "messages": list(messages), **more}).encode()

    def _tried(self, data: bytes, read: Reading) -> Generator[str, None, str]:
        """Send and read, again as long as that may help and nothing has been read."""
        for number in range(1, self._tries + 1):
            self._pace()
            begun, asked, unread, limited = False, 0.0, False, False
            try:
                self.requests += 1
                with self._open(self._request(data), timeout=self._timeout) as answer:
                    reading = read(answer, self._timeout)
                    while True:
                        try:
                            piece = next(reading)
                        except StopIteration as end:
                            return str(end.value)
                        begun = True
                        yield piece
            except HTTPError as error:
                with error:
                    problem, asked = self._judge(error)
                limited = error.code == 429
            except (URLError, OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                problem = str(reason) or type(error).__name__
            except ValueError as error:
                problem, unread = f"its answer has an unknown form ({error})", True
            problem = self._without_secrets(problem)
            if begun:
                raise self.no_response(f"the answer broke off: {problem}")
            if number < self._tries:
                self._pause(problem, number, asked)
        if unread:
            raise self.no_response(problem)
        raise MilepostError(
            f"{self.url}: {problem} (tried {self._tries} times)",
            f"{'wait, or raise its limit' if limited else 'check that it runs'}; then the same "
            "command again",
        )

    def _request(self, data: bytes) -> Request:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return Request(self._target, data, headers, method="POST")

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text

    def _judge(self, error: HTTPError) -> tuple[str, float]:
        """The problem and the wait asked for, where another try may help; else raises."""
        problem = self._without_secrets(f"HTTP {error.code}{_said(error)}")
        if error.code in _THIS_ONE:
            raise self.no_response(problem)
        if error.code in _AGAIN:
            return problem, _seconds(error.headers.get("Retry-After"))
        hints = {
            401: f"set {self._key_name} to a key of this endpoint",
            403: "a key with access to this model",
            404: f"check {_OPTION} (it often ends in /v1) and the model's name",
        }
        moved = error.headers.get("Location") if 300 <= error.code < 400 else None
        hint = hints.get(error.code, "")
        if moved:
            hint = self._without_secrets(f"{_OPTION} {without_secrets(moved)}, its new address")
        raise MilepostError(
            f"{self.url}: {problem}", hint or f"check {_OPTION} and the model's name"
        )

    def _pause(self, problem: str, number: int, asked: float) -> None:
        usual = self._wait * 2 ** (number - 1) * self._random.uniform(0.75, 1.25)
        wait = min(_LONGEST_WAIT, max(usual, asked))
        if wait > 3:
            self._report(f"{problem}; again in {wait:.0f} s")
        if self._line.ended.wait(wait):
            raise self.no_response(problem)

    def _pace(self) -> None:
        now = time.monotonic()
        if now < self._next:
            self._line.ended.wait(self._next - now)
        self._next = max(now, self._next) + self._apart


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        plain = url.isascii() and url.isprintable() and " " not in url
        return (
            plain and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        )
    except ValueError:  # a port that is not a number
        return False


def _said(error: HTTPError) -> str:
    """What the body of an error says, in one short line."""
    try:
        body = json.loads(error.read(1 << 16))
        said = body["error"]["message"] if isinstance(body["error"], dict) else body["error"]
    except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
        return ""
    words = " ".join(str(said).split())
    return f": {words if len(words) <= 200 else words[:199] + '…'}"


def _seconds(value: str | None) -> float:
    """``Retry-After`` in seconds; a date, or nothing that can be read, says nothing."""
    try:
        wait = float(value or 0)
    except ValueError:
        return 0.0
    return wait if 0 <= wait < float("inf") else 0.0
