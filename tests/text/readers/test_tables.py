"""Tables whose cells are empty or merged: each value stands under its own heading."""

import pytest

from milepost.text import read_bytes
from milepost.text.readers.builder import TextBuilder
from milepost.text.readers.grid import Grid
from support.office_writer import opendocument, word


def test_grid() -> None:
    grid, text = Grid(), TextBuilder()
    grid.add([("Who", 1, 1), ("", 1, 1), ("May", 2, 1)])
    grid.add([("Ann", 1, 2), ("", 1, 1), ("1", 1, 1), ("2", 1, 1)])
    grid.add([("", 1, 1), ("", 1, 1), ("3", 1, 1)])
    grid.add([("Sum", 1, 1), ("", 1, 1), ("", 1, 1), ("5", 1, 1)])
    grid.write(text)
    assert text.text == "Who | May\nAnn | 1 | 2\nAnn | | 3\nSum | | 5"


def _cell(words: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:tc>"


def _odf(words: str, span: str = "") -> str:
    return f"<table:table-cell {span}><text:p>{words}</text:p></table:table-cell>"


RESTART = '<w:vMerge w:val="restart"/>'
TWO_ROWS = 'table:number-rows-spanned="2"'
DOCX = (
    f"<w:tbl><w:tr>{_cell('Land')}{_cell('Town')}{_cell('2024')}</w:tr>"
    f"<w:tr>{_cell('East', RESTART)}{_cell('Elm')}{_cell('')}</w:tr>"
    f"<w:tr>{_cell('', '<w:vMerge/>')}{_cell('')}{_cell('9')}</w:tr></w:tbl>"
)
ODT = (
    f"<table:table><table:table-row>{_odf('Land')}{_odf('Town')}{_odf('2024')}</table:table-row>"
    f"<table:table-row>{_odf('East', TWO_ROWS)}{_odf('Elm')}{_odf('')}"
    "</table:table-row><table:table-row><table:covered-table-cell/>"
    f"{_odf('')}{_odf('9')}</table:table-row></table:table>"
)
HTML = "<table><tr><th>Land<th>Town<th>2024<tr><td rowspan=2>East<td>Elm<td><tr><td><td>9</table>"
RTF = (
    r"{\rtf1\trowd\cellx1000\cellx2000\cellx3000\intbl Land\cell Town\cell 2024\cell\row"
    r"\trowd\clvmgf\cellx1000\cellx2000\cellx3000\intbl {East\par}\cell Elm\cell\cell\row"
    r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\intbl\cell\cell 9\cell\row\pard\par}"
)
FILES = {
    "a.docx": word(DOCX),
    "a.odt": opendocument("text", ODT),
    "a.html": HTML.encode(),
    "a.rtf": RTF.encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format(name: str) -> None:
    """A cell over two rows is repeated, an empty one leaves its place."""
    assert read_bytes(FILES[name], name).text == "Land | Town | 2024\nEast | Elm\nEast | | 9"


def test_sheets_without_headings() -> None:
    assert read_bytes(b"1,,3\n4,5,6\n7,8,9\n", "a.csv").text == "1 | | 3\n4 | 5 | 6\n7 | 8 | 9"
