"""Zotero's data folder: which files are read, and what is known of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from milepost.errors import UnreadableFile
from milepost.text import files
from milepost.text.zotero import Reference, attachment_of, attachments
from support.zotero_library import DARWIN, SOCIETY, ZoteroLibrary

PDF, HTML = "application/pdf", "text/html"
ORIGIN = {1: "On the Origin\n of Species", 6: "1859-11-24 24 November 1859", 26: "https://x.org"}


@pytest.fixture
def library(tmp_path: Path) -> ZoteroLibrary:
    return ZoteroLibrary(tmp_path / "My Zotero #1?")


def test_attachments_have_the_reference_of_their_item(library: ZoteroLibrary) -> None:
    book = library.item(ORIGIN, [(10, SOCIETY), (8, DARWIN), (8, ("Wallace", "Alfred"))])
    case = library.item({111: "Bee v. Bee", 95: "1901-00-00 1901"}, [(1, SOCIETY)])
    library.attach(book, "storage:Darwin - 1859.pdf", PDF, b"%PDF-")
    library.attach(case, "storage:page.html", HTML, b"<html>")
    library.attach(None, "storage:alone.epub", "application/epub+zip", b"PK")
    library.attach(book, "storage:picture.png", "image/png", b"x")
    library.attach(library.item({1: "Group"}, library=2), "storage:g.pdf", PDF, b"%PDF-", library=2)
    found = attachments(library.folder)
    assert [each.path.name for each in found if each.path] == [
        *("Darwin - 1859.pdf", "page.html", "alone.epub", "g.pdf")
    ]
    assert [each.reference for each in found] == [
        Reference("On the Origin of Species", (DARWIN, ("Wallace", "Alfred")), "1859-11-24"),
        Reference("Bee v. Bee", (SOCIETY,), "1901"),
        Reference(),
        Reference("Group"),
    ]
    assert [each.address.rpartition("/")[0] for each in found] == [
        *["library/items"] * 3,
        "groups/77/items",
    ]
    assert str(found[0].reference) == "Darwin and Wallace 1859, On the Origin of Species"
    for each in found:
        assert attachment_of(str(each.path)) == each
    assert attachment_of(str(library.folder / "translators" / "x.js")) is None
    assert attachment_of("/storage/ABCDEFGH/x.pdf") is None


def test_a_data_folder_stands_for_its_library(library: ZoteroLibrary, tmp_path: Path) -> None:
    """Its own files are not documents; linked files are; the trash and what is missing are not."""
    book = library.item(ORIGIN)
    linked = tmp_path / "linked.pdf"
    linked.write_bytes(b"%PDF-")
    library.attach(book, "storage:a.pdf", PDF, b"%PDF-")
    library.attach(book, str(linked), PDF)
    trashed = library.attach(book, "storage:trashed.pdf", PDF, b"%PDF-")
    lost = library.item({1: "Lost"})
    library.attach(lost, "storage:of-trashed.pdf", PDF, b"%PDF-")
    library.attach(book, "storage:gone.pdf", PDF)
    library.attach(book, "attachments:below/base.pdf", PDF)
    library.attach(book, "storage:../../zotero.sqlite", PDF)
    library.attach(book, "storage:ignored.pdf", PDF, b"%PDF-")
    library.run(
        ("INSERT INTO deletedItems (itemID) VALUES (?)", trashed),
        ("INSERT INTO deletedItems (itemID) VALUES (?)", lost),
    )
    (library.folder / ".milepostignore").write_text("ignored.*\n", encoding="utf-8")
    (tmp_path / "beside.txt").write_text("x", encoding="utf-8")
    skipped: dict[str, str] = {}
    found = [
        path.name
        for path in files([tmp_path], on_skip=lambda path, why: skipped.update({path.name: why}))
    ]
    assert sorted(found) == ["a.pdf", "beside.txt", "linked.pdf"]
    assert skipped.pop("ignored.pdf").startswith("ignored by ")
    assert skipped == {
        "gone.pdf": "in Zotero's library, but not on this disk",
        "base.pdf": "Zotero's database does not say where it is",
        "zotero.sqlite": "Zotero's database does not say where it is",
    }


def test_a_library_that_zotero_has_open_is_read_and_not_changed(library: ZoteroLibrary) -> None:
    library.attach(library.item(ORIGIN), "storage:a.pdf", PDF, b"%PDF-")
    before = (library.folder / "zotero.sqlite").read_bytes()
    with closing(sqlite3.connect(library.folder / "zotero.sqlite")) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        assert len(attachments(library.folder)) == 1
        database.rollback()
    assert (library.folder / "zotero.sqlite").read_bytes() == before
    assert {path.name for path in library.folder.iterdir()} == {
        *("storage", "translators", "zotero.sqlite", "zotero.sqlite.bak")
    }
    library.attach(library.item({1: "New"}), "storage:b.pdf", PDF, b"%PDF-")
    assert len(attachments(library.folder)) == 2, "what has changed is read again"


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + b"x" * 500])
def test_a_damaged_database_is_named(tmp_path: Path, data: bytes) -> None:
    """Alone it is an error; below another folder the rest is read."""
    folder = tmp_path / "Zotero"
    (folder / "storage").mkdir(parents=True)
    (folder / "zotero.sqlite").write_bytes(data)
    (tmp_path / "beside.txt").write_text("x", encoding="utf-8")
    with pytest.raises(UnreadableFile, match="cannot be read as Zotero's"):
        list(files([folder]))
    failed: dict[str, str] = {}
    assert [path.name for path in files([tmp_path], failed)] == ["beside.txt"]
    assert list(failed) == [str(folder)]
