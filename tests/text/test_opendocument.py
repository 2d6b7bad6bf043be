"""OpenDocument texts and presentations."""

import pytest

from milepost.errors import UnreadableFile
from milepost.text import read_bytes
from support.office_writer import opendocument


def test_headings_lists_tables_and_footnotes() -> None:
    body = (
        "<text:tracked-changes><text:p>A deleted line.</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">On  bees</text:h>'
        "<text:p>They<text:s/>fly<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>And walk.</text:p></text:note-body></text:note> far."
        "<office:annotation><text:p>A comment.</text:p></office:annotation></text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
        "<text:p>inner</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>two<text:line-break/>lines</text:p></text:list-item></text:list>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell>"
        "<text:p>Name</text:p></table:table-cell><table:table-cell><text:p>Legs</text:p>"
        "</table:table-cell></table:table-row></table:table-header-rows><table:table-row>"
        "<table:table-cell><text:p>Bee</text:p></table:table-cell><table:table-cell>"
        "<text:p>6</text:p></table:table-cell></table:table-row></table:table>"
    )
    document = read_bytes(opendocument("text", body), "a.odt")
    assert document.text == (
        "On bees\n\nThey fly far.\n\nAnd walk.\n- one\n- inner\n- two\nlines\nName | Legs\nBee | 6"
    )
    headings = [(m.value, m.level) for m in document.marks if m.kind == "heading"]
    assert headings == [("On bees", 2)]
    assert all(document.text[at - 1] == "\n" for at in document.blocks[1:])


def test_slides_have_titles_notes_and_numbers() -> None:
    body = (
        "<draw:page><draw:frame><draw:text-box><text:p>Words below.</text:p></draw:text-box>"
        '</draw:frame><draw:frame presentation:class="title"><draw:text-box><text:p>First</text:p>'
        '</draw:text-box></draw:frame><draw:frame presentation:class="page-number">'
        "<draw:text-box><text:p>1</text:p></draw:text-box></draw:frame><presentation:notes>"
        "<draw:frame><draw:text-box><text:p>Speak up.</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
        "<draw:page><draw:frame><draw:text-box><text:p>Last words.</text:p></draw:text-box>"
        "</draw:frame></draw:page>"
    )
    document = read_bytes(opendocument("presentation", body), "a.odp")
    assert document.text == "First\n\nWords below.\n\nSpeak up.\n\nLast words."
    assert document.place(document.text.index("Speak")) == "slide 1"
    assert document.place(document.text.index("Last")) == "slide 2"
    assert document.heading(3) == "First"


def test_a_password_is_named() -> None:
    data = opendocument("text", "<text:p>x</text:p>", manifest="<manifest:encryption-data/>")
    with pytest.raises(UnreadableFile, match="password"):
        read_bytes(data, "a.odt")


def test_depth_ends_in_an_error() -> None:
    deep = "<text:section>" * 50_000 + "</text:section>" * 50_000
    with pytest.raises(UnreadableFile, match="nested too deeply"):
        read_bytes(opendocument("text", deep), "a.odt")
