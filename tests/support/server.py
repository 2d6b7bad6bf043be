"""A real ``milepost serve`` on a free port, in a thread of this process or in one of its own."""

import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
import uvicorn

START = 60.0
"""Seconds that a loaded machine may take to start a process."""


class _Running:
    """Started on entry, ended on exit; with arguments of ``milepost serve`` beside port and model.

    ``more`` are environment variables.
    """

    def __init__(self, *args: str, cache: Path, more: dict[str, str] | None = None) -> None:
        # What the server reports goes to a file: a pipe that nobody reads would fill.
        self.log = cache.with_name(f"{cache.name}.log")
        self.log.write_bytes(b"")
        self._args = ["--port", "0", "--model", "landmark-light", *args]
        self._environment = {"MILEPOST_CACHE": str(cache), "XDG_DATA_HOME": str(cache / "data")}
        self._environment |= more or {}
        self.url = ""

    def __enter__(self) -> Any:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _wait(self) -> None:
        """Wait until it answers."""
        until = time.monotonic() + START
        while not (found := re.search(r"serving (http://\S+?)/ ", self.said())):
            if not self._runs() or time.monotonic() > until:
                self._end()
                raise AssertionError(f"the server did not start: {self.said()}")
            time.sleep(0.02)
        self.url = found[1]
        httpx2.get(f"{self.url}/ready", timeout=START).raise_for_status()

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def client(self, **more: object) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=60.0, **more)  # type: ignore[arg-type]

    def indexed(self, client: httpx2.Client, seconds: float = START) -> dict[str, object]:
        until = time.monotonic() + seconds
        while not (progress := client.get("/indexing").json())["idle"]:
            assert time.monotonic() < until, progress
            time.sleep(0.05)
        return progress


class ServerProcess(_Running):
    """A process of its own, which can be killed; ended by SIGTERM on exit."""

    process: subprocess.Popen[bytes]

    def _start(self) -> None:
        command = [sys.executable, "-m", "milepost", "serve", *self._args]
        with self.log.open("wb") as log:
            environment = os.environ | self._environment
            self.process = subprocess.Popen(command, stderr=log, env=environment)
        self._wait()

    def _runs(self) -> bool:
        return self.process.poll() is None

    def _end(self) -> None:
        if self._runs():
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(START)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


class Server(_Running):
    """A thread of this process, which spares three seconds of imports."""

    def _start(self) -> None:
        from milepost.cli.console.options import Settings
        from milepost.cli.serve import serve

        started: list[uvicorn.Server] = []

        class Kept(uvicorn.Server):
            def __init__(self, config: uvicorn.Config) -> None:
                super().__init__(config)
                started.append(self)

        def note(text: str) -> None:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(f"{text}\n")

        def run() -> None:
            try:
                serve.main(self._args, obj=Settings(), standalone_mode=False)
            except Exception as error:
                note(repr(error))

        self._thread = Thread(target=run, name="server", daemon=True)
        self._handler = logging.FileHandler(self.log, encoding="utf-8")
        self._started = started
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self._environment.items():
                patch.setenv(name, value)
            patch.setattr("milepost.cli.serve.say", note)
            patch.setattr("uvicorn.Server", Kept)
            self._thread.start()
            self._wait()
        logging.getLogger("uvicorn").addHandler(self._handler)

    @property
    def connections(self) -> set[Any]:
        """Those that are open."""
        (server,) = self._started
        return server.server_state.connections

    def _runs(self) -> bool:
        return self._thread.is_alive()

    def _end(self) -> None:
        for server in self._started:
            server.should_exit = True
        self._thread.join(START)
        logging.getLogger("uvicorn").removeHandler(self._handler)
        self._handler.close()
        assert not self._runs(), "the server did not end"


@contextmanager
def running_server(*args: object, cache: Path, **more: Any) -> Iterator[tuple[Server, Any]]:
    """A server that has read its files, and a client that asks it."""
    with Server(*map(str, args), cache=cache, **more) as running, running.client() as client:
        running.indexed(client)
        yield running, client
