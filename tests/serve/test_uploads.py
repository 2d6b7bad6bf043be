"""Uploads: removed means removed, with any path of the index; names of any bytes; full disks."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from milepost.library.documents import Library
from milepost.testing import fake_index
from support.server import Server


def upload(client: httpx2.Client, name: str, text: bytes = b"The ibex lives in Bern.\n") -> str:
    got = client.post("/documents", files={"file": (name, text)})
    assert got.status_code == 202, got.text
    return str(got.json()["documents"][0]["id"])


def test_an_upload_is_removed_for_good_with_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Server("--db", "idx", cache=tmp_path / "c") as running, running.client() as client:
        identity = upload(client, "ibex.txt")
        running.indexed(client)
        listed = client.get("/documents").json()["documents"]
        assert [(each["id"], each["uploaded"]) for each in listed] == [(identity, True)]
        assert client.delete(f"/documents/{identity}").status_code == 204
        assert list((tmp_path / "idx" / "uploads").iterdir()) == []
    with Server("--db", "idx", cache=tmp_path / "c") as running, running.client() as client:
        running.indexed(client)
        assert client.get("/documents").json()["documents"] == []


def test_a_removed_upload_is_not_brought_back_by_its_indexing(tmp_path: Path) -> None:
    place = "--db", str(tmp_path / "idx")
    with Server(*place, cache=tmp_path / "c") as running, running.client() as client:
        upload(client, "long.txt", b"A sentence of some words, and more. " * 3000)
        identity = upload(client, "ibex.txt", b"The ibex lives in Bern. " * 200)
        assert client.delete(f"/documents/{identity}").status_code == 204
        progress = running.indexed(client)
        assert progress["failed"] == []
        titles = [each["title"] for each in client.get("/documents").json()["documents"]]
        assert titles == ["long.txt"]


def test_names_that_are_no_utf_8_become_signs(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    here = os.fsencode(folder)
    with open(here + b"/caf\xe9\n.txt", "wb") as file:  # noqa: PTH123 - no path of text
        file.write(b"The cafe opened in 1999 in Lyon.\n")
    with open(here + b"/no\xff.pdf", "wb") as file:  # noqa: PTH123
        file.write(b"%PDF-1.4 nothing")
    with Server(str(folder), cache=tmp_path / "c") as running, running.client() as client:
        progress = running.indexed(client)
        assert [each["title"] for each in progress["failed"]] == ["no\ufffd.pdf"]  # type: ignore[index]
        assert client.get("/documents").json()["documents"][0]["title"] == "caf\ufffd\ufffd.txt"
        found = client.post("/search", json={"question": "When did the cafe open?"}).json()
        assert found["passages"][0]["title"] == "caf\ufffd\ufffd.txt"
        checked = client.post("/check", json={"text": "The cafe opened in 1999 in Lyon."}).json()
        assert checked["places"][0]["title"] == "caf\ufffd\ufffd.txt"
        wrong = client.post("/search", json={"question": "x", "documents": ["caf\ufffd"]})
        assert wrong.status_code == 404
        assert "Traceback" not in running.said()


@pytest.fixture
def unwritable(tmp_path: Path) -> Iterator[Path]:
    """An index on a file system that takes nothing more."""
    place = tmp_path / "idx"
    place.mkdir()
    with Server("--db", str(place), cache=tmp_path / "c"):
        pass
    done = subprocess.run(["mount", "--bind", place, place], capture_output=True)
    if done.returncode:
        pytest.skip("may not mount")
    subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_an_upload_that_cannot_be_kept_is_507(unwritable: Path, tmp_path: Path) -> None:
    with Server("--db", str(unwritable), cache=tmp_path / "c2") as running:
        with running.client() as client:
            got = client.post("/documents", files={"file": ("a.txt", b"Bees fly.")})
            assert got.status_code == 507
            message = got.json()["error"]["message"]
            assert message.startswith("a.txt cannot be kept: ")
            assert str(tmp_path) not in message
        assert "Traceback" not in running.said()


def test_the_upload_of_another_server_is_not_swept(tmp_path: Path) -> None:
    """Only what nobody has written to for an hour has broken off."""
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    fresh, old = uploads / ".part-fresh", uploads / ".part-old"
    for each in (fresh, old):
        each.write_bytes(b"half of a file")
    hours_ago = time.time() - 7200
    os.utime(old, (hours_ago, hours_ago))
    Library(fake_index({}), uploads).sweep()
    assert list(uploads.iterdir()) == [fresh]
