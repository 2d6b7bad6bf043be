"""Numbers of spreadsheets stand in the text as a person sees them."""

import io
import struct
import zipfile
from contextlib import suppress
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.documents import read_bytes
from milepost.documents.readers.number_formats import shown
from milepost.errors import UnreadableFile
from support.office_writer import opendocument, relations, xlsx, zipped
from support.ole_writer import ole


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("0%", 0.19, "19%"),
        ("#,##0", 1234567.0, "1,234,567"),
        ("#,##0.00;(#,##0.00)", -1234.5, "(1,234.50)"),
        ("0.00", -1.005, "-1.01"),  # halves away from zero, of what the program shows
        ("0", -0.2, "0"),
        ('_($* #,##0_);_($* (#,##0);_($* "-"??_);_(@_)', -30.0, "$(30)"),
        ('_($* #,##0_);_($* (#,##0);_($* "-"??_);_(@_)', 0.0, "$-"),
        ("[$€-407]#,##0.00", 12.5, "€12.50"),
        ('#,##0.0,,\\ "m"', 2_450_000.0, "2.5 m"),
        ("#.#", 0.5, ".5"),
        ("0.00E+00", 9.999, "1.00E+01"),
        ("0.0E-0", 0.00012, "1.2E-4"),
        ("##0.0E+0", 12345.0, "12.3E+3"),
        ("# ?/?", 0.96, "1"),
        ("# ??/??", 3.14159, "3 14/99"),
        ("?/8", 1.25, "10/8"),
        ('"Yes";"Yes";"No"', 0.0, "No"),
        ('0.0"%"', 12.5, "12.5%"),  # a sign as text does not multiply
        (r'0%"%"\%', 0.125, "13%%%"),
        (";;;@", 5.0, ""),
        ("[<1]0.0;0", 0.5, "0.5"),
        ('[>=1000]0.0,"k";0', -1500.0, "-1500"),
        ("[<=9999999]###-####;(###) ###-####", 2065551234.0, "(206) 555-1234"),
        ("000-00-0000", 12345678.0, "012-34-5678"),
        ('[Red][<0]General;General" kg"', 2.5, "2.5 kg"),
        ("yyyy-mm-dd", 44000.0, None),
        ("General", 0.5, None),
        ('General" kg"', 4111111111111110.0, "4111111111111110 kg"),
        ("0", float("inf"), None),
    ],
)
def test_formats(code: str, value: float, text: str | None) -> None:
    assert shown(code, value) == text


@given(st.floats(-1e9, 1e9), st.integers(0, 4))
def test_a_shown_number_is_the_number_rounded(value: float, places: int) -> None:
    text = shown("#,##0" + ("." + "0" * places if places else ""), value)
    assert text is not None
    stored = float(f"{value:.15g}")  # a spreadsheet has 15 digits, and rounds these
    assert float(text.replace(",", "")) == pytest.approx(stored, abs=0.501 * 10**-places)


STYLES = (
    '<numFmts><numFmt numFmtId="170" formatCode="#,##0.0&quot; km&quot;"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="10"/><xf numFmtId="170"/></cellXfs>'
)


ROWS = {
    '<row r="2"><c r="C2" s="1"><v>0.1234</v></c><c r="D2" s="2" t="n"><f>A1</f><v>1500</v></c>'
    '<c r="E2" s="1" t="str"><v>0.5</v></c><c r="F2"><v>0.25</v></c></row>': {
        "2": "12.34% | 1,500.0 km | 0.5 | 0.25"
    },
    # Cells without a place follow one another.
    '<row><c s="1"/><c s="1"><v>0.5</v></c><c><v>0.00001</v></c></row><row/>'
    '<row r="7"><c r="B7" s="1"><v>0.25</v></c><c s="1"><v>0.75</v></c></row>': {
        "1": "50.00% | 0.00001",
        "7": "25.00% | 75.00%",
    },
    # Rows of errors alone are rows.
    '<row r="1"><c r="A1"><v>7</v></c></row><row r="3"><c r="A3" t="e"><v>#REF!</v></c></row>'
    '<row r="4"><c r="A4"><v>8</v></c></row>': {"1": "7", "3": "#REF!", "4": "8"},
}


@pytest.mark.parametrize(("rows", "wanted"), ROWS.items())
def test_cells_of_a_workbook_have_their_formats(rows: str, wanted: dict[str, str]) -> None:
    document = read_bytes(xlsx({"One": rows}, STYLES), "a.xlsx")
    assert document.text.split("\n") == ["One", *wanted.values()]
    assert [mark.value for mark in document.marks if mark.kind == "row"] == list(wanted)


def test_a_workbook_in_utf_16() -> None:
    """As Excel for phones wrote it."""
    parts = zipfile.ZipFile(io.BytesIO(xlsx({"One": [["Straße", 0.5]]})))
    wide = {
        name: f'<?xml version="1.0" encoding="UTF-16"?>{parts.read(name).decode()}'.encode("utf-16")
        for name in parts.namelist()
    }
    assert read_bytes(zipped(wide), "a.xlsx").text == "One\nStraße | 0.5"


def test_times_and_long_numbers_are_as_a_sheet_shows_them() -> None:
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="46"/></cellXfs>'
    rows = (
        '<row r="1"><c r="A1" s="1"><v>44000.43064814815</v></c><c r="B1" s="2"><v>1.5625</v></c>'
        '<c r="C1"><v>1.0471975511965976</v></c><c r="D1"><v>4111111111111110</v></c></row>'
    )
    document = read_bytes(xlsx({"One": rows}, styles), "a.xlsx")
    assert (
        document.text.split("\n")[-1]
        == "2020-06-18 10:20:08 | 37:30 | 1.047197551 | 4111111111111110"
    )
    cell = "office:value-type='float' office:value='4111111111111110'"
    body = f"<table:table-row><table:table-cell {cell}><text:p>4,11111111111111E+15</text:p>"
    body = f"<table:table>{body}</table:table-cell></table:table-row></table:table>"
    assert read_bytes(opendocument("spreadsheet", body), "a.ods").text == "4111111111111110"


@pytest.mark.parametrize(
    ("code", "cell", "text", "count"),
    [
        ('@" kg"', "<c r='A1' s='1' t='str'><v>5</v></c>", "5 kg", 0),
        (";;;", "<c r='A1' s='1' t='str'><v>secret</v></c>", "", 1),
        ("0;-0;;@", "<c r='A1' s='1'><v>0</v></c>", "", 0),  # a nought hides nothing
        ("mm:ss.00", "<c r='A1' s='1'><v>0.000965856481</v></c>", "00:01:23.45", 0),
        ("[s].0", "<c r='A1' s='1'><v>0.000965740741</v></c>", "0:01:23.4", 0),
        ("d/m/yy h:mm:ss.000", "<c r='A1' s='1'><v>44000.5</v></c>", "2020-06-18 12:00:00.000", 0),
    ],
)
def test_texts_and_seconds_have_their_formats(code: str, cell: str, text: str, count: int) -> None:
    styles = f"<numFmts><numFmt numFmtId='170' formatCode={quoteattr(code)}/></numFmts>"
    styles += "<cellXfs><xf numFmtId='0'/><xf numFmtId='170'/></cellXfs>"
    row = f"<row r='1'>{cell}<c r='B1' t='str'><v>end</v></c></row>"
    document = read_bytes(xlsx({"One": row}, styles), "a.xlsx")
    assert document.text.split("\n")[-1] == (f"{text} | end" if text else "end")
    assert document.notes == ("hidden text in 1 place was left out",) * count


def _record(kind: int, body: bytes) -> bytes:
    return struct.pack("<2H", kind, len(body)) + body


def test_sheets_of_an_old_workbook() -> None:
    """Numbers, letters of several looks, errors, a formula's text, merged cells, text boxes."""
    name, code, text = b"One", b'0.0" km"', b"In the box"
    styles = [
        struct.pack("<2H16x", font, each) for font, each in ((0, 0), (0, 10), (0, 170), (5, 0))
    ]
    fonts = [struct.pack("<5H", 0, 8 * (n == 4), 0, 0, n == 3) for n in range(5)]
    strings = struct.pack("<2I", 2, 2) + struct.pack("<HBI", 2, 4, 1) + b"m2?"
    strings += struct.pack("<HBH", 3, 8, 1) + b"km"  # the third letter is in the next record
    listed_last = b"\1" + "2".encode("utf-16-le") + struct.pack("<2H", 2, 3)
    number_format = struct.pack("<2HB", 170, len(code), 0) + code
    box = struct.pack("<2H", 0x15, 18) + struct.pack("<H16x", 6)
    comment = struct.pack("<2H", 0x15, 18) + struct.pack("<H16x", 0x19)
    waiting = struct.pack("<5H4H", 0, 0, 0, 0, 0, len(text), 0, 0, 0)
    sheet = (
        _record(0x809, struct.pack("<2H12x", 0x600, 0x10))
        + _record(0x203, struct.pack("<3Hd", 0, 0, 1, 0.125))
        + _record(0x27E, struct.pack("<3HI", 0, 1, 2, 1500 << 2 | 2))
        + _record(0x205, struct.pack("<3H2B", 0, 2, 0, 0x07, 1))
        + _record(0xFD, struct.pack("<3HI", 0, 3, 0, 1))
        + _record(0xFD, struct.pack("<3HI", 0, 4, 3, 0))
        + _record(0x06, struct.pack("<3H6xH", 1, 1, 0, 0xFFFF))
        + _record(0x207, struct.pack("<HB", 4, 0) + b"said")
        + _record(0xE5, struct.pack("<5H", 1, 0, 1, 0, 0))
        + _record(0x5D, box) + _record(0x1B6, waiting) + _record(0x3C, b"\0" + text)
        + _record(0x5D, comment) + _record(0x1B6, waiting) + _record(0x3C, b"\0" + text.upper())
        + _record(0x0A, b"")
    )  # fmt: skip
    before = (
        _record(0x809, struct.pack("<2H12x", 0x600, 5))
        + b"".join(_record(0x31, each) for each in fonts)
        + _record(0x41E, number_format)
        + b"".join(_record(0xE0, each) for each in styles)
    )
    before += _record(0xFC, strings) + _record(0x3C, listed_last)
    start = len(before) + 4 + 8 + len(name) + 4
    listed = _record(0x85, struct.pack("<I4B", start, 0, 0, len(name), 0) + name)
    data = ole({"Workbook": before + listed + _record(0x0A, b"") + sheet})
    document = read_bytes(data, "a.xls")
    rows = "12.50% | 1500.0 km | #DIV/0! | km^2\n12.50% | said"
    assert document.text == f"One\n{rows}\n\nIn the box"
    assert document.notes == ("struck-out text in 1 place was left out",)


def _binary(workbook: bytes, styles: bytes, strings: bytes, sheet: bytes) -> bytes:
    parts = {"workbook": workbook, "styles": styles, "sharedStrings": strings, "worksheet": sheet}
    targets = {kind: (kind, f"{kind}.bin") for kind in parts}
    return zipped(
        {
            "_rels/.rels": relations({"r": ("officeDocument", "xl/workbook.bin")}),
            "xl/_rels/workbook.bin.rels": relations(targets),
            **{f"xl/{kind}.bin": part for kind, part in parts.items()},
        }
    )


def _short(kind: int, body: bytes) -> bytes:
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return head + bytes([len(body)]) + body


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


WORKBOOK = _short(156, struct.pack("<2I", 0, 1) + _wide("worksheet") + _wide("One"))


def test_sheets_of_a_binary_workbook() -> None:
    styles = (
        _short(44, struct.pack("<H", 170) + _wide("000-000"))
        + _short(43, struct.pack("<4H", 0, 0, 0, 0))
        + _short(43, struct.pack("<4H", 0, 8, 0, 2))
        + _short(617, struct.pack("<I", 2))
        + b"".join(_short(47, struct.pack("<2H12x", 0, each)) for each in (10, 170))
        + _short(618, b"")
    )
    sheet = (
        _short(0, struct.pack("<I20x", 4))
        + _short(5, struct.pack("<2Id", 0, 0, 0.125))
        + _short(2, struct.pack("<3I", 1, 1, 123456 << 2 | 2))
        + _short(3, struct.pack("<2IB", 2, 0, 0x2A))
        + _short(7, struct.pack("<3I", 3, 0, 1))
    )
    plain = _short(19, b"\0" + _wide("Sum"))
    strings = plain + _short(19, b"\1" + _wide("a new") + struct.pack("<I4H", 2, 2, 1, 4, 0))
    document = read_bytes(_binary(WORKBOOK, styles, strings, sheet), "a.xlsb")
    assert document.text == "One\n12.50% | 123-456 | #N/A | a w"
    assert [mark.value for mark in document.marks if mark.kind == "row"] == ["5"]


@given(st.binary(max_size=200))
def test_damaged_records_are_read_as_far_as_they_go(data: bytes) -> None:
    assert read_bytes(_binary(WORKBOOK, data, data, data), "a.xlsb").hash
    with suppress(UnreadableFile):
        read_bytes(ole({"Workbook": data}), "a.xls")
