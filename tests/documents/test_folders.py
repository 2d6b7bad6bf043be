"""Folders, vaults of notes, and libraries of Zotero."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.documents import files, read
from milepost.documents.vaults import readable, vault_of
from milepost.documents.zotero import Reference, attachment_of, attachments
from milepost.errors import UnreadableFile
from support.files import write_files
from support.zotero_library import DARWIN, SOCIETY, ZoteroLibrary


def make(root: Path, *names: str) -> None:
    write_files(root, dict.fromkeys(names, "words"))


def names(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in files([root])]


def test_sorted_without_junk_and_indexes(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.md", "a/y.pdf", ".hidden", ".git/config", "node_modules/x.md")
    make(tmp_path, "pic.png", "c/__pycache__/m.txt", "my-env/pyvenv.cfg", "my-env/lib/t.txt")
    make(tmp_path, "idx/milepost.sqlite", "idx/notes.txt")
    assert names(tmp_path) == ["a/y.pdf", "a/z.md", "b.txt"]


def test_ignore_files_hold_below_them(tmp_path: Path) -> None:
    make(tmp_path, "keep.txt", "drop.log", "build/x.txt", "sub/a.log", "sub/b.txt", "other/b.txt")
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n", encoding="utf-8")
    (tmp_path / "sub" / ".milepostignore").write_text("!a.log\nb.txt\n", encoding="utf-8")
    assert names(tmp_path) == ["keep.txt", "other/b.txt", "sub/a.log"]


def test_a_named_file_is_always_taken_once(tmp_path: Path) -> None:
    make(tmp_path, ".hidden", "pic.png", "a.txt")
    given = [tmp_path / ".hidden", tmp_path / "pic.png", tmp_path / "a.txt", tmp_path]
    assert [path.name for path in files(given)] == [".hidden", "pic.png", "a.txt"]


def test_link_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "a/x.txt")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    assert names(tmp_path) == ["a/x.txt"]


@pytest.mark.parametrize("broken", ["!", "\\", "drop\\"])
def test_a_broken_line_of_an_ignore_file_is_passed_over(tmp_path: Path, broken: str) -> None:
    """A line that is no pattern hides neither the folder nor the other lines, as with git."""
    make(tmp_path, "keep.txt", "drop.log")
    (tmp_path / ".gitignore").write_text(f"{broken}\n*.log\n", encoding="utf-8")
    assert names(tmp_path) == ["keep.txt"]


def test_a_path_that_cannot_be_asked(tmp_path: Path) -> None:
    """A path too long for the system, and one with a zero byte, are named like missing ones."""
    with pytest.raises(UnreadableFile, match="nowhere does not exist"):
        list(files([tmp_path / "nowhere"]))
    make(tmp_path, "idx/milepost.sqlite")
    with pytest.raises(UnreadableFile, match="idx is an index, not documents; try: --db"):
        list(files([tmp_path / "idx"]))
    with pytest.raises(UnreadableFile, match="cannot be reached: File name too long"):
        list(files([tmp_path / ("x" * 5000)]))
    with pytest.raises(UnreadableFile, match="does not exist"):
        list(files([tmp_path / "a\0b"]))


NOTE = """---
tags: [bees]
up: "[[Insects]]"
---
# About [[Bees|the bee]]

The [[hive-bee]] builds ![[cell.png|300]] of wax, see [[Notes/Wax#Melting point]]. #wax ^a1

```sh
if [[ -f x ]]; then echo %% y %%; fi
```

`[[code]]` and %%a remark%%a [link](x.md).
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    notes = {"sub/bees.md": NOTE, ".obsidian/app.json": "{}", ".trash/old.md": "old"}
    return write_files(tmp_path / "vault", notes)


def test_a_note_reads_as_its_words(vault: Path) -> None:
    document = read(vault / "sub" / "bees.md")
    assert document.text == (
        '---\ntags: [bees]\nup: "[[Insects]]"\n---\n# About the bee\n\n'
        "The hive-bee builds cell.png of wax, see Notes/Wax, Melting point. #wax\n\n"
        "```sh\nif [[ -f x ]]; then echo %% y %%; fi\n```\n\n"
        "`[[code]]` and a [link](x.md).\n"
    )
    assert [mark.value for mark in document.marks if mark.kind == "heading"] == ["About the bee"]
    assert all(0 <= block < len(document.text) for block in document.blocks)


def test_markdown_elsewhere_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "bees.md"
    path.write_text(NOTE, encoding="utf-8")
    assert read(path).text == NOTE
    assert vault_of(str(path)) is None


def test_the_own_folders_of_a_vault_are_skipped(vault: Path) -> None:
    assert [path.name for path in files([vault])] == ["bees.md"]
    assert vault_of(str(vault / "sub" / "bees.md")) == vault


@given(st.text(st.sampled_from("ab #|^!%`~-\n[]"), max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    made = readable(text)
    assert len(made) <= len(text)
    if not any(sign in text for sign in ("[[", "%%", "^")):
        assert made == text


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
    write_files(tmp_path, {"Zotero/zotero.sqlite": data, "beside.txt": "x"})
    folder = tmp_path / "Zotero"
    (folder / "storage").mkdir()
    with pytest.raises(UnreadableFile, match="cannot be read as Zotero's"):
        list(files([folder]))
    failed: dict[str, str] = {}
    assert [path.name for path in files([tmp_path], failed)] == ["beside.txt"]
    assert list(failed) == [str(folder)]
