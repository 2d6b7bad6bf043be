"""What is shown, as functions: rounding, marking, pace, places."""

from pathlib import Path
from unittest.mock import Mock

from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.cli.answer import matched, reflowed
from milepost.cli.console import progress
from milepost.cli.console.links import described, link_to
from milepost.cli.console.options import DB, Settings, chosen_db
from milepost.cli.console.progress import Bar
from milepost.cli.console.screen import visible
from milepost.cli.explain import summing
from milepost.index.intake import Step
from support.zotero_library import DARWIN, ZoteroLibrary


@settings(max_examples=200)
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8))
def test_rounded_parts_add_up_and_stay_near(values):
    parts = {str(number): value for number, value in enumerate(values)}
    shown = summing(parts, sum(values))
    assert (
        round(sum(shown.values()), 6) == round(sum(values), 2)
        or abs(sum(shown.values()) - sum(values)) <= 0.005 + 1e-9
    )
    for name, value in parts.items():
        assert abs(shown[name] - value) <= 0.01 + 1e-9


@settings(max_examples=200)
@given(st.text())
def test_what_is_printed_keeps_its_length_and_steers_nothing(text):
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in shown)
    assert len(reflowed(text, "a.txt")) == len(text)


def test_broken_lines_are_joined_and_lists_are_not():
    long = "This line was broken by a printer who had a narrow page"
    assert reflowed(f"{long}\nand goes on.", "a.pdf") == f"{long} and goes on."
    for text in (f"{long}\n- item", f"{long}\n    code", "Short\nlines", f"{long}\n\nNext"):
        assert reflowed(text, "a.pdf") == text


def test_rows_of_tables_and_lines_of_code_are_not_joined():
    long = "A row, or a line of code, that is as long as a line of prose"
    for text in (f"{long} | 1\nnext", f"```py\n{long}\nnext\n```", f"{long}\nb\n```\n\n```py"):
        assert reflowed(text, "a.md") == text
    for name in ("a.csv", "a.html", "a.docx", "a.py"):
        assert reflowed(f"{long}\nnext", name) == f"{long}\nnext"


def test_words_are_found_in_every_script():
    text = "Building 1,600 cells, naïve Zellen 東京都庁"
    words = {"build", "1600", "naiv", "京都"}
    found = [text[start:end] for start, end in matched(text, words)]
    assert found == ["Building", "1,600", "naïve", "京都"]


def test_the_bar_counts_sentences_of_all_documents(monkeypatch):
    shown = []
    monkeypatch.setattr(Bar, "show", lambda *args, **fields: shown.append((args[2], fields)))
    monkeypatch.setattr(progress, "time", Mock(monotonic=Mock(side_effect=[100.0, 101.0, 104.0])))
    with Bar(Settings()) as bar:
        for step in (Step("c", 3, 4, 0, 0), Step("c", 3, 4, 10, 5), Step("d", 4, 4, 10, 10)):
            bar(step)
    speeds = ("reading", "5 sentences/s", "4 sentences/s")  # 15 sentences in 4 seconds
    shares = (0.5, 0.625, 1.0)
    assert shown == [(share, {"speed": speed}) for share, speed in zip(shares, speeds, strict=True)]


def test_the_index_is_chosen_in_order(monkeypatch, tmp_path):
    assert chosen_db(None) is None
    DB.mkdir()
    assert chosen_db(None) == DB
    monkeypatch.setenv("MILEPOST_DB", str(tmp_path))
    assert chosen_db(None) == tmp_path
    assert chosen_db(DB) == DB


def test_an_address_that_holds_no_index_is_refused(refusal, monkeypatch):
    address = "redis://anna:s3cret@localhost/notes"
    given = refusal("info", "--db", address)
    monkeypatch.setenv("MILEPOST_DB", address)
    for said in (given, refusal("info"), refusal("index", "x.txt"), refusal("search", "bees")):
        assert "redis://… cannot hold an index; try: --db FOLDER" in said
        assert "s3cret" not in said
    assert not list(Path.cwd().iterdir())


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
