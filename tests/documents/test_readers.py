"""The readers of formats, on small files made here; test_real_files.py has the real ones."""

import hashlib
import io
import os
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml

from milepost.documents import read, read_bytes
from milepost.documents.readers.formats import OLE
from milepost.errors import UnreadableFile
from milepost.types import Document
from support.office_writer import epub, opendocument, xlsx, zipped
from support.ole_writer import ole, xls

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LOCKED = opendocument("text", "<text:p>x</text:p>", manifest="<manifest:encryption-data/>")
DEEP = "<text:section>" * 50_000 + "</text:section>" * 50_000
WORKBOOK = xlsx({"S": [["a", "b"]]})


def html(body: str) -> Document:
    return read_bytes(f"<!doctype html><html><body>{body}</body></html>".encode(), "p.html")


def headings(document: Document) -> list[tuple[str, int]]:
    return [(mark.value, mark.level) for mark in document.marks if mark.kind == "heading"]


def test_read_names_and_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo")
    monkeypatch.chdir(tmp_path)
    document = read("a.txt")
    assert document.name == document.source == str(tmp_path / "a.txt")
    assert document.text == "one\ntwo"
    assert document.hash == hashlib.sha256(b"one\r\ntwo").hexdigest()


@pytest.mark.parametrize(
    ("data", "name", "problem"),
    [
        (b"", "a.txt", "empty"),
        (b"\x89PNG\r\n\x1a\n...", "a.txt", "picture"),
        (OLE + b"\0" * 600, "a.doc", "damaged"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx", "password"),
        (b"PK\x03\x04 broken", "a.docx", "damaged"),
        (b"just words", "a.docx", "not a docx"),
        (zipped({"ppt/presentation.xml": "<x"}), "a.pptx", "damaged"),
        (zipped({"content.xml": "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"}), "a.odt", "entities"),
        (zipped({"a.txt": "x"}), "a.zip", "zip archive"),
        (zipped({"Index/Document.iwa": "x"}), "a.pages", "Pages, Numbers or Keynote"),
        (zipped({"META-INF/container.xml": "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"}), "a.epub", "ent"),
        (zipped({"META-INF/container.xml": "<x/>"}), "a.epub", "no book"),
        (b"\0\1\2\3" * 200, "a.txt", "binary"),
        (b"just words", "a.pdf", "not a pdf"),
        (b"%PDF-1.7\n", "a.pdf", "damaged"),
        (b"just words\n", "a.eml", "not a mail"),
        (b"just words\n", "a.mbox", "not a mailbox"),
        (b"<?xml version='1.0'?><w:wordDocument xmlns:w='w'/>", "a.xml", "a document in XML"),
        (LOCKED, "a.odt", "password"),
        (opendocument("text", DEEP), "a.odt", "nested too deeply"),
        (WORKBOOK.replace(b"xl/workbook.xml", b"xl/workb00k.xml"), "a.xlsx", r"a\.xlsx is damaged"),
        (ole({"EncryptedPackage": b"x" * 5000}), "a.xlsx", "password"),
        *(
            (xls([["Bolt", 1.5]], lock), "a.xls", "protected by a password")
            for lock in (b"\0\0\x7a\x14\xaf\x83", b"\1\0\1\0\1\0" + bytes(48))  # XOR, RC4
        ),
        (ole({"WordDocument": b"x" * 5000}), "a.doc", "old Office format"),
        *(
            (data, "a.ipynb", "not a notebook|damaged")
            for data in (b"[]", b"{}", b'{"cells": 3}', b"{", b"words", b"[" * 100_000)
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_read_is_named(data: bytes, name: str, problem: str) -> None:
    with pytest.raises(UnreadableFile, match=problem) as caught:
        read_bytes(data, name)
    assert name in caught.value.problem
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="does not exist"):
        read(tmp_path / "none.txt")
    with pytest.raises(UnreadableFile, match="is a folder"):
        read(tmp_path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a system without devices as files")
def test_devices_and_pipes_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="/dev/zero is a device"):
        read("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFile, match="is a pipe"):
        read(tmp_path / "pipe")


def test_a_zip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from milepost.documents.readers import archive

    monkeypatch.setattr(archive, "MAX_BYTES", 1 << 20)
    with pytest.raises(UnreadableFile, match="unpacks to more"):
        read_bytes(zipped({"word/document.xml": b"\0" * (2 << 20)}), "bomb.docx")


def test_content_goes_before_suffix() -> None:
    assert read_bytes(b"<!DOCTYPE html><p>Hi<script>x()</script>", "a.txt").text == "Hi"


def test_html_blocks_and_inline() -> None:
    document = html("<h1>A <i>t</i>itle¶</h1><p>One <b>t</b>wo<br>three</p><div>four<p>five</div>")
    assert document.text == "A title\n\nOne two\nthree\n\nfour\n\nfive"
    assert headings(document) == [("A title", 1)]
    assert [document.text[block] for block in document.blocks] == ["A", "O", "f", "f"]


def test_html_lists_tables_and_code() -> None:
    document = html(
        "<ul><li>one<li><p>two</p></ul><table><tr><th>a<th>b<tr><td>1<p>x<td>2</table>"
        "<pre>\nif x:\n    y\n</pre>"
    )
    assert document.text == "- one\n- two\na | b\n1 x | 2\n\nif x:\n    y"
    assert len(document.blocks) == 6


def test_html_paragraphs_may_be_wrapped_in_pre() -> None:
    first = "The committee decided on Monday that the fee will be raised to\n12 euros for all."
    second = "It will be discussed again in spring, when the new members can\ncome, too."
    document = html(f"<pre>{first}\n\n{second}</pre><pre><code>x = 1\n\ny = 2</code></pre>")
    assert document.text == f"{first}\n\n{second}\n\nx = 1\ny = 2"
    assert [document.text[block] for block in document.blocks] == ["T", "I", "x", "y"]


def test_html_menus_go_only_where_the_main_part_is_known() -> None:
    menu = "<nav>Home</nav>"
    themes = "<ul role=menu><li>Dark</ul><div role=dialog>Cookies?</div>"
    page = f"{menu}{themes}<main><p>{'words ' * 30}</p></main>"
    assert html(page).text == ("words " * 30).strip()
    assert html(f"{menu}<p>Words</p>").text == "Home\n\nWords"
    assert "Home" in html(f"{menu}<p>{'words ' * 30}</p><main>x</main>").text


def test_menus_of_links_go_where_no_part_is_the_main_one() -> None:
    menu = "<ul><li><a href=/a>Politics</a><li><a href=/b>World news</a></ul>"
    page = f"<nav>{menu}</nav><h1>Costs rise</h1><footer>{menu}</footer>"
    assert html(page).text == "Costs rise"
    assert html(f"<div role=navigation>{menu}</div>").text == "- Politics\n- World news"
    assert html(
        f"<p>Words</p><footer>Told by <a href=/a>Ann</a></footer><nav>{menu}</nav>"
    ).text == ("Words\n\nTold by Ann")


def test_indentation_and_menus_are_no_text_beside_the_main_part() -> None:
    menu = f"<nav>{' ' * 500}<ul><li><a href=/a>Politics {'news ' * 99}</a></ul></nav>"
    comment = "<article>Good.<footer><a href=/c>Ann</a> <time>1 May</time></footer></article>"
    page = f"{menu}<p>Costs</p><main><p>Costs rise in May.</p>{comment}</main>"
    assert html(page).text == "Costs\n\nCosts rise in May.\n\nGood.\n\nAnn 1 May"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<p>Hi</p><audio src='a'/><video/><o:p/><del/><p>you<br/>b</p>", "Hi you b"),
        ("<![CDATA[if a < b & c > d]]> e", "if a < b & c > d e"),
        ("<style><![CDATA[p > b:after{content:'x<'}]]></style><p><b>A</b> b</p>", "Ax< b"),
        (
            "<epub:switch><epub:case required-namespace='x/MathML'>A</epub:case>"
            "<epub:default>no</epub:default></epub:switch><epub:switch><epub:case>no</epub:case>"
            "<epub:default> b</epub:default></epub:switch>",
            "A b",
        ),
        ("<h:p xmlns:h='x'>A</h:p><h:html/><h:title>no</h:title><h:p>b</h:p>", "A b"),
    ],
)
def test_xhtml(body: str, wanted: str) -> None:
    page = f"<?xml version='1.0'?><html><head><title/><script/></head><body>{body}</body></html>"
    assert " ".join(read_bytes(page.encode(), "a.xhtml").text.split()) == wanted


def test_html_declares_its_encoding() -> None:
    page = "<!doctype html><meta charset=shift_jis><p>日本語</p>".encode("cp932")
    assert read_bytes(page, "a.html").text == "日本語"


def test_markdown_is_kept_as_typed() -> None:
    source = (
        "---\ntitle: T\n---\n# A [link](x) *title*\n\nText\nmore\n\n- one\n- two\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\ny\n```\n\nUnder\n=====\n"
    )
    document = read_bytes(source.encode(), "a.md")
    assert document.text == source
    assert headings(document) == [("A link title", 1), ("Under", 1)]
    offsets = [mark.offset for mark in document.marks if mark.kind == "heading"]
    assert [source[offset:][:5] for offset in offsets] == ["A [li", "Under"]
    starts = {source[block:].split("\n", 1)[0] for block in document.blocks}
    assert {"Text", "- one", "- two", "| 1 | 2 |", "x = 1", "y", "Under"} <= starts
    assert "more" not in starts


def test_escaped_signs_in_a_heading_are_signs() -> None:
    source = r"# A \*star\*? *of* `x`, snake\_case, \<b\> \\"
    assert headings(read_bytes(source.encode(), "a.md")) == [
        ("A *star*? of x, snake_case, <b> \\", 1)
    ]


@pytest.mark.parametrize(
    ("source", "found", "starts"),
    [
        (  # from the documents of Docling
            '??? question "Is Python 3.14 supported?"\n\n    ### Is Python 3.14 supported?\n\n'
            "    Python 3.14 is\n    supported.\n\n\nText.\n",
            [("Is Python 3.14 supported?", 3)],
            ["??? question", "### Is Python", "Python 3.14", "Text."],
        ),
        (
            "!!! note\n    Text\n    more\n\n    - one\n\n"
            "    !!! tip inline end\n        Inner\n\nText\n",
            [],
            ["!!! note", "Text", "- one", "!!! tip", "Inner", "Text"],
        ),
        (
            '- item\n\n    === "Tab"\n\n        ```\n        x\n        ```\n',
            [],
            ["- item", '=== "Tab"', "```", "x", "```"],
        ),
        ("!!! Stop there now\n\nText\n", [], ["!!! Stop", "Text"]),
        ("```\n!!! note\n    x\n```\n", [], ["```", "!!! note", "x", "```"]),
    ],
)
def test_notes_in_markdown(source: str, found: list[tuple[str, int]], starts: list[str]) -> None:
    document = read_bytes(source.encode(), "a.md")
    assert document.text == source
    assert headings(document) == found
    blocks = [source[block:].lstrip() for block in document.blocks or ()]
    assert [block[: len(start)] for block, start in zip(blocks, starts, strict=True)] == starts


@pytest.mark.parametrize(
    ("name", "source", "level"),
    [
        ("a.rst", "Top\n===\n\nText.\n\nSub\n---\n\nMore.\n\nTop two\n=======\n", 1),
        ("a.rst", "===\n Top\n===\n\nSub\n===\n\n=======\nTop two\n=======\n", 1),
        ("a.adoc", "= Top\n\n----\ncode\n----\n\n== Sub\n\n= Top two\n", 1),
        (
            "a.asc",
            "Top\n====\n\n.Code\n----\n= no\n----\n\n[[sub]]\nSub\n-----\n----\nTop\n===\n----\n\n"
            "= Top two",
            1,
        ),
        ("a.org", "* Top\n ** bold\n** Sub\n* Top two\n", 1),
        ("a.mediawiki", "=Top=\nIf a = b = c.\n== Sub ==\n= Top two =\n", 1),
        ("a.pod", "=head1 Top\n\n=over 4\n\n=head2 Sub\n\n=head1 Top two\n", 1),
        ("a.textile", "h1. Top\n\nh2(#s). Sub\n\nh7. No\n\nh1. Top two\n", 1),
        ("a.tex", "\\chapter{Top}\n% \\part{No}\n\\section[s]{\\em Sub}\n\\chapter*{Top two}", 2),
    ],
)
def test_headings_of_markup(name: str, source: str, level: int) -> None:
    found = headings(read_bytes(source.encode(), name))
    assert found == [("Top", level), ("Sub", level + 1), ("Top two", level)]


def test_rows_are_blocks() -> None:
    document = read_bytes(b"a,b\n\n1,2\n  3,4\n", "a.log")
    assert document.blocks == (0, 5, 9)
    assert read_bytes(b'{"a": 1}\n{"b": 2}\n', "a.txt").blocks == (0, 9)


def test_json_is_written_as_it_reads() -> None:
    records = (
        r"""{"a": "Geb\u00fchr\n\u00a7 1 \ud83d\ude00\ud800", "b": "C:\\new \"x\"\t1"}""" + "\n"
    )
    shown = '{"a": "Gebühr\n§ 1 😀", "b": "C:\\new "x" 1"}\n'
    for name, source, row in (
        ("a.jsonl", records * 2, "2"),
        ("a.json", f"[\n{records}]\n{records}", "4"),
        ("a.txt", records * 2, "2"),
    ):
        document = read_bytes(source.encode(), name)
        assert document.text == source.replace(records, shown)
        assert document.blocks == tuple(mark.offset for mark in document.marks)
        assert document.marks[-1].value == row
        assert document.text.startswith(shown, document.marks[-1].offset)
    assert read_bytes(b'{"a": "no\\escape"}', "a.json").text == '{"a": "no\\escape"}'


def test_docx_paragraphs_tables_and_headings() -> None:
    file = docx.Document()
    file.add_heading("Title", 0)
    file.add_heading("Chapter", 2)
    file.add_paragraph("One.")
    table = file.add_table(2, 3)
    for number, cell in enumerate(c for row in table.rows for c in row.cells):
        cell.text = f"c{number}"
    table.cell(0, 0).merge(table.cell(0, 1))
    file.add_paragraph("item", style="List Bullet")
    buffer = io.BytesIO()
    file.save(buffer)
    document = read_bytes(buffer.getvalue(), "a.docx")
    assert document.text == "Title\n\nChapter\n\nOne.\nc0 c1 | | c2\nc3 | c4 | c5\n- item"
    assert headings(document) == [("Title", 1), ("Chapter", 2)]


def test_docx_reads_as_if_changes_were_accepted() -> None:
    file = docx.Document()
    body = file.element.body
    for inner in (
        "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>kept</w:t></w:r>"
        "<w:del><w:r><w:delText> gone</w:delText></w:r></w:del>"
        '<w:ins><w:r><w:t xml:space="preserve"> new</w:t></w:r></w:ins>',
        '<w:r><w:t xml:space="preserve"> joined</w:t></w:r><w:moveFrom><w:r><w:t>x</w:t></w:r>'
        "</w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>",
    ):
        body.insert(len(body) - 1, parse_xml(f"<w:p {W}>{inner}</w:p>"))
    buffer = io.BytesIO()
    file.save(buffer)
    assert read_bytes(buffer.getvalue(), "a.docx").text == "kept new joined"


def test_epub_in_reading_order() -> None:
    document = read_bytes(epub(), "a.epub")
    assert document.text == "One\n\nFirst.\n\nTwo\n\nSecond."
    assert headings(document) == [("One", 1), ("Two", 2)]


def test_epub_locked_chapters() -> None:
    reference = "<CipherReference URI='O/{}'/>"
    one = reference.format("one.xhtml")
    document = read_bytes(epub(**{"META-INF/encryption.xml": f"<e>{one}</e>"}), "a.epub")
    assert document.text == "Two\n\nSecond."
    assert document.notes == ("O/one.xhtml is locked by copy protection",)
    both = one + reference.format("two%20two.xhtml")
    with pytest.raises(UnreadableFile, match="DRM"):
        read_bytes(epub(**{"META-INF/encryption.xml": f"<e>{both}</e>"}), "a.epub")


def test_plain_headings() -> None:
    text = (
        b"THE BOOK\n\nCHAPTER I. Of bees\n\nThey fly. USA\n\nA.B.\n\nNOT ALONE\nhere it goes on.\n"
    )
    document = read_bytes(text, "book.txt")
    assert [(mark.value, mark.level) for mark in document.marks] == [
        ("THE BOOK", 2),
        ("CHAPTER I. Of bees", 1),
    ]
    for mark in document.marks:
        assert document.text[mark.offset :].startswith(mark.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("请先安装 HTTP 服务器。\n\n이 제품은 USB 포트로 충전할 수 있습니다.\n", []),
        ("CALL HCONTVEL ( FDATE, FTIME )\n\nRPL_ISON\n\n    IF          ELSE\n", []),
        ("Part 2 of it was lost.\n\nPart 2 of Three\n", [("Part 2 of Three", 1)]),
        ("CHANGES FROM 2.0a TO 2.1, 18 October\n", [("CHANGES FROM 2.0a TO 2.1, 18 October", 2)]),
        ("### INCLUDES ###\n\n*** START: LICENSE ***\n", [("INCLUDES", 2), ("START: LICENSE", 2)]),
        ("Bees\n====\n\nFlight\n------\nText\n", [("Bees", 2), ("Flight", 3)]),
        ("====\nBees\n====\n\nThey fly.\n---------\n\na\nb\n---\n", [("Bees", 2)]),
        (
            "1. Bees\n\nText\n\n1.1 FLIGHT\n\n1.2 Honey\n\n",
            [("1. Bees", 2), ("1.1 FLIGHT", 3), ("1.2 Honey", 3)],
        ),
        ("1. Boil water\n\n2. Add salt\n\n1. Cut bread\n\n2. Eat\n\n", []),
    ],
)
def test_headings_of_plain_text(text: str, found: list[tuple[str, int]]) -> None:
    document = read_bytes(text.encode(), "a.txt")
    assert headings(document) == found
    assert all(text.startswith(mark.value, mark.offset) for mark in document.marks)


def test_names_in_front_of_speeches_are_no_headings() -> None:
    speech = b"HAMLET\n\nTo be.\n\nNOTE:\n\nAside.\n\n"
    document = read_bytes(b"THE PLAY\n\n" + 3 * speech + b"HORATIO\n\nMy lord.\n", "a.txt")
    assert [mark.value for mark in document.marks] == ["THE PLAY", "HORATIO"]


@pytest.mark.parametrize("encoding", ["utf-99999999", "utf-7", "base64", "punycode"])
def test_xml_in_an_encoding_that_no_reader_knows(encoding: str) -> None:
    """The parser raises errors of several kinds; all are one of ours, which names the file."""
    book = f"<?xml version='1.0' encoding='{encoding}'?><container>\x80</container>"
    with pytest.raises(UnreadableFile, match=r"a\.epub is damaged: META-INF"):
        read_bytes(epub(**{"META-INF/container.xml": book}), "a.epub")


def test_a_reader_that_fails_is_an_error_that_names_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever a library raises, the files after this one are read."""

    def fail(*_: object, **__: object) -> Document:
        raise AssertionError("line \x1b[2J one\nline two")

    monkeypatch.setattr("milepost.documents.readers.formats._reader", lambda _: fail)
    with pytest.raises(UnreadableFile) as caught:
        read_bytes(b"text", "a.txt")
    assert caught.value.problem == (
        "a.txt is damaged: its reader failed (AssertionError: line [2J one)"
    )


def test_headings_have_no_control_characters() -> None:
    document = read_bytes(b"# A \x1b[2J bell\n\nText.", "a.md")
    assert document.text.startswith("# A \x1b[2J bell")
    assert [mark.value for mark in document.marks] == ["A [2J bell"]


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ("<h2>I</h2><p>Mr. <i>Holmes</i></p>", "I: Mr. Holmes"),
        ("<h2>II</h2><h3>What now?</h3><p>A tale</p>", "II: What now? A tale"),
    ],
)
def test_a_group_of_headings_is_one(parts: str, wanted: str) -> None:
    document = html(f"<hgroup>{parts}</hgroup><p>He was seated.</p>")
    assert document.text == f"{wanted}\n\nHe was seated."
    assert [mark.value for mark in document.marks] == [wanted]


def test_lines_of_a_field_stay() -> None:
    assert html("<p>A<textarea>\n# Talk\n\n- one\n</textarea>").text == "A\n\n# Talk\n\n- one"
    assert html("<p>A <textarea>word</textarea> B").text == "A word B"


@pytest.mark.parametrize("suffix", ["Rmd", "qmd", "mdx", "mkdn", "mkd"])
def test_kinds_of_markdown(suffix: str) -> None:
    document = read_bytes(b"---\ntitle: Survey\n---\n\n# Aims\n\nWe ask.\n", f"a.{suffix}")
    assert document.properties["title"] == "Survey"
    assert [mark.value for mark in document.marks] == ["Aims"]
