"""Run the application under uvicorn until it is asked to end."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from milepost.errors import InputError
from milepost.server.connections import LimitedProtocol, limits
from milepost.server.prefix import Prefixed
from milepost.server.settings import ServeSettings
from milepost.server.starting import Starting

_GRACE = 10  # seconds that requests have to end after the server was asked to


def listen(settings: ServeSettings) -> socket.socket:
    """A socket that listens on the address of the settings."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        # Only of a socket that says TCP asyncio sets TCP_NODELAY; without, each request after the
        # first on a connection waits 40 ms for an acknowledgement (uvicorn #3149).
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((settings.host, settings.port))
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
    app: Starting,
    at: socket.socket,
    *,
    show: bool,
    quiet: bool,
    note: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that run are answered first.

    SIGTERM is how servers are meant to be ended, so this returns; Ctrl-C is raised, and so is what
    an application that was being made has failed with. ``note`` prints a line, and none if
    ``quiet``; ``show`` opens the page in a browser.
    """
    host, port = at.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{'localhost' if host in ('0.0.0.0', '::') else shown}:{port}/"
    settings = app.settings
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

    def announce() -> None:
        """Say the address once the server answers; end it where its application cannot be made."""
        while not (server.started and app.opened.is_set()):
            if server.should_exit:
                return
            time.sleep(0.02)
        failed = app.error is not None
        if not quiet and not failed:
            note(f"serving {address} (Ctrl-C stops it)")
        if show and not failed:
            webbrowser.open(address)
        app.done.wait()
        server.should_exit |= app.error is not None

    threading.Thread(target=announce, daemon=True).start()
    with _ended_by_signals(server):
        server.run(sockets=[at])
    if app.error is not None:
        raise app.error


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the server in good order, and a second Ctrl-C the process at once.

    That kill is as safe as any other: what is written takes its place when it is whole. uvicorn's
    own way would wait for threads, however often somebody asks.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # uvicorn hears no signals then
        return
    interrupted = False

    def end(sig: int, frame: object) -> None:
        nonlocal interrupted
        if interrupted and sig == signal.SIGINT:
            os.write(2, b"milepost: interrupted\n")
            os._exit(128 + signal.SIGINT)
        interrupted |= sig == signal.SIGINT
        server.should_exit = True

    server.handle_exit = end  # type: ignore[method-assign]
    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if interrupted:
        raise KeyboardInterrupt
