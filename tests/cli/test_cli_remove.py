"""``milepost remove``: what it takes out, what it says, and what is left on the disk."""

import json
import zlib
from pathlib import Path

import pytest

import milepost
from milepost.encoder.engine.folder import cache_folder
from support.files import write_files

LIGHT = "landmark-light"
SECRET = "The quokka's plover was paid in Lisbon. "


@pytest.fixture
def filled(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index with an upload and a folder's files; one of them was searched as well."""
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    texts = {"secret.txt": SECRET, "plain.txt": "Bees build cells of wax. " * 30}
    folder, db = write_files(tmp_path / "notes", texts), tmp_path / "db"
    assert cli("index", folder, "--db", db, "--model", LIGHT).exit_code == 0
    write_files(db, {"uploads/upload.txt": SECRET * 2})
    assert cli("index", db / "uploads", "--db", db).exit_code == 0
    assert cli("search", "who was paid", folder / "secret.txt", "--model", LIGHT).exit_code == 0
    return db


def holding(*folders: Path) -> list[str]:
    marks = [b"quokka", *(zlib.compress((SECRET * n).encode())[:30] for n in (1, 2))]
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [path.name for path in paths if any(mark in path.read_bytes() for mark in marks)]


def test_it_says_what_was_removed_and_what_remains(cli, filled: Path) -> None:
    done = cli("remove", "secret.txt", "--db", filled, "--json")
    report = json.loads(done.stdout)
    assert report["removed"] == [str(filled.parent / "notes" / "secret.txt")]
    assert report["characters"] == len(SECRET)
    assert (report["sentences"], report["files"]) == (1, [])
    assert report["words"] > 3
    assert "its files, until" in report["remains"]
    assert str(cache_folder()) in report["remains"]
    assert (filled.parent / "notes" / "secret.txt").exists()
    assert "milepost.sqlite" in holding(filled, cache_folder())


def test_now_leaves_no_byte(cli, filled: Path) -> None:
    cli("remove", "secret.txt", "--db", filled)
    done = cli("remove", "upload.txt", filled.parent / "notes" / "secret.txt", "--db", filled)
    assert done.exit_code == 2  # one is gone already: nothing else is removed
    assert (filled / "uploads" / "upload.txt").exists()
    done = cli("remove", "upload.txt", "--now", "--db", filled)
    assert done.exit_code == 0
    assert "nothing of it is left" in done.stdout
    assert holding(filled) == []
    assert holding(cache_folder()) != []  # it was removed without --now
    with milepost.open(filled) as index:
        assert [Path(info.name).name for info in index.documents()] == ["plain.txt"]
        assert index.search("what do bees build?", k=1)
    cli("index", filled.parent / "notes", "--db", filled)
    report = json.loads(cli("remove", "secret.txt", "--now", "--db", filled, "--json").stdout)
    assert report["remains"] == ""
    assert len(report["files"]) == 1
    assert holding(filled, cache_folder()) == []


def test_what_was_removed_earlier_is_erased_without_a_name(cli, filled: Path) -> None:
    """``--now`` alone, and the end of ``Index.remove`` in Python."""
    cli("remove", "secret.txt", "upload.txt", "--db", filled)
    assert holding(filled) != []
    assert cli("remove", "--now", "--db", filled).exit_code == 0
    assert holding(filled) == []
    with milepost.open(filled) as index:
        index.add(milepost.Document("again", SECRET))
        assert index.remove("again", now=True).remains == ""
        assert holding(filled) == []


def test_what_cannot_be_removed_is_said(refusal, filled: Path, tmp_path: Path) -> None:
    for arguments in (
        ("unknown.txt", "--db", filled),
        ("--db", filled),
        ("x", "--db", tmp_path / "nowhere"),
    ):
        refusal("remove", *arguments)
