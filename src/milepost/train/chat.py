"""A language model behind an OpenAI-compatible endpoint: ``POST URL/chat/completions``.

The standard library's client: what the base install has beside it (httpx, requests) comes with
other packages, which have changed it more than once, and one small request at a time asks for
no more.
"""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from milepost.errors import InputError, MilepostError

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses worth another attempt."""

_THIS_ONE = frozenset({400, 413, 422})
"""Statuses that may concern one request only: too long, or filtered."""

_LARGEST = 4 << 20  # bytes of an answer
_LONGEST_WAIT = 120.0  # seconds between two tries, whatever the endpoint asks for

Message = dict[str, str]


class Unanswered(Exception):
    """The endpoint works, but this one request got no usable answer."""


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: the key would go wherever it points."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Endpoint:
    """Sends one request at a time, and again where that may help.

    Args:
        url: with or without ``/chat/completions``; as other tools' ``OPENAI_BASE_URL``.
        model: its name there.
        key: sent as a bearer token; "" for none. Never shown in a message.
        timeout_s: for one whole answer.
        tries: maximum attempts for one answer.
        wait_s: before the second try; doubled for each further one, up to two minutes. What the
            endpoint asks for (``Retry-After``) counts where it is longer.
        per_minute: maximum requests; 0 for no limit.
        report: called with a message before a wait of more than a few seconds.

    Attributes:
        requests: number of requests sent.

    Raises:
        InputError: ``url`` is not an http or https address, or a number is out of range.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        timeout_s: float = 120.0,
        tries: int = 6,
        wait_s: float = 1.0,
        per_minute: float = 0.0,
        report: Callable[[str], object] = lambda _: None,
    ) -> None:
        if not _is_address(url):
            raise InputError(f"{url!r} is not an address", "--endpoint http://HOST:PORT/v1")
        if timeout_s <= 0 or tries < 1 or wait_s < 0 or per_minute < 0:
            raise InputError("a limit of the endpoint is out of range", "numbers above 0")
        if not key.isascii() or not key.isprintable():
            raise InputError("the API key has characters that no key has", "check OPENAI_API_KEY")
        path = url.rstrip("/")
        ending = "/chat/completions"
        self.url = path if path.endswith(ending) else path + ending
        self.model = model
        self.requests = 0
        self._key = key
        self._timeout, self._tries, self._wait = timeout_s, tries, wait_s
        self._apart = 60.0 / per_minute if per_minute else 0.0
        self._report = report
        self._next = 0.0
        self._open = build_opener(_Stay).open
        self._random = random.Random(0)

    def ask(self, messages: Sequence[Message], temperature: float | None = None) -> str:
        """The answer's text.

        No limit of tokens is sent, and no temperature unless one is given: what they are called
        and which values are allowed differs from model to model.

        Raises:
            Unanswered: this request cannot be answered, or its answers cannot be read.
            MilepostError: the endpoint cannot be reached or refuses all requests.
        """
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if temperature is not None:
            body["temperature"] = temperature
        data = json.dumps(body).encode()
        for number in range(1, self._tries + 1):
            self._pace()
            try:
                return _text_of(self._send(data))
            except HTTPError as error:
                with error:
                    problem, asked = self._judge(error)
                unread = False
            except (URLError, OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                problem, asked, unread = str(reason) or type(error).__name__, 0.0, False
            except ValueError as error:
                problem, asked, unread = f"its answer has an unknown form ({error})", 0.0, True
            if number < self._tries:
                self._pause(problem, number, asked)
        if unread:
            raise Unanswered(problem)
        raise MilepostError(
            f"{self.url}: {problem} (tried {self._tries} times)",
            "the same command when it answers again; nothing written is lost",
        )

    def _send(self, data: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        end = time.monotonic() + self._timeout
        self.requests += 1
        request = Request(self.url, data, headers, method="POST")
        found = bytearray()
        with self._open(request, timeout=self._timeout) as answer:
            # The socket's own timeout starts anew with every byte.
            while part := answer.read1(1 << 16):
                found += part
                if len(found) > _LARGEST:
                    raise ValueError("longer than any answer")
                if time.monotonic() > end:
                    raise TimeoutError(f"no whole answer within {self._timeout:g} s")
            if answer.length:  # read1 does not say that the connection ended early
                raise http.client.IncompleteRead(bytes(found), answer.length)
        return bytes(found)

    def _judge(self, error: HTTPError) -> tuple[str, float]:
        """The problem and the wait asked for, where another try may help; else raises."""
        problem = f"HTTP {error.code}{_said(error)}"
        if self._key:
            problem = problem.replace(self._key, "…")
        if error.code in _THIS_ONE:
            raise Unanswered(problem)
        if error.code in _AGAIN:
            return problem, _seconds(error.headers.get("Retry-After"))
        hints = {
            401: "set OPENAI_API_KEY to a key of this endpoint",
            403: "a key with access to this model",
            404: "check --endpoint (it often ends in /v1) and --model",
        }
        moved = error.headers.get("Location") if 300 <= error.code < 400 else None
        hint = f"--endpoint {moved}, its new address" if moved else hints.get(error.code, "")
        raise MilepostError(f"{self.url}: {problem}", hint or "check --endpoint and --model")

    def _pause(self, problem: str, number: int, asked: float) -> None:
        """Wait before another try, longer each time, with jitter."""
        usual = self._wait * 2 ** (number - 1) * self._random.uniform(0.75, 1.25)
        wait = min(_LONGEST_WAIT, max(usual, asked))
        if wait > 3:
            self._report(f"{problem}; again in {wait:.0f} s")
        time.sleep(wait)

    def _pace(self) -> None:
        now = time.monotonic()
        if now < self._next:
            time.sleep(self._next - now)
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


def _text_of(data: bytes) -> str:
    """The text of a completion.

    Raises:
        ValueError: another form than ``choices[0].message.content``.
    """
    try:
        content = json.loads(data)["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError, RecursionError) as error:
        raise ValueError("no choices[0].message.content") from error
    if content is None:  # how some endpoints say that they refuse
        return ""
    if not isinstance(content, str):
        raise ValueError("its content is not text")  # noqa: TRY004 - all of these are one mistake
    return content


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
