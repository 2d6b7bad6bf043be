"""A real ``milepost serve`` in a process of its own, on a free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import httpx

START = 60.0
"""Seconds that a loaded machine may take to start a process."""


class Server:
    """Started on entry, ended by SIGTERM on exit; its stderr must then hold nothing unexpected.

    Args:
        args: of ``milepost serve``, beside the port.
        cache: the cache of this server.
        more: environment variables.
    """

    def __init__(self, *args: str, cache: Path, more: dict[str, str] | None = None) -> None:
        # The reports of the process go to a file: a pipe that nobody reads would fill.
        self.log = cache.with_name(f"{cache.name}.log")
        self._environment = {
            **os.environ,
            "MILEPOST_CACHE": str(cache),
            "XDG_DATA_HOME": str(cache / "data"),
            **(more or {}),
        }
        command = [sys.executable, "-m", "milepost", "serve", "--port", "0"]
        self._command = [*command, "--model", "landmark-light", *args]
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def __enter__(self) -> Server:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(self._command, stderr=log, env=self._environment)
        until = time.monotonic() + START
        while not (found := re.search(r"serving (http://\S+?)/ ", self.said())):
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                raise AssertionError(f"the server did not start: {self.said()}")
            time.sleep(0.05)
        self.url = found[1]
        while httpx.get(f"{self.url}/ready", timeout=START).status_code == 503:
            assert time.monotonic() < until, self.said()
            time.sleep(0.05)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(START)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def said(self) -> str:
        """What the process has printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def client(self, **more: object) -> httpx.Client:
        """A client of this server."""
        return httpx.Client(base_url=self.url, timeout=60.0, **more)  # type: ignore[arg-type]

    def indexed(self, client: httpx.Client, seconds: float = START) -> dict[str, object]:
        """Wait until everything given is in the index."""
        until = time.monotonic() + seconds
        while not (progress := client.get("/indexing").json())["idle"]:
            assert time.monotonic() < until, progress
            time.sleep(0.05)
        return progress
