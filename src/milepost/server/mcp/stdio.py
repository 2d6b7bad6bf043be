"""The tools on stdin and stdout."""

from __future__ import annotations

import os
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer


def run(server: MCPServer[Any]) -> None:
    """Serve until stdin ends.

    A read of stdin that waits holds up the end of the process, unless it is ended by ``os._exit``.
    """
    try:
        server.run("stdio")
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError):
        pass  # the client is gone, or a line came as the session ended
    finally:
        # What another library has printed meanwhile, and Python holds back still, is no message.
        os.dup2(2, 1)
