"""``/documents``: uploads survive, names are tamed, pages and boxes agree."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest

from milepost.server.documents.indexing import Indexer
from milepost.server.documents.library import Library
from milepost.testing import fake_index
from support.files import write_files
from support.pdf_writer import PdfPage, write_pdf
from support.server import START, Server, ServerProcess, running_server
from support.small_disk import fill

page = PdfPage(width=300, height=200)
page.lines(40, 150, ["Bees make wax in eight glands.", "Ants follow trails."], size=12, step=20)
PDF = write_pdf([page])


def upload(client: httpx2.Client, name: str, data: bytes) -> httpx2.Response:
    return client.post("/documents", files={"file": (name, data)})


@pytest.fixture(scope="module")
def writable(tmp_path_factory: pytest.TempPathFactory):
    with running_server(cache=tmp_path_factory.mktemp("cache")) as both:
        yield both


def test_an_upload_is_indexed_listed_and_removed(writable) -> None:
    running, client = writable
    got = upload(client, "../../etc/wax: notes.txt", b"Bees make wax.\n")
    assert got.status_code == 202
    accepted = got.json()["documents"][0]
    assert accepted["name"] == "wax_ notes.txt"
    running.indexed(client)
    listed = client.get("/documents", params={"limit": 1000}).json()["documents"]
    assert accepted["id"] in [each["id"] for each in listed]
    path = f"/documents/{accepted['id']}"
    assert client.get(path).json()["sentences"] == 1
    removed = client.delete(path, params={"now": True}).json()
    assert (removed["characters"], removed["sentences"], removed["words"]) == (15, 1, 3)
    assert (removed["files"], removed["remains"]) == (["wax_ notes.txt"], "")
    left = client.get("/documents", params={"limit": 1000}).json()["documents"]
    assert accepted["id"] not in [each["id"] for each in left]
    assert client.get(path).status_code == client.delete(path).status_code == 404


@pytest.mark.parametrize("name", ["bees.pdf", "bees"])
def test_a_pdf_has_pages_and_boxes(writable, name: str) -> None:
    from PIL import Image

    running, client = writable
    identity = upload(client, name, PDF).json()["documents"][0]["id"]
    running.indexed(client)
    passage = client.post("/search", json={"question": "What follows trails?", "k": 1}).json()
    found = passage["passages"][0]
    assert (found["document"], found["page"]) == (name, 1)
    assert client.get(f"/documents/{identity}").json()["pdf"] is True
    place = client.get(
        f"/documents/{identity}/boxes", params={"start": found["start"], "end": found["end"]}
    ).json()
    assert place["pages"] == [{"page": 1, "width": 300.0, "height": 200.0}]
    assert place["boxes"]
    assert all(40 <= box["left"] < box["right"] < 260 for box in place["boxes"])
    picture = client.get(f"/documents/{identity}/pages/1.png", params={"scale": 2, "version": "1"})
    assert picture.headers["content-type"] == "image/png"
    image = Image.open(io.BytesIO(picture.content))
    assert image.size == (600, 400)
    box = place["boxes"][0]
    ink = image.convert("L").crop(
        tuple(round(2 * box[side]) for side in ("left", "top", "right", "bottom"))
    )
    assert ink.getextrema()[0] < 100, "no print inside the box"
    assert client.get(f"/documents/{identity}/pages/2.png").status_code == 422
    client.delete(f"/documents/{identity}")


@pytest.mark.parametrize("name", ["", "/", "..", "a/..", "___"])
def test_files_without_a_name_are_refused(writable, name: str) -> None:
    _, client = writable
    assert upload(client, name, b"text").status_code == 422


def test_files_of_one_name_in_one_upload_are_refused(writable) -> None:
    running, client = writable
    files = [("file", (name, b"text")) for name in ("one.txt", "same.txt", "y/same.txt")]
    got = client.post("/documents", files=files)
    assert got.status_code == 422
    said = "2 files are named same.txt; try: one in each request"
    assert got.json()["error"]["message"] == said
    running.indexed(client)
    listed = client.get("/documents", params={"limit": 1000}).json()["documents"]
    assert not {"one.txt", "same.txt"} & {each["name"] for each in listed}


def test_a_file_that_cannot_be_read_is_reported(writable) -> None:
    running, client = writable
    upload(client, "broken.pdf", b"%PDF-1.4 nothing")
    progress = running.indexed(client)
    assert progress["failed"][-1]["name"] == "broken.pdf"
    assert str(running.log.parent) not in str(progress)
    assert client.get("/health").status_code == 200


def test_the_list_comes_in_parts(writable) -> None:
    running, client = writable
    for number in range(5):
        upload(client, f"n{number}.txt", f"Note number {number}.".encode())
    running.indexed(client)
    names, cursor = [], None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        part = client.get("/documents", params=params).json()
        names += [each["name"] for each in part["documents"]]
        cursor = part["cursor"]
        if cursor is None:
            break
    assert [name for name in names if name.startswith("n")] == [
        f"n{number}.txt" for number in range(5)
    ]
    assert client.get("/documents", params={"cursor": "?"}).status_code == 422


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    with Server("--max-upload", "1", cache=tmp_path / "c") as running, running.client() as client:
        assert upload(client, "big.txt", b"x" * (1 << 21)).status_code == 413
        head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n\r\n'
        got = client.post(
            "/documents",
            content=iter([head, *[b"x" * 65536] * 40]),  # no Content-Length says so beforehand
            headers={"content-type": "multipart/form-data; boundary=b"},
        )
        assert got.status_code == 413
        assert client.get("/documents").json()["documents"] == []


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_an_accepted_upload_is_there_after_a_restart(tmp_path: Path, end: signal.Signals) -> None:
    names = [f"part{number}.txt" for number in range(8)]
    text = "".join(f"Sentence {n} is about bees and wax. " for n in range(100)).encode()
    with ServerProcess(cache=tmp_path / "c") as running, running.client() as client:
        for name in names:
            assert upload(client, name, text).status_code == 202
        running.process.send_signal(end)
        code = running.process.wait(START)
        assert code == (0 if end is signal.SIGTERM else -end)
    with running_server(cache=tmp_path / "c") as (_, client):
        listed = client.get("/documents").json()["documents"]
        assert sorted(each["name"] for each in listed) == names
        assert {each["characters"] for each in listed} == {len(text.decode())}


def test_an_upload_beside_paths_outlives_the_cache(texts: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    with running_server(texts, cache=cache) as (running, client):
        assert upload(client, "a.txt", b"Bees make wax.").status_code == 202
        running.indexed(client)
    command = [sys.executable, "-m", "milepost", "cache", "prune", "--to", "0"]
    subprocess.run(command, check=True, env={**os.environ, "MILEPOST_CACHE": str(cache)})
    with running_server(texts, cache=cache) as (_, client):
        assert "a.txt" in {each["name"] for each in client.get("/documents").json()["documents"]}


def test_a_reading_server_takes_nothing(texts: Path, tmp_path: Path) -> None:
    with running_server(texts, "--read-only", cache=tmp_path / "c") as (_, client):
        assert client.get("/documents").json()["documents"]
        assert upload(client, "a.txt", b"text").status_code == 403


def test_on_a_full_disk_a_document_and_its_upload_go_together(
    small_disk: Path, tmp_path: Path
) -> None:
    db = small_disk / "db"

    def state_of(client: httpx2.Client) -> tuple[list[str], list[str]]:
        listed = client.get("/documents").json()["documents"]
        return [each["name"] for each in listed], [path.name for path in uploads.iterdir()]

    uploads = db / "uploads"
    with Server("--db", str(db), cache=tmp_path / "c") as running, running.client() as client:
        identity = uploaded(client, "ibex.txt", b"The ibex lives in Bern. " * 2000)
        running.indexed(client)
        filler = fill(small_disk)
        refused = client.delete(f"/documents/{identity}")
        assert (refused.status_code, state_of(client)) == (507, (["ibex.txt"], ["ibex.txt"]))
        assert refused.json()["error"]["message"].startswith("no space left for the index db; ")
    with running_server("--db", db, cache=tmp_path / "c") as (_, client):
        assert state_of(client) == (["ibex.txt"], ["ibex.txt"])
        filler.unlink()
        assert client.delete(f"/documents/{identity}").status_code == 200
        assert state_of(client) == ([], [])


def uploaded(client: httpx2.Client, name: str, text: bytes = b"The ibex lives in Bern.\n") -> str:
    got = upload(client, name, text)
    assert got.status_code == 202, got.text
    return str(got.json()["documents"][0]["id"])


def test_an_upload_is_removed_for_good_with_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Server("--db", "idx", cache=tmp_path / "c") as running, running.client() as client:
        identity = uploaded(client, "ibex.txt")
        running.indexed(client)
        listed = client.get("/documents").json()["documents"]
        assert [(each["id"], each["uploaded"]) for each in listed] == [(identity, True)]
        assert client.delete(f"/documents/{identity}").status_code == 200
        assert list((tmp_path / "idx" / "uploads").iterdir()) == []
    with running_server("--db", "idx", cache=tmp_path / "c") as (_, client):
        assert client.get("/documents").json()["documents"] == []


def test_a_removed_upload_is_not_brought_back_by_its_indexing(tmp_path: Path) -> None:
    place = "--db", str(tmp_path / "idx")
    with Server(*place, cache=tmp_path / "c") as running, running.client() as client:
        uploaded(client, "long.txt", b"A sentence of some words, and more. " * 3000)
        identity = uploaded(client, "ibex.txt", b"The ibex lives in Bern. " * 200)
        assert client.delete(f"/documents/{identity}").status_code == 200
        assert client.post("/search", json={"question": "words"}).json()["indexing"] is True
        progress = running.indexed(client)
        assert progress["failed"] == []
        assert client.post("/search", json={"question": "words"}).json()["indexing"] is False
        names = [each["name"] for each in client.get("/documents").json()["documents"]]
        assert names == ["long.txt"]


def test_an_upload_in_the_moment_of_a_removal_is_indexed(writable, monkeypatch) -> None:
    running, client = writable
    identity = upload(client, "twice.txt", b"Bees make wax.").json()["documents"][0]["id"]
    running.indexed(client)
    begun, added, add, forget = Event(), Event(), Indexer.add, Indexer.forget

    def noted(*given: Any) -> None:
        add(*given)
        added.set()

    def late(*given: Any) -> None:
        begun.set()
        added.wait(0.5)
        forget(*given)

    monkeypatch.setattr(Indexer, "add", noted)
    monkeypatch.setattr(Indexer, "forget", late)
    with ThreadPoolExecutor() as pool:
        removal = pool.submit(client.delete, f"/documents/{identity}")
        assert begun.wait(START)
        assert upload(client, "twice.txt", b"Ants follow trails.").status_code == 202
        assert removal.result().status_code == 200
    running.indexed(client)
    assert client.get(f"/documents/{identity}/text").json()["text"] == "Ants follow trails."
    client.delete(f"/documents/{identity}")


def test_files_are_followed_and_what_was_removed_stays_away(tmp_path: Path) -> None:
    texts = {"owl.txt": "Owls call.", "bee.txt": "Bees build.", "bad.pdf": "%PDF-1.4 nothing"}
    folder = write_files(tmp_path / "docs", texts)
    with running_server(folder, cache=tmp_path / "c") as (_, client):
        listed = {each["name"]: each for each in client.get("/documents").json()["documents"]}
        assert client.delete(f"/documents/{listed['owl.txt']['id']}").status_code == 200
        (folder / "bee.txt").write_text("Ants follow trails.")
        until = time.monotonic() + START
        while "Ants follow trails." not in client.post("/search", json={"question": "Ants"}).text:
            assert time.monotonic() < until
        now = client.get("/documents").json()["documents"]
        assert [each["name"] for each in now] == ["bee.txt"]
        assert [each["name"] for each in client.get("/indexing").json()["failed"]] == ["bad.pdf"]


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
        assert [each["name"] for each in progress["failed"]] == ["no\ufffd.pdf"]  # type: ignore[index]
        assert client.get("/documents").json()["documents"][0]["name"] == "caf\ufffd\ufffd.txt"
        found = client.post("/search", json={"question": "When did the cafe open?"}).json()
        assert found["passages"][0]["document"] == "caf\ufffd\ufffd.txt"
        checked = client.post("/check", json={"text": "The cafe opened in 1999 in Lyon."}).json()
        assert checked["places"][0]["document"] == "caf\ufffd\ufffd.txt"
        wrong = client.post("/search", json={"question": "x", "documents": ["caf\ufffd"]})
        assert wrong.status_code == 404
        assert "Traceback" not in running.said()


def test_an_upload_that_cannot_be_kept_is_507(tmp_path: Path) -> None:
    with running_server("--db", tmp_path / "idx", cache=tmp_path / "c") as (running, client):
        (tmp_path / "idx" / "uploads").write_text("in the way")
        got = upload(client, "a.txt", b"Bees fly.")
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


def test_a_removed_sidecar_takes_its_properties_along(writable) -> None:
    running, client = writable
    upload(client, "hive.txt", b"Bees make wax.\n")
    got = upload(client, "hive.txt.meta.json", b'{"project": "hive"}').json()["documents"][0]

    def properties() -> dict[str, Any]:
        running.indexed(client)
        listed = client.get("/documents", params={"limit": 1000}).json()["documents"]
        return next(each["properties"] for each in listed if each["name"] == "hive.txt")

    assert properties() == {"project": "hive"}
    assert client.delete(f"/documents/{got['id']}").status_code == 200
    assert properties() == {}


def test_half_a_character_of_a_notebook_spoils_no_answer(writable) -> None:
    running, client = writable
    cell = {"cell_type": "code", "source": ["print('honey \ud83d')"], "outputs": []}
    book = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    upload(client, "honey.ipynb", book.encode())
    running.indexed(client)
    found = client.post("/search", json={"question": "honey"})
    assert found.status_code == 200
    assert "honey \ufffd" in found.text
