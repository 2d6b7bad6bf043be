"""A server that is still starting: connections wait, and what ends it ends it at once."""

import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI

import milepost
from milepost.errors import InputError
from milepost.server.running import listen, run
from milepost.server.settings import ServeSettings
from milepost.store import erase_store
from support.cli_process import python
from support.server import running_server


def test_a_port_in_use_is_refused_before_anything_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from milepost.cli.program import program

    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path))
    # Two servers that start at the same time: the first has not accepted a connection yet.
    with listen(ServeSettings(port=0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match="cannot listen on"):
            listen(ServeSettings(port=port))
        monkeypatch.setattr(importlib.import_module("milepost.cli.serve"), "_index", None)
        with pytest.raises(SystemExit) as ended:
            program.main(["serve", "--port", str(port)])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "--port 0" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_an_index_among_the_paths_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from milepost.cli.program import program

    milepost.open(tmp_path / "docs.milepost").close()
    with pytest.raises(SystemExit) as ended:
        program.main([command, str(tmp_path / "docs.milepost")])
    assert ended.value.code == 2
    assert f"--db {tmp_path / 'docs.milepost'}" in capsys.readouterr().err


def test_what_came_before_the_application_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    app, started, said, opened = FastAPI(), [], [], threading.Event()

    @app.get("/{name}")
    async def read(name: str) -> str:
        return f"{name} of the application"

    class Kept(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            started.append(self)

    monkeypatch.setattr("uvicorn.Server", Kept)
    monkeypatch.setattr("webbrowser.open", lambda address: (said.append(address), opened.set()))
    settings = ServeSettings(port=0)
    at = listen(settings)
    port = at.getsockname()[1]
    with (
        socket.create_connection(("127.0.0.1", port), 20) as early,
        ThreadPoolExecutor(1) as beside,
    ):
        early.sendall(b"GET /documents HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        running = beside.submit(run, app, settings, at, show=True, quiet=False, note=said.append)
        try:
            answer = b"".join(iter(lambda: early.recv(1 << 16), b""))
            assert httpx2.get(f"http://127.0.0.1:{port}/ready").json() == "ready of the application"
            assert opened.wait(20)
        finally:
            started[0].should_exit = True
        running.result(20)
    assert b"documents of the application" in answer
    address = f"http://127.0.0.1:{port}/"
    assert said == [f"serving {address} (Ctrl-C stops it)", address]


def test_an_index_made_anew_with_another_model_asks_for_a_restart(tmp_path: Path) -> None:
    place = tmp_path / "index"
    with running_server("--db", place, cache=tmp_path / "cache") as (_, client):
        erase_store(place)
        with milepost.open(place, model="landmark-minilm") as index:
            index.add(milepost.Document("bees", "Bees build combs of wax."))
        for refusal in (client.get("/ready"), client.post("/search", json={"question": "wax"})):
            assert refusal.status_code == 503
            assert refusal.json()["error"]["message"].endswith("; try: restart the server")


def test_an_index_of_another_model_is_one_line(tmp_path: Path) -> None:
    from milepost.index import open as open_index

    with open_index(tmp_path / "db", model="landmark-minilm"):
        pass
    place = "--db", tmp_path / "db", "--port", 0, "--model", "landmark-light"
    done = python("-m", "milepost", "serve", *place)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "serving" not in done.stderr


LOADING = """
import importlib, time
from milepost.cli import main
def load(*_):
    print("loading", flush=True)
    time.sleep(60)
importlib.import_module("milepost.cli.serve")._index = load
main()
"""

ENDING = """
import time
from milepost.server.running import listen, run
from milepost.server.settings import ServeSettings
async def app(scope, receive, send):
    await receive()
    await send({"type": "lifespan.startup.complete"})
    print("serving", flush=True)
    await receive()
    print("ending", flush=True)
    time.sleep(60)
settings = ServeSettings(port=0)
run(app, settings, listen(settings), show=False, quiet=True, note=print)
"""


def process(script: str, *args: str) -> Any:
    command = [sys.executable, "-c", script, *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGINT, 130, "milepost: interrupted\n"), (signal.SIGTERM, 0, "")],
)
def test_a_signal_ends_loading_at_once(sent: signal.Signals, code: int, said: str) -> None:
    with process(LOADING, "serve", "--port", "0") as loading:
        assert loading.stdout.readline() == "loading\n"
        loading.send_signal(sent)
        assert loading.wait(10) == code
        assert loading.stderr.read() == said


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
def test_a_second_ctrl_c_waits_for_nothing() -> None:
    with process(ENDING) as ending:
        assert ending.stdout.readline() == "serving\n"
        ending.send_signal(signal.SIGINT)
        assert ending.stdout.readline() == "ending\n"
        with pytest.raises(subprocess.TimeoutExpired):  # what it has begun is ended in order
            ending.wait(0.5)
        ending.send_signal(signal.SIGINT)
        assert ending.wait(10) == 130
