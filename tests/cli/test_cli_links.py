"""Where the name of a passage's document leads to."""

from __future__ import annotations

from pathlib import Path

from milepost.console.links import described, link_to
from support.zotero_library import DARWIN, ZoteroLibrary


def test_a_file_of_zotero_is_opened_by_zotero(tmp_path: Path) -> None:
    library = ZoteroLibrary(tmp_path / "Zotero")
    book = library.item({1: "Origin", 6: "1859-00-00 1859"}, [(8, DARWIN)])
    library.attach(book, "storage:a.pdf", "application/pdf", b"%PDF-")
    library.attach(book, "storage:a.html", "text/html", b"<html>")
    pdf, page = sorted(library.folder.glob("storage/*/a.*"), key=lambda path: path.suffix)[::-1]
    assert link_to(str(pdf), 3) == f"zotero://open-pdf/library/items/{pdf.parent.name}?page=3"
    assert link_to(str(page)) == page.as_uri(), "a browser shows it"
    assert described(str(pdf)) == "Darwin 1859, Origin"
    (library.folder / "zotero.sqlite").write_bytes(b"damaged")
    assert link_to(str(pdf), 3) == f"{pdf.as_uri()}#page=3"
    assert described(str(pdf)) == ""


def test_a_note_of_a_vault_is_opened_by_obsidian(tmp_path: Path) -> None:
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    note = tmp_path / "vault" / "a & b.md"
    link = link_to(str(note))
    assert link.startswith("obsidian://open?path=%2F")
    assert link.endswith("%2Fvault%2Fa%20%26%20b.md")
    assert link_to(str(note.with_suffix(".pdf"))).startswith("file://")
    assert link_to(str(tmp_path / "a.md")) == (tmp_path / "a.md").as_uri()


def test_a_search_says_what_zotero_knows(cli, model, tmp_path: Path) -> None:
    library = ZoteroLibrary(tmp_path / "Zotero")
    book = library.item({1: "On Gold", 6: "1859"}, [(8, DARWIN)])
    text = b"<html><body><p>Gold melts at 1064 degrees.</p></body></html>"
    library.attach(book, "storage:gold.html", "text/html", text)
    db = tmp_path / "db"
    assert cli("index", library.folder, "--db", db, *model).exit_code == 0
    result = cli("search", "when does gold melt?", "--db", db, "-C", 0, *model)
    assert "gold.html · Darwin 1859, On Gold · " in result.stdout
    assert "x.js" not in cli("info", "--db", db, *model).stdout
