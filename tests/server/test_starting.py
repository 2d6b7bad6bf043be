"""A server that is still starting: the page at once, /ready when it is, errors in one line."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from fastapi import FastAPI

from milepost.errors import StoreError
from milepost.server.running import listen, run
from milepost.server.settings import ServeSettings
from milepost.server.starting import Starting
from support.cli_process import python

SETTINGS = ServeSettings(port=0, api_key="a-key-of-nine")


def application(lived: list[str]) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        lived.append("begun")
        yield
        lived.append("ended")

    app = FastAPI(lifespan=lifespan)

    @app.get("/{name}")
    async def said(name: str) -> str:
        return f"{name} of the application"

    return app


@asynccontextmanager
async def living(app: Starting) -> AsyncIterator[httpx2.AsyncClient]:
    to_app, receive = anyio.create_memory_object_stream[dict[str, Any]](2)
    sent: list[str] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async with anyio.create_task_group() as tasks, to_app, receive:
        tasks.start_soon(app, {"type": "lifespan"}, receive.receive, send)
        await to_app.send({"type": "lifespan.startup"})
        while not sent:
            await anyio.sleep(0.005)
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client
        await to_app.send({"type": "lifespan.shutdown"})
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_the_page_comes_before_the_model() -> None:
    go, lived = threading.Event(), []

    def make(opened: threading.Event) -> FastAPI:
        opened.set()
        assert go.wait(20)
        return application(lived)

    async def check() -> None:
        app = Starting(make, SETTINGS)
        async with living(app) as client:
            page = await client.get("/")
            assert (page.status_code, "<!doctype html>" in page.text.lower()) == (200, True)
            assert "default-src 'none'" in page.headers["content-security-policy"]
            assert (await client.get("/page/main.js")).status_code == 200
            assert (await client.get("/page/..%2fguard.py")).status_code == 404
            assert (await client.get("/health")).json()["status"] == "ok"
            ready = await client.get("/ready")
            assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
            assert "being loaded" in ready.json()["error"]["message"]
            rebound = await client.get("/", headers={"Host": "evil.example"})
            assert rebound.status_code == 421
            answers: list[httpx2.Response] = []

            async def ask() -> None:
                answers.append(await client.get("/documents"))

            async with anyio.create_task_group() as asking:
                asking.start_soon(ask)
                await anyio.sleep(0.05)
                assert answers == []
                assert app.opened.is_set()
                go.set()
            assert answers[0].json() == "documents of the application"
            assert (await client.get("/ready")).json() == "ready of the application"
            assert lived == ["begun"]
        assert lived == ["begun", "ended"]

    anyio.run(check)


@pytest.mark.parametrize("where", ["open", "make"])
def test_what_cannot_be_made_ends_the_server(where: str) -> None:
    go, said, found = threading.Event(), [], []

    def make(opened: threading.Event) -> FastAPI:
        if where == "make":
            opened.set()
        assert go.wait(20)
        raise StoreError("the index is not one", "another folder")

    class Watched(Starting):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope.get("path") == "/documents":
                while where == "make" and not said:
                    await anyio.sleep(0.01)
                go.set()
            await super().__call__(scope, receive, send)

    app = Watched(make, SETTINGS)
    at = listen(SETTINGS)

    def ask() -> None:
        address = f"http://127.0.0.1:{at.getsockname()[1]}"
        with httpx2.Client(base_url=address, timeout=20) as client:
            while not found:
                with suppress(httpx2.TransportError):  # not listening yet
                    found.append(client.get("/").status_code)
            found.append(client.get("/documents").status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    with pytest.raises(StoreError, match="the index is not one"):
        run(app, at, show=False, quiet=False, note=said.append)
    asking.join()
    assert found == [200, 503]
    assert bool(said) == (where == "make")


def test_an_index_of_another_model_is_one_line(tmp_path: Path) -> None:
    from milepost.index import open as open_index

    with open_index(tmp_path / "db", model="landmark-minilm"):
        pass
    place = "--db", tmp_path / "db", "--port", 0, "--model", "landmark-light"
    done = python("-m", "milepost", "serve", *place)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "serving" not in done.stderr


SLOW = """
import time
from milepost.server.running import listen, run
from milepost.server.settings import ServeSettings
from milepost.server.starting import Starting
settings = ServeSettings(port=0)
at = listen(settings)
print(at.getsockname()[1], flush=True)
run(Starting(lambda _: time.sleep(60), settings), at, show=False, quiet=True, note=print)
"""


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
def test_a_second_ctrl_c_waits_for_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        assert httpx2.get(f"{url}/health", timeout=20).status_code == 200
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):  # what it has begun is ended in order
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
