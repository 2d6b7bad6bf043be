"""A real server of the S3 protocol for tests: moto's, in a process of its own."""

import os
import re
import shutil
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

KEYS = {"AWS_ACCESS_KEY_ID": "AKIATESTKEY", "AWS_SECRET_ACCESS_KEY": "very-secret-key"}


def moto_command() -> str:
    """The command ``moto_server``: MILEPOST_TEST_MOTO, else the one on the PATH; or skip."""
    found = os.environ.get("MILEPOST_TEST_MOTO") or shutil.which("moto_server")
    if not found:
        pytest.skip("needs MILEPOST_TEST_MOTO: the path of moto_server (pip install moto[server])")
    return found


@dataclass
class S3:
    """A running server, and a bucket for a test."""

    endpoint: str
    log: Path  # to which it writes a line for each request
    bucket: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")
    seen: int = 0  # characters of the log that were looked at

    def create(self) -> None:
        request = urllib.request.Request(f"{self.endpoint}/{self.bucket}", method="PUT")
        urllib.request.urlopen(request).close()

    @property
    def store(self) -> Any:
        from obstore.store import from_url

        return from_url(f"s3://{self.bucket}")

    def put(self, key: str, data: bytes | str) -> None:
        self.store.put(key, data.encode() if isinstance(data, str) else data)

    def put_as_is(self, key: str, data: bytes = b"") -> None:
        """Write an object whose key obstore would not write."""
        address = f"{self.endpoint}/{self.bucket}/{key}"
        request = urllib.request.Request(address, data=data, method="PUT")
        request.add_header("Content-Type", "application/octet-stream")
        urllib.request.urlopen(request).close()

    def url(self, key: str = "") -> str:
        return f"s3://{self.bucket}/{key}"

    def _news(self, wanted: str) -> list[str]:
        """What a pattern finds in the lines of the log that came since the last call."""
        log = self.log.read_text(encoding="utf-8", errors="replace")
        before, self.seen = self.seen, len(log)
        return re.findall(wanted, log[before:])

    def read(self) -> list[str]:
        """Keys of the objects that were downloaded since the last call, in order."""
        return self._news(rf'"GET /{self.bucket}/(\S+) HTTP')

    def requests(self) -> int:
        """How many requests came since the last call."""
        return len(self._news(rf'"[A-Z]+ /{self.bucket}\b'))


@pytest.fixture(scope="session")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    """One server for all tests."""
    pytest.importorskip("obstore", reason="needs the extra objects")
    command = moto_command()
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("moto") / "moto.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [command, "-H", "127.0.0.1", "-p", str(port)], stdout=out, stderr=out
        )
    endpoint = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{endpoint}/moto-api/", timeout=5).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                pytest.fail(f"moto_server did not start: {log.read_text('utf-8', 'replace')}")
            time.sleep(0.1)
        else:
            break
    yield S3(endpoint, log)
    process.terminate()
    process.wait()


@pytest.fixture
def s3(moto: S3, monkeypatch: pytest.MonkeyPatch) -> S3:
    """An empty bucket, and the environment that leads to it."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    settings = {**KEYS, "AWS_ENDPOINT_URL": moto.endpoint, "AWS_ALLOW_HTTP": "true"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    fresh = S3(moto.endpoint, moto.log)
    fresh.create()
    return fresh
