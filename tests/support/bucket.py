"""A bucket of S3-compatible object storage for tests, and a proxy that counts requests.

The storage is named by MILEPOST_TEST_S3 (``http://HOST:PORT``, which must let anybody make
buckets), or is moto's server, from a program ``moto_server`` on the PATH. moto is not part of the
extra ``test``: it needs another python-dateutil than constraints.txt names.
"""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlsplit

import pytest

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "s3cret-word"}


@lru_cache(maxsize=1)
def endpoint() -> str:
    """URL of the storage; started here where none is named, until this process ends."""
    named = os.environ.get("MILEPOST_TEST_S3")
    if named:
        return named
    program = shutil.which("moto_server")
    if program is None:
        pytest.skip("needs MILEPOST_TEST_S3 or moto_server (pipx install 'moto[server]')")
    port = free_port()
    process = subprocess.Popen(
        [program, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    import atexit

    atexit.register(process.kill)
    for _ in range(300):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return f"http://127.0.0.1:{port}"
        time.sleep(0.1)
    raise TimeoutError("moto's server did not start")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def fresh_bucket() -> str:
    name = f"test-{uuid.uuid4().hex[:12]}"
    request = urllib.request.Request(f"{endpoint()}/{name}", method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200
    return name


def address(bucket: str, path: str = "index", at: str | None = None) -> str:
    return f"lance+s3://{bucket}/{path}?endpoint={quote(at or endpoint(), '')}&region=us-east-1"


class Counter:
    """What a proxy has passed on.

    Attributes:
        url: of the proxy.
        requests: method and path of each.
        delay_s: how long each request is held.
    """

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[str] = []
        self.delay_s = 0.0


@contextmanager
def counted() -> Iterator[Counter]:
    """A proxy in front of the storage that counts requests, and can be as slow as a network."""
    counter, target = Counter(), urlsplit(endpoint()).netloc
    local = threading.local()

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            counter.requests.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            time.sleep(counter.delay_s)
            if not hasattr(local, "connection"):
                local.connection = http.client.HTTPConnection(target)
            local.connection.request(self.command, self.path, body, dict(self.headers))
            answer = local.connection.getresponse()
            data = answer.read()
            self.send_response_only(answer.status)
            for key, value in answer.getheaders():
                if key.lower() not in ("transfer-encoding", "connection", "content-length"):
                    self.send_header(key, value)
            size = answer.getheader("Content-Length") if self.command == "HEAD" else len(data)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    counter.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield counter
    server.shutdown()
    server.server_close()
    thread.join()
