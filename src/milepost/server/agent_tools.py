"""The tools for agents at ``/mcp``, made when the first agent comes.

Importing the SDK takes as long as all else that a server imports, and most servers see no agent.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from milepost.server.state import State


class AgentTools:
    """An ASGI application that imports what it needs at its first request."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._wanted = asyncio.Event()
        self._made: asyncio.Future[ASGIApp] | None = None

    async def run(self) -> None:
        """Hold the sessions of agents from the first request until this is cancelled.

        Sessions must begin and end in one task, which no request's task can be.
        """
        self._made = asyncio.get_running_loop().create_future()
        await self._wanted.wait()
        try:
            server, application = await asyncio.to_thread(self._make)
        except Exception as error:
            self._made.set_exception(error)
            raise
        async with server.session_manager.run():
            self._made.set_result(application)
            await asyncio.Event().wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of an agent."""
        assert self._made is not None, "requests come after the start"
        self._wanted.set()
        application = await asyncio.shield(self._made)
        await application(scope, receive, send)

    def _make(self) -> tuple[Any, ASGIApp]:
        from mcp.server.transport_security import TransportSecuritySettings

        from milepost.server.mcp.server import create_server
        from milepost.server.mcp.tools import Tools

        state = self._state
        server = create_server(Tools(state.library, state.indexer, state.governor.search))
        return server, server.streamable_http_app(
            # Hosts and origins were checked by ``Guard`` before.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False)
        )
