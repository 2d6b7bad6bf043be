"""Superscripts and subscripts in every format: no number becomes another one."""

import pytest

from milepost.text import read_bytes
from milepost.text.readers.scripts import lowered, raised, shown
from support.office_writer import opendocument, word
from support.pdf_writer import PdfPage, write_pdf


@pytest.mark.parametrize(
    ("marked", "wanted"),
    [
        (f"3 x 10{raised('8')} m s{raised('-1')}", "3 x 10^8 m s^-1"),
        (f"1{raised('st')} of 2{raised('n')} and x{raised('n+1')}", "1st of 2^n and x^(n+1)"),
        (f"The end.{raised('4')} A word{raised('5, 6')} more", "The end.[4] A word[5, 6] more"),
        (f"H{lowered('2')}O, 10{lowered('2')}, log{lowered('10')}5", "H2O, 10_2, log_(10)5"),
        (f"2{raised('1')}/{lowered('2')} cups of {raised('14')}C", "2 1/2 cups of ^14C"),
        (f"1{raised('0')}{raised('6')}", "1^06"),
    ],
)
def test_forms(marked: str, wanted: str) -> None:
    assert shown(marked) == wanted


def _pdf() -> bytes:
    page = PdfPage()
    page.operations.append(
        "BT /F1 12 Tf 72 700 Td (It has 10) Tj /F1 7 Tf 5 Ts (9) Tj /F1 12 Tf 0 Ts ( cells.) Tj ET"
    )
    page.text(72, 600, "Another line of plain words.", 12)
    return write_pdf([page])


FILES = {
    "a.html": b"<p>It has 10<sup>9</sup> cells.</p>",
    "b.html": b"<p>It has 10<span style='vertical-align: super'>9</span> cells.</p>",
    "a.rtf": rb"{\rtf1 It has 10{\super 9} cells.}",
    "a.docx": word(
        "<w:p><w:r><w:t>It has 10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr>"
        "<w:t>9</w:t></w:r><w:r><w:t xml:space='preserve'> cells.</w:t></w:r></w:p>"
    ),
    "a.odt": opendocument(
        "text",
        "<text:p>It has 10<text:span text:style-name='T1'>9</text:span> cells.</text:p>",
        "<style:style style:name='T1'><style:text-properties style:text-position='super 58%'/>"
        "</style:style>",
    ),
    "a.pdf": _pdf(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format(name: str) -> None:
    """10 to the power of 9 is not 109."""
    assert "It has 10^9 cells." in read_bytes(FILES[name], name).text
