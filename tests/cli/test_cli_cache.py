"""``milepost cache``: listed, pruned, kept within its limit, and shared by files of one content."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

import milepost
from milepost.encoder.engine.folder import cache_folder
from milepost.index.known_files import KnownFiles
from milepost.types import READ_DEFAULTS
from support.locked_pdf import locked
from support.pdf_writer import pdf_of


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    shutil.copytree(cache, tmp_path / "own", ignore=shutil.ignore_patterns("indexes", "languages"))
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "own"))
    return tmp_path / "own"


def indexes() -> list[Path]:
    return sorted((cache_folder() / "indexes").iterdir())


def test_what_is_listed(cli, model, notes):
    cli("search", "bees", notes, *model)
    (cache_folder() / "left-by-a-full-disk").mkdir()
    said = cli("cache").stdout
    assert f"3 documents in {notes}" in said
    assert "1970" not in said
    record = json.loads(cli("cache", "--json").stdout)
    assert record == json.loads(cli("cache", "list", "--json").stdout)
    (item,) = [item for item in record["items"] if item["kind"] == "index"]
    files = [file for file in indexes()[0].iterdir() if file.is_file()]
    assert item["size_bytes"] == sum(file.stat().st_size for file in files)
    assert record["size_bytes"] >= item["size_bytes"]


def test_a_search_is_a_use(cli, model, notes, tmp_path):
    """What was searched last goes last, though it was made first."""
    other = tmp_path / "other.txt"
    other.write_text("Ants keep fungus gardens.", encoding="utf-8")
    for path in (notes / "bees.txt", other):
        cli("search", "bees", path, *model)
    for folder in indexes():
        for file in folder.iterdir():
            os.utime(file, (1, 1))
    cli("search", "bees", notes / "bees.txt", *model)
    assert cli("cache", "prune", "--older", "1d").stdout.startswith("1 removed")
    assert str(notes / "bees.txt") in cli("cache").stdout


def test_the_limit_is_kept_by_itself(cli, refusal, model, notes, monkeypatch):
    monkeypatch.setenv("MILEPOST_CACHE_LIMIT", "1B")
    for name in ("bees.txt", "gold.txt", "ships.md"):
        assert cli("search", "bees", notes / name, *model).exit_code in (0, 1)
        assert len(indexes()) == 1
        assert name in cli("cache").stdout
    assert "; --to SIZE or --older AGE removes more\n" in cli("cache", "prune").stdout
    monkeypatch.setenv("MILEPOST_CACHE_LIMIT", "much")
    refusal("search", "bees", notes / "bees.txt", *model)


def test_a_server_says_how_to_choose_another_cache(refusal, notes, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "file"))
    assert "MILEPOST_CACHE" in refusal("serve", notes, "--port", 0, "-q")


def without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be encoded but a question."""
    again = Mock(side_effect=AssertionError("a text was encoded again"))
    monkeypatch.setattr("milepost.encoder.Encoder.encode", again)


def asked(cli, model, path) -> tuple[list[dict], dict]:
    """The passages of a search, and its report."""
    found = json.loads(cli("search", "What do bees build?", path, "--json", *model).stdout)
    return found["passages"], found["report"]


def test_a_file_is_encoded_once_wherever_it_lies(cli, model, notes, tmp_path, monkeypatch):
    """In a copy of its folder, under another name, alone; with its own name and properties."""
    first, _ = asked(cli, model, notes)
    without_a_model(monkeypatch)
    shutil.copytree(notes, tmp_path / "copy")
    (tmp_path / "copy" / "bees.txt").rename(tmp_path / "copy" / "hives.txt")
    (tmp_path / "copy" / "hives.txt.meta.json").write_text('{"author": "Lee"}', encoding="utf-8")
    found, report = asked(cli, model, tmp_path / "copy")
    assert len(report["added"]) == 3
    best = found[0]
    assert best["document"] == best["source"] == str(tmp_path / "copy" / "hives.txt")
    assert best["text"] == first[0]["text"]
    assert best["score"] == pytest.approx(first[0]["score"], abs=0.02)  # the order is another
    described = cli(
        "search", "bees", tmp_path / "copy", "--where", 'author = "Lee"', "--json", *model
    )
    assert json.loads(described.stdout)["passages"]
    assert asked(cli, model, notes / "bees.txt")[0][0]["text"] == best["text"]
    (notes / "ships.md").rename(notes / "boats.md")
    _, report = asked(cli, model, notes)
    assert report["added"] == [str(notes / "boats.md")]


def test_a_file_is_told_from_many_of_its_size_by_its_content(
    cli, model, notes, tmp_path, monkeypatch, own_cache
):
    asked(cli, model, notes / "bees.txt")
    with closing(sqlite3.connect(own_cache / "known.sqlite")) as known:
        (line,) = known.execute("SELECT * FROM files").fetchall()
        more = [(line[0], b"%d.txt" % number, *line[2:6], str(number)) for number in range(500)]
        known.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", more)
        known.commit()
    without_a_model(monkeypatch)
    shutil.copy(notes / "bees.txt", tmp_path / "hives.txt")
    looked_at: list[str] = []
    monkeypatch.setattr("milepost.index.known_files.zotero.described", looked_at.append)
    assert len(asked(cli, model, tmp_path / "hives.txt")[1]["added"]) == 1
    assert len(looked_at) < 10


def test_a_file_is_encoded_once_in_every_way_in(
    cli, model, notes, tmp_path, monkeypatch, own_cache
):
    """An index that was named, another one, a search, a server, its uploads."""
    pytest.importorskip("fastapi", reason="needs the serve extra")
    from support.server import running_server

    assert cli("index", notes, "--db", "first", *model).exit_code == 0
    without_a_model(monkeypatch)
    shutil.copytree(notes, tmp_path / "copy")
    report = json.loads(cli("index", tmp_path / "copy", "--db", "second", "--json", *model).stdout)
    assert (len(report["added"]), report["sentences"], report["failed"]) == (3, 0, {})
    assert len(asked(cli, model, tmp_path / "copy")[1]["added"]) == 3
    shutil.rmtree("first")  # what is gone is done without
    shutil.rmtree("second")
    with running_server("--db", "third", notes, cache=own_cache) as (running, client):
        assert running.indexed(client)["failed"] == []
        content = (notes / "ships.md").read_bytes()
        assert client.post("/documents", files={"file": ("boats.md", content)}).status_code == 202
        assert running.indexed(client)["failed"] == []
        documents = client.get("/documents").json()["documents"]
    assert [each["name"] for each in documents] == ["bees.txt", "gold.txt", "ships.md", "boats.md"]


def test_what_a_password_opens_stays_where_it_is(cli, model, tmp_path, own_cache):
    """Another index asks for the password again."""
    pytest.importorskip("fastapi", reason="needs the serve extra")
    from support.server import running_server

    file = tmp_path / "locked.pdf"
    file.write_bytes(locked(pdf_of(["Bees make wax in eight glands."], size=14), "bee"))
    with running_server(file, cache=own_cache) as (running, client):
        failed = running.indexed(client)["failed"]
        client.post(f"/documents/{failed[0]['id']}/reading", json={"password": "bee"})
        assert running.indexed(client)["failed"] == []
    shutil.copy(file, tmp_path / "copy.pdf")
    assert "copy.pdf" in cli("search", "wax", tmp_path / "copy.pdf", *model).stderr


def test_a_removed_document_is_forgotten(cli, model, notes, own_cache):
    cli("index", notes, "--db", "first", *model)
    assert cli("remove", "gold.txt", "--db", "first").exit_code == 0
    assert b"gold.txt" not in (own_cache / "known.sqlite").read_bytes()


def test_links_out_of_a_folder_are_not_followed_for_agents(cli, model, notes, tmp_path):
    """What lies beside the folder is not shown to them, though an index holds it."""
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "link.txt").symlink_to(notes / "gold.txt")
    (tmp_path / "seen" / "copy.txt").write_bytes((notes / "gold.txt").read_bytes())
    cli("index", notes, "--db", "first", *model)
    known = KnownFiles(None, roots=[tmp_path / "seen"])
    index = milepost.open("first", read_only=True)
    with index, index.snapshot():
        store = index._store
        assert known.find(store, tmp_path / "seen" / "copy.txt", READ_DEFAULTS)
        assert known.find(store, tmp_path / "seen" / "link.txt", READ_DEFAULTS) is None


def test_a_damaged_index_beside_is_done_without(cli, model, notes, tmp_path):
    asked(cli, model, notes)
    (folder,) = indexes()
    (folder / "milepost.sqlite").write_bytes(b"no index")
    shutil.copytree(notes, tmp_path / "copy")
    found, report = asked(cli, model, tmp_path / "copy")
    assert (len(report["added"]), report["failed"]) == (3, {})
    assert found
    assert "unknown documents" in cli("cache").stdout
    assert cli("cache", "prune", "--to", "0", "-q").stdout == ""
    assert indexes() == []
