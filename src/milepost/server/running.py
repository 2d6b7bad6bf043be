"""Run the application under uvicorn until it is asked to end."""

from __future__ import annotations

import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from milepost.errors import InputError
from milepost.server.connections import LimitedProtocol, limits
from milepost.server.prefix import Prefixed
from milepost.server.settings import ServeSettings
from milepost.server.signals import end_process, on_signals

_GRACE = 10  # seconds that requests have to end after the server was asked to


def listen(settings: ServeSettings) -> socket.socket:
    """A socket that listens on the address of the settings; connections wait to be accepted."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        # Only of a socket that says TCP asyncio sets TCP_NODELAY; without, each request after the
        # first on a connection waits 40 ms for an acknowledgement (uvicorn #3149).
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((settings.host, settings.port))
            made.listen(limits()[1])
        except (OSError, UnicodeError):
            made.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot listen on {settings.host}:{settings.port}: {reason}", "--port 0 for a free one"
        ) from error
    return made


def run(
    app: ASGIApp,
    settings: ServeSettings,
    at: socket.socket,
    *,
    show: bool,
    quiet: bool,
    note: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that run are answered first.

    SIGTERM is how servers are meant to be ended, so this returns; Ctrl-C is raised. ``note`` prints
    a line, and none if ``quiet``; ``show`` opens the page in a browser.
    """
    host, port = at.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{'localhost' if host in ('0.0.0.0', '::') else shown}:{port}/"
    most, backlog = limits()
    config = uvicorn.Config(
        Prefixed(app, settings.root_path) if settings.root_path else app,
        http=type("Protocol", (LimitedProtocol,), {"most": most}),
        backlog=backlog,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=30,
    )
    server = uvicorn.Server(config)
    with _ended_by_signals(server):
        if not quiet:
            note(f"serving {address} (Ctrl-C stops it)")
        if show:  # in a thread: a browser of the terminal returns when it is left
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        server.run(sockets=[at])


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the server in good order, and a second Ctrl-C the process at once.

    uvicorn's own way would wait for threads, however often somebody asks.
    """
    interrupted = False

    def end(sig: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted and sig == signal.SIGINT:
            end_process(sig, frame)
        interrupted |= sig == signal.SIGINT
        server.should_exit = True

    server.handle_exit = end  # type: ignore[method-assign]
    with on_signals(end):
        yield
    if interrupted:
        raise KeyboardInterrupt
