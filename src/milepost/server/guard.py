"""Who may ask, how much and how often; runs before anything else of the server."""

from __future__ import annotations

import hmac
import re
import time
from asyncio import CancelledError
from collections import OrderedDict
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from milepost.server.failures import answer
from milepost.server.prefix import route_path
from milepost.server.settings import LOOPBACK, MEBIBYTE, ServeSettings

_OPEN = frozenset({"/", "/health", "/ready"})
"""Paths that need no key: the page asks for the key itself, and probes have none."""

_CLIENTS = 10_000  # clients whose rate is remembered

_EMBEDDINGS_BYTES = 16 * MEBIBYTE
"""The largest request for embeddings. Any other may have a mebibyte: of many small values that
takes a tenth of a second, in which nobody is answered."""

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^][\s:/?#@\\]+?)\.?)(?::\d{1,5})?", re.IGNORECASE)

_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", _PAGE_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)


class Rates:
    """A bucket of tokens for each client: ``rate`` a second, ten times as many at once."""

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, 10.0 * rate
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take a token; seconds until there is one, or 0 where it was taken."""
        now = time.monotonic()
        left, since = self._buckets.pop(client, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        taken = left >= 1.0
        self._buckets[client] = (left - 1.0 if taken else left), now
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1.0 - left) / self._rate


class Guard:
    """ASGI middleware: host, origin, key, rate and size are checked, safe headers are added.

    A page on another site can neither read from the server nor write to it: its origin is not the
    server's, and a name that it rebinds to this address (DNS rebinding) is not one of ours.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings
        self._hosts = {*LOOPBACK, settings.host, *settings.allowed_hosts}
        self._rates = Rates(settings.rate) if settings.rate else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (path := scope["path"].rstrip("/")) and route_path(scope) != "/":
            scope["path"] = path  # clients of MCP ask for /mcp/
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = self._refused(scope, headers)
        if refused is not None:
            await refused(scope, receive, _safe(send))
            return
        await self._limited(scope, receive, _safe(send))

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; it ends where its body grows too long, whatever its header said."""
        most, taken, begun = self._most(scope), 0, False

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > most:
                    return {"type": "http.disconnect"}
            return message

        async def watched(message: Message) -> None:
            nonlocal begun
            if taken > most and not begun:
                return  # what the application says of a body that broke off
            begun = True
            await send(message)

        try:
            await self._app(scope, limited, watched)
        except CancelledError:  # the server ends, and this has not ended in the time it was given
            if begun:
                raise
            await answer(503, "the server ends", {"Retry-After": "2"})(scope, receive, send)
        except Exception:
            if taken <= most or begun:
                raise
        if taken > most and not begun:
            await _too_large(most)(scope, receive, send)

    def _most(self, scope: Scope) -> int:
        upload = route_path(scope) == "/documents" and scope["method"] == "POST"
        if upload:  # it is wrapped in some lines of multipart
            return self._settings.max_upload + 65_536
        return _EMBEDDINGS_BYTES if route_path(scope) == "/v1/embeddings" else MEBIBYTE

    def _refused(self, scope: Scope, headers: dict[str, str]) -> Any:
        settings = self._settings
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return answer(421, "the server does not go by this name; see --allowed-host")
        if "transfer-encoding" in headers and "content-length" in headers:
            # What comes behind would be a request to one of two servers, and a body to the other.
            return answer(400, "the request has two lengths", {"Connection": "close"})
        origin = headers.get("origin")
        if origin is not None and not self._ours(origin, host, scope.get("scheme", "http")):
            return answer(403, "web pages of this origin may not use the server; see --cors")
        client = (scope.get("client") or ("?",))[0]
        if self._rates is not None and (seconds := self._rates.wait(client)):
            more = {"Retry-After": str(1 + int(seconds))}
            return answer(429, f"more than {settings.rate:g} requests a second", more)
        path = route_path(scope)
        # A browser asks with OPTIONS, without a key, what it may ask.
        free = path in _OPEN or path.startswith("/page/") or scope["method"] == "OPTIONS"
        if settings.api_key and not free and not _known(headers, settings.api_key):
            more = {"WWW-Authenticate": "Bearer"}
            return answer(401, "a key is needed: Authorization: Bearer KEY", more)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._most(scope):
            return _too_large(self._most(scope))
        return None

    def _ours(self, origin: str, host: str, scheme: str) -> bool:
        """Whether a page of this origin may ask: the server's own, or one that was allowed.

        A proxy that speaks TLS for a name that was allowed need not say so: the same name and port
        without TLS is no other site.
        """
        allowed = self._settings
        own = {f"{scheme}://{host}"}
        if _name(host) in allowed.allowed_hosts:
            own.add(f"https://{host}")
        return origin in own or origin in allowed.allowed_origins


def _too_large(most: int) -> JSONResponse:
    return answer(413, f"the request is larger than {most:,} bytes")


def _known(headers: dict[str, str], key: str) -> bool:
    kind, _, given = headers.get("authorization", "").partition(" ")
    # In constant time: how long it takes says nothing of the key.
    right = hmac.compare_digest(given.strip().encode(), key.encode())
    return kind.lower() == "bearer" and right


def _name(host: str) -> str:
    """The name in a Host header, without port and brackets; "" for none."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""


def _safe(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            more = [pair for pair in HEADERS if pair[0] not in present]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return sending
