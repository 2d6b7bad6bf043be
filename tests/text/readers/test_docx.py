"""Word files: packages of other programs, numbers of lists, what is not shown."""

from __future__ import annotations

import pytest

from milepost.text import read_bytes
from support.office_writer import W, relations, word, zipped


def run(words: str, properties: str = "") -> str:
    """Write a run."""
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{words}</w:t></w:r>"


def test_packages_of_other_programs() -> None:
    """The main part has another name; the strict variant has other namespaces."""
    body = f"<w:p>{run('The mill turns.')}</w:p>"
    moved = word(body, part="word/text7.xml")
    strict = word(body, namespace="http://purl.oclc.org/ooxml/wordprocessingml/main")
    for data, name in ((moved, "a.docx"), (strict, "a.docx"), (word(body), "a.dotm")):
        assert read_bytes(data, name).text == "The mill turns."


@pytest.mark.parametrize(
    ("properties", "wanted"),
    [
        ("<w:vanish/>", "Rain. Snow."),
        ("<w:vanish w:val='0'/>", "Rain. Hail. Snow."),
        ("<w:vanish w:val='false'/>", "Rain. Hail. Snow."),
        ("<w:strike/>", "Rain. Snow."),
        ("<w:dstrike w:val='true'/>", "Rain. Snow."),
        ("<w:strike w:val='off'/>", "Rain. Hail. Snow."),
    ],
)
def test_what_is_shown(properties: str, wanted: str) -> None:
    """A property may be set to off; struck-out text is told in a note."""
    document = read_bytes(
        word(f"<w:p>{run('Rain. ')}{run('Hail. ', properties)}{run('Snow.')}</w:p>"), "a.docx"
    )
    assert document.text == wanted
    assert ("struck-out" in "".join(document.notes)) == (
        "strike" in properties and "off" not in properties
    )


def test_symbols_formulas_readings_and_fields() -> None:
    """Characters of symbol fonts, fractions, ruby, check boxes and lists of choices."""
    body = (
        "<w:p><w:r><w:sym w:font='Symbol' w:char='F061'/></w:r>"
        f"{run('-rays: ')}<m:oMath xmlns:m='m'><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den>"
        "<m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
        "<w:r><w:ruby><w:rt><w:r><w:t>reading</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>; base</w:t>"
        "</w:r></w:rubyBase></w:ruby></w:r>"
        f"{run(' ')}<w:r><w:fldChar><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData>"
        "</w:fldChar></w:r></w:p>"
    )
    assert read_bytes(word(body), "a.docx").text == "α-rays: (a+b)/2; base ☒"


def test_initials() -> None:
    """A large first letter is a paragraph in the file, and a part of a word on the page."""
    initial = "<w:pPr><w:framePr w:dropCap='drop' w:lines='3'/></w:pPr>"
    body = f"<w:p>{initial}{run('O')}</w:p><w:p>{run('nce there was a mill.')}</w:p>"
    assert read_bytes(word(body), "a.docx").text == "Once there was a mill."


def test_list_numbers() -> None:
    """Levels are counted by their own formats; another list starts anew."""
    levels = "".join(
        f"<w:lvl w:ilvl='{n}'><w:start w:val='1'/><w:numFmt w:val='{kind}'/>"
        f"<w:lvlText w:val='{text}'/></w:lvl>"
        for n, (kind, text) in enumerate([("decimal", "%1."), ("lowerLetter", "(%2)")])
    )
    numbering = (
        f"<w:numbering xmlns:w='{W}'><w:abstractNum w:abstractNumId='5'>{levels}</w:abstractNum>"
        "<w:num w:numId='1'><w:abstractNumId w:val='5'/></w:num></w:numbering>"
    )
    items = [("Boil", 0), ("slowly", 1), ("gently", 1), ("Pour", 0), ("again", 1)]
    body = "".join(
        f"<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr></w:pPr>"
        f"{run(words)}</w:p>"
        for words, level in items
    )
    data = word(body, more={"numbering": numbering})
    assert read_bytes(data, "a.docx").text == (
        "1. Boil\n(a) slowly\n(b) gently\n2. Pour\n(a) again"
    )


def test_diagrams_and_inserted_files() -> None:
    """The words of a diagram and of a page that the package holds are read."""
    body = (
        f"<w:p>{run('Steps:')}<w:r><w:drawing><a:graphicData xmlns:a="
        "'http://schemas.openxmlformats.org/drawingml/2006/main'><d:relIds xmlns:d='d' "
        "xmlns:r='r' r:dm='rId1'/></a:graphicData></w:drawing></w:r></w:p>"
        "<w:altChunk xmlns:r='r' r:id='rId2'/>"
    )
    parts = {
        "_rels/.rels": relations({"m": ("officeDocument", "word/document.xml")}),
        "word/document.xml": f"<w:document xmlns:w='{W}'><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(
            {"rId1": ("diagramData", "data.xml"), "rId2": ("aFChunk", "page.html")}
        ),
        "word/data.xml": "<d><p><r><t>Wash the filter</t></r></p></d>",
        "word/page.html": "<html><p>An inserted page.</p></html>",
    }
    text = read_bytes(zipped(parts), "a.docx").text
    assert text == "Steps:\nWash the filter\n\nAn inserted page."
