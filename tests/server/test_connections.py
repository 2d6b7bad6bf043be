"""Connections to a real server: slow clients are cut, many do not shut others out."""

import http.client
import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from milepost.errors import IndexBusy
from milepost.index import Index
from milepost.server import connections
from support.server import Server


@pytest.fixture(scope="module")
def hasty(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with room for eight connections and short patience."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "HEAD_S", 0.5)
        patch.setattr(connections, "BODY_S", 1.0)
        patch.setattr(connections, "STALL_S", 0.5)
        patch.setattr("milepost.server.running.limits", lambda: (8, 40))
        with Server(str(texts), cache=tmp_path_factory.mktemp("cache")) as running:
            yield running


def connected(server: Server, data: bytes) -> socket.socket:
    parts = urlsplit(server.url)
    made = socket.create_connection((parts.hostname, parts.port), timeout=40)
    made.sendall(data)
    return made


def answer(connection: socket.socket) -> bytes:
    got = b""
    with connection:
        while block := connection.recv(1 << 16):
            got += block
    return got


def test_a_head_that_does_not_end_is_cut(hasty: Server) -> None:
    """With 408 where something came, silently where nothing did; a byte now and then is no help."""
    assert answer(connected(hasty, b"GET /he")).startswith(b"HTTP/1.1 408 ")
    assert answer(connected(hasty, b"")) == b""
    slow = connected(hasty, b"GET /health HTTP/1.1\r\n")
    begun = time.monotonic()
    with suppress(OSError), slow:
        while time.monotonic() - begun < 40:
            slow.sendall(b"x: y\r\n")
            time.sleep(0.1)
    assert time.monotonic() - begun < 30


def test_the_second_request_of_a_connection_is_timed_too(hasty: Server) -> None:
    connection = connected(hasty, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
    connection.sendall(b"GET /hea")
    assert b"HTTP/1.1 408 " in answer(connection)


def test_a_body_that_does_not_come_is_cut(hasty: Server) -> None:
    head = (
        b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b'Content-Length: 5000\r\n\r\n{"question": '
    )
    begun = time.monotonic()
    assert answer(connected(hasty, head)).startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - begun < 30
    assert "Traceback" not in hasty.said()


UPLOAD = b"POST /documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"


@pytest.mark.parametrize("begun", [b"GET /he", UPLOAD], ids=["head", "body"])
def test_those_who_wait_make_room(
    hasty: Server, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 60.0)  # it is not time that makes it
    monkeypatch.setattr(connections, "BODY_S", 60.0)
    held = [connected(hasty, begun) for _ in range(30)]
    try:
        with hasty.client() as client:
            assert client.get("/health").status_code == 200
    finally:
        for each in held:
            each.close()
    assert "Traceback" not in hasty.said()


def test_a_body_that_nobody_reads_is_cut_whatever_comes_of_it(hasty: Server) -> None:
    """A refused upload of which a little comes all the time."""
    connection = connected(hasty, UPLOAD.replace(b"5000", b"9999999999"))
    assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413 ")
    begun = time.monotonic()
    with suppress(OSError), connection:
        while time.monotonic() - begun < 40:
            connection.sendall(b"x" * 2000)
            time.sleep(0.1)
    assert time.monotonic() - begun < 30


def test_a_client_that_does_not_read_is_cut_with_all_that_it_asked(hasty: Server) -> None:
    asked = connected(hasty, b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 800)
    with suppress(OSError), asked:
        asked.settimeout(1)
        until = time.monotonic() + 40
        for there in (True, False):
            while bool(hasty.connections) is not there and time.monotonic() < until:
                time.sleep(0.02)
        got = 0
        while block := asked.recv(1 << 20):
            got += len(block)
    assert got < 20_000_000


def test_a_long_answer_does_not_cut_the_request_behind_it(hasty: Server) -> None:
    body = json.dumps({"input": "A bee makes wax. " * 3000}).encode()
    head = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    first = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    last = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert answer(connected(hasty, first * 3 + last)).count(b"HTTP/1.1 200 ") == 4


def test_a_request_of_two_lengths_hides_no_other(hasty: Server) -> None:
    hidden = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = UPLOAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n")
    got = answer(connected(hasty, head + b"0\r\n\r\n" + hidden))
    assert got.startswith(b"HTTP/1.1 400 ")
    assert got.count(b"HTTP/1.1") == 1


def test_a_kept_connection_does_not_wait_for_acknowledgements(server: Server) -> None:
    """Without TCP_NODELAY each request after the first takes 40 ms."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    took = []
    for _ in range(30):
        begun = time.perf_counter()
        connection.request("GET", "/health")
        connection.getresponse().read()
        took.append(time.perf_counter() - begun)
    connection.close()
    assert statistics.median(took) < 0.03


@pytest.mark.parametrize(
    "asked",
    ["DELETE /documents/x", "GET /documents/x/text", "GET /documents/x/pages", "GET /ready"],
)
def test_an_index_that_is_away_holds_up_nobody_else(
    server: Server, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Its server may take seconds to be given up, and probes must be answered meanwhile."""
    waits, goes_on = threading.Event(), threading.Event()

    def away(*_: object, **__: object) -> None:
        waits.set()
        goes_on.wait(60)
        raise IndexBusy("the server is away")

    monkeypatch.setattr(Index, "documents", away)
    monkeypatch.setattr(Index, "snapshot", away)
    with ThreadPoolExecutor(1) as threads:
        answered = threads.submit(client.request, *asked.split())
        assert waits.wait(60)
        try:
            assert httpx2.get(f"{server.url}/health", timeout=20).status_code == 200
        finally:
            goes_on.set()
        assert answered.result().status_code == 503


def test_room_is_left_for_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a process may have few files, as on macOS, the index and the model need some."""
    resource = pytest.importorskip("resource")
    for files in (64, 256, 1024, 1 << 20):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        most, backlog = connections.limits()
        assert most + 4 * backlog < files
        assert 8 <= most <= connections.MOST
