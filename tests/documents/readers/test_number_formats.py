"""Numbers of spreadsheets stand in the text as a person sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.documents import read_bytes
from milepost.documents.readers.number_formats import shown
from support.office_writer import opendocument, xlsx


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("0%", 0.19, "19%"),
        ("0.0%", 0.005, "0.5%"),
        ("#,##0", 1234567.0, "1,234,567"),
        ("#,##0.00;(#,##0.00)", -1234.5, "(1,234.50)"),
        ("0.00", -1.005, "-1.01"),  # halves away from zero, of what the program shows
        ("0", -0.2, "0"),
        ('_($* #,##0_);_($* (#,##0);_($* "-"??_);_(@_)', -30.0, "$(30)"),
        ('_($* #,##0_);_($* (#,##0);_($* "-"??_);_(@_)', 0.0, "$-"),
        ("[$€-407]#,##0.00", 12.5, "€12.50"),
        ('#,##0.0,,\\ "m"', 2_450_000.0, "2.5 m"),
        ("[Red]0.0##", 2.5, "2.5"),
        ("000", 7.0, "007"),
        ("#.#", 0.5, ".5"),
        ("0.00E+00", 5.0, None),
        ("# ?/?", 0.5, None),
        ("yyyy-mm-dd", 44000.0, None),
        ("[<1]0.0;0", 0.5, None),
        ("General", 0.5, None),
        ("0", float("inf"), None),
    ],
)
def test_formats(code: str, value: float, text: str | None) -> None:
    assert shown(code, value) == text


@given(st.floats(-1e9, 1e9), st.integers(0, 4))
def test_a_shown_number_is_the_number_rounded(value: float, places: int) -> None:
    text = shown("#,##0" + ("." + "0" * places if places else ""), value)
    assert text is not None
    assert float(text.replace(",", "")) == pytest.approx(value, abs=0.5001 * 10**-places)


STYLES = (
    '<numFmts><numFmt numFmtId="170" formatCode="#,##0.0&quot; km&quot;"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="10"/><xf numFmtId="170"/></cellXfs>'
)


def test_cells_of_a_workbook_have_their_formats() -> None:
    rows = (
        '<row r="2"><c r="C2" s="1"><v>0.1234</v></c><c r="D2" s="2" t="n"><f>A1</f><v>1500</v></c>'
        '<c r="E2" s="1" t="str"><v>0.5</v></c><c r="F2"><v>0.25</v></c></row>'
    )
    document = read_bytes(xlsx({"One": rows}, STYLES), "a.xlsx")
    assert document.text.split("\n")[-1] == "12.34% | 1,500.0 km | 0.5 | 0.25"
    assert [mark.value for mark in document.marks if mark.kind == "row"] == ["2"]


def test_cells_of_an_opendocument_sheet_are_as_they_are_shown() -> None:
    cell = '<table:table-cell office:value-type="{}" office:value="{}" {}>{}</table:table-cell>'
    row = (
        "<table:table-row>"
        + cell.format(
            "percentage", 0.19, 'table:number-columns-repeated="2"', "<text:p>19 %</text:p>"
        )
        + cell.format("float", 1234.5, "", "<text:p>1.234,50</text:p>")
        + cell.format("float", 7, "", "")
        + "</table:table-row>"
    )
    body = f'<table:table table:name="One">{row}</table:table>'
    document = read_bytes(opendocument("spreadsheet", body), "a.ods")
    assert document.text.split("\n")[-1] == "19 % | 19 % | 1.234,50 | 7"
