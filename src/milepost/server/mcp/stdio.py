"""The tools on stdin and stdout: every request is answered, and one Ctrl-C ends it.

The SDK's own reader passes over a line that it cannot read, so that its client waits for ever, and
sits in a thread that no signal ends (python-sdk #3551).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, cast

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

_LONGEST = 64 << 20  # bytes of a line; a client that sends more is cut off
_AHEAD = 16  # lines that are read before the first of them is taken

_NOT_JSON, _NOT_A_REQUEST = -32700, -32600


def run(server: MCPServer[Any]) -> None:
    """Serve until stdin ends, or until Ctrl-C, which is raised."""
    with _own_streams() as (incoming, outgoing):
        anyio.run(_serve, server, incoming, outgoing)


async def _serve(server: MCPServer[Any], incoming: int, outgoing: int) -> None:
    out = _Out(outgoing)
    lines = cast("anyio.AsyncFile[str]", _Lines(incoming, out))
    low = server._lowlevel_server
    try:
        async with stdio_server(lines, cast("anyio.AsyncFile[str]", out)) as (read, write):
            await low.run(read, write, low.create_initialization_options())
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError):
        # The client is gone, or a line came as the session ended; that must not hide Ctrl-C.
        task = asyncio.current_task()
        interrupted = task is not None and task.cancelling() > 0
    else:
        return
    if interrupted:
        raise asyncio.CancelledError


@contextmanager
def _own_streams() -> Iterator[tuple[int, int]]:
    """Descriptors of stdin and stdout that nothing else has.

    What another library prints goes to stderr meanwhile, where it breaks no message.
    """
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield incoming, outgoing
    finally:
        sys.stdout.flush()
        os.dup2(incoming, 0)  # the descriptor stays open: a thread may still read from it
        os.dup2(outgoing, 1)
        os.close(outgoing)


class _Out:
    """Whole lines, written in a thread: a client that does not read holds up nothing else."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = anyio.Lock()

    async def write(self, text: str) -> None:
        async with self._turn:
            await run_sync(self._write, text.encode("utf-8", "replace"), abandon_on_cancel=True)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    async def flush(self) -> None:
        """Nothing is held back."""


class _Lines:
    """The lines of stdin that are messages; the others are answered with an error at once."""

    def __init__(self, descriptor: int, out: _Out) -> None:
        self._descriptor, self._out = descriptor, out

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        room = threading.Semaphore(_AHEAD)

        def read() -> None:
            with suppress(RuntimeError):  # the loop has ended
                for line in chain(self._split(), [None]):
                    room.acquire()
                    loop.call_soon_threadsafe(queue.put_nowait, line)

        # A daemon: it waits in a read that nothing ends, and must not hold up the process.
        threading.Thread(target=read, daemon=True).start()
        while (line := await queue.get()) is not None:
            room.release()
            if not line.strip():
                continue
            try:
                jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError:
                await self._out.write(_refusal(line))
            else:
                yield line.decode()

    def _split(self) -> Iterator[bytes]:
        """Lines, by reads without a buffer: Python would wait for its lock when it ends."""
        held = b""
        with suppress(OSError):
            while len(held) <= _LONGEST and (block := os.read(self._descriptor, 1 << 16)):
                *lines, last = block.split(b"\n")
                if lines:
                    yield held + lines[0]
                    yield from lines[1:]
                    held = last
                else:
                    held += last
        if held and len(held) <= _LONGEST:
            yield held


def _refusal(line: bytes) -> str:
    """The answer to a line that is no message, with its id where it has one."""
    code, said, identity = _NOT_JSON, "Parse error: not JSON", None
    try:
        read = json.loads(line)
        json.dumps(read, ensure_ascii=False).encode()
        code, said = _NOT_A_REQUEST, "Invalid request: no message of JSON-RPC 2.0"
    except UnicodeEncodeError:
        said = "Parse error: half of a surrogate pair is no character"
    except (ValueError, RecursionError):
        read = None
    given = read.get("id") if isinstance(read, dict) else None
    if isinstance(given, int | str) and str(given).isascii() and len(str(given)) <= 100:
        identity = given
    error = {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": said}}
    return json.dumps(error) + "\n"
