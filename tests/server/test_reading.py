"""Files that could not be read are read once more, with their password or text recognition."""

import logging
import sys
from pathlib import Path

import httpx2
import pytest

from support.files import write_files
from support.locked_pdf import locked
from support.pdf_writer import pdf_of
from support.scan_writer import needs_ocr, scan
from support.server import running_server

PASSWORD = "s3same-0pen-the-vault"
VAULT = "The vault of the office opens at nine on Mondays."


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with a locked PDF, a scan and a file of no use."""
    printed = pdf_of([VAULT], size=14)
    files = {
        "locked.pdf": locked(printed, PASSWORD),
        "scan.pdf": scan(printed),
        "broken.pdf": b"%PDF-1.4\nnothing",
    }
    return write_files(tmp_path / "files", files)


def failed(client: httpx2.Client) -> dict[str, dict[str, str]]:
    return {each["name"]: each for each in client.get("/indexing").json()["failed"]}


def test_a_password_opens_a_file_and_is_kept_nowhere(
    library: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    cache = tmp_path / "cache"
    before = (library / "locked.pdf").read_bytes()
    with running_server(library, cache=cache) as (running, client):
        assert failed(client)["locked.pdf"]["remedy"] == "password"
        assert failed(client)["broken.pdf"]["remedy"] is None
        identity = failed(client)["locked.pdf"]["id"]
        path = f"/documents/{identity}/reading"
        wrong = client.post(path, json={"password": f"{PASSWORD}-not"})
        assert wrong.status_code == 422
        assert PASSWORD not in wrong.text
        assert client.post(path, json={"password": 201 * PASSWORD}).status_code == 422
        running.indexed(client)
        assert "locked.pdf" in failed(client)
        assert client.post(path, json={"password": PASSWORD}).status_code == 202
        running.indexed(client)
        assert "locked.pdf" not in failed(client)
        found = client.post("/search", json={"question": "When does the vault open?"}).json()
        assert found["passages"][0]["text"].strip() == VAULT
        # Its pages stay locked.
        assert client.get(f"/documents/{identity}/pages").status_code == 422
        assert client.post(path, json={"password": PASSWORD}).status_code == 404
        said = running.said() + caplog.text
    with running_server(library, cache=cache) as (running, client):
        assert "locked.pdf" not in failed(client), "it is not read again"
        said += running.said()
    assert PASSWORD not in said
    assert (library / "locked.pdf").read_bytes() == before
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or PASSWORD.encode() not in file.read_bytes()


def test_a_scan_is_read_when_somebody_wants_it(library: Path, tmp_path: Path) -> None:
    """One that is locked, too: the password is not asked for again, and its pages stay locked."""
    needs_ocr()
    (library / "both.pdf").write_bytes(locked(scan(pdf_of([VAULT], size=14)), PASSWORD))
    with running_server(library, cache=tmp_path / "cache") as (running, client):
        assert failed(client)["both.pdf"]["remedy"] == "password"
        path = f"/documents/{failed(client)['both.pdf']['id']}/reading"
        assert client.post(path, json={"password": PASSWORD}).status_code == 202
        running.indexed(client)
        assert "both.pdf" not in failed(client)
        found = client.post("/search", json={"question": "When does the vault open?"}).json()
        assert found["passages"][0]["text"].strip() == VAULT
        assert failed(client)["scan.pdf"]["remedy"] == "ocr"
        identity = failed(client)["scan.pdf"]["id"]
        assert client.post(f"/documents/{identity}/reading", json={"ocr": True}).status_code == 202
        running.indexed(client)
        assert "scan.pdf" not in failed(client)
        lines = client.get(f"/documents/{identity}/pages/1/lines").json()
        (line,) = lines["lines"]
        assert lines["text"].strip() == VAULT
        assert line["left"] == pytest.approx(72, abs=6)
        (box,) = client.get(f"/documents/{identity}/boxes?start=0&end=7").json()["boxes"]
        assert box["left"] == pytest.approx(72, abs=6)
        assert client.post("/documents/none/reading", json={"ocr": True}).status_code == 404


def test_a_server_without_text_recognition_says_how_to_install_it(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with running_server(library, cache=tmp_path / "cache") as (_, client):
        scanned = failed(client)["scan.pdf"]
        assert scanned["remedy"] is None
        assert "pip install" in scanned["reason"]
        got = client.post(f"/documents/{scanned['id']}/reading", json={"ocr": True})
        assert got.status_code == 501
