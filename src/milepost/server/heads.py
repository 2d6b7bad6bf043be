"""HEAD wherever there is a GET, as HTTP asks for and FastAPI does not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.server.prefix import route_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Heads:
    """ASGI middleware that answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        # A GET of the tools for agents is a stream that has no end.
        if scope.get("method") != "HEAD" or route_path(scope) == "/mcp":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app(dict(scope, method="GET"), receive, without_body)
