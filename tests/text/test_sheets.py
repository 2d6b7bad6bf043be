"""Spreadsheets of all kinds, and those that would end the process."""

import subprocess
import sys

import pytest

from milepost.errors import UnreadableFile
from milepost.text import read_bytes
from milepost.text.readers import sheets
from support.office_writer import opendocument, xlsx
from support.ole_writer import ole, xls

ROW = (
    "<table:table-row{}><table:table-cell{} office:value-type='string'><text:p>{}</text:p>"
    "</table:table-cell></table:table-row>"
)


def ods(rows: str) -> bytes:
    return opendocument("spreadsheet", f"<table:table table:name='Costs'>{rows}</table:table>")


def test_sheets_are_headings_and_rows_have_places() -> None:
    """Numbers are written as people write them; the place says sheet and row."""
    data = xlsx(
        {
            "Costs": [["Item", "Euro"], ["Bolt", 1.5], [], ["Nut", 0.30000000000000004]],
            "Empty": [],
            "People": [["Anna", "Rome"]],
        }
    )
    document = read_bytes(data, "a.xlsx")
    assert document.text == (
        "Costs\nItem | Euro\nItem: Bolt | Euro: 1.5\nItem: Nut | Euro: 0.3\n\nPeople\nAnna | Rome"
    )
    assert document.place(document.text.index("Nut")) == "sheet Costs, row 4"
    assert document.place(document.text.index("Anna")) == "sheet People, row 1"
    assert document.heading(document.text.index("Anna")) == "People"


def test_old_and_open_formats_give_the_same() -> None:
    rows = [["Item", "Euro"], ["Bolt", 1.5]]
    assert read_bytes(xls(rows), "a.xls").text == "Sheet1\nItem | Euro\nItem: Bolt | Euro: 1.5"
    open_rows = ROW.format("", "", "Bolts") + ROW.format("", "", "Nuts")
    document = read_bytes(ods(open_rows), "a.ods")
    assert document.text == "Costs\nBolts\nNuts"
    assert document.place(8) == "sheet Costs, row 1"


def test_a_cell_in_the_last_corner_is_refused() -> None:
    """A file of a kilobyte that asks for 17 billion cells ends its own process, not this one."""
    corner = (
        '<row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    )
    with pytest.raises(UnreadableFile, match="more memory than"):
        read_bytes(xlsx({"S": corner}), "a.xlsx")


def test_repeated_rows_are_reported() -> None:
    document = read_bytes(ods(ROW.format(" table:number-rows-repeated='5000'", "", "x")), "a.ods")
    assert document.text.count("x") == 100
    assert document.notes == ("sheet Costs: 4,900 rows equal to the row above were left out",)


def test_what_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "SECONDS", 0.001)
    with pytest.raises(UnreadableFile, match="not read within"):
        read_bytes(xlsx({"S": [["a"]]}), "a.xlsx")


def test_damage_and_passwords_are_named() -> None:
    whole = xlsx({"S": [["a", "b"]]})
    with pytest.raises(UnreadableFile, match=r"a\.xlsx is damaged"):
        read_bytes(whole.replace(b"xl/workbook.xml", b"xl/workb00k.xml"), "a.xlsx")
    with pytest.raises(UnreadableFile, match="password"):
        read_bytes(ole({"EncryptedPackage": b"x" * 5000}), "a.xlsx")
    with pytest.raises(UnreadableFile, match="old Office format"):
        read_bytes(ole({"WordDocument": b"x" * 5000}), "a.doc")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_args: object, **_options: object) -> subprocess.CompletedProcess[bytes]:
        said = b"ModuleNotFoundError: No module named 'python_calamine'"
        return subprocess.CompletedProcess([], 1, b"", said)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(UnreadableFile, match="pip install python-calamine"):
        read_bytes(xlsx({"S": [["a"]]}), "a.xlsx")


def test_dates_are_written_as_dates() -> None:
    from datetime import date, datetime

    from milepost.text.readers.sheet_cells import written

    assert written(datetime(2026, 3, 1)) == written(date(2026, 3, 1)) == "2026-03-01"
    assert written(datetime(2026, 3, 1, 9, 30)) == "2026-03-01 09:30"
    assert (written(True), written(12.0), written(" a \n b ")) == ("TRUE", "12", "a b")


def test_the_process_that_reads_cells_ends_by_itself() -> None:
    """Its time is limited even where whoever started it was killed, and waits no more."""
    resource = pytest.importorskip("resource", reason="needs limits of processes")
    code = (
        "import resource; from milepost.text.readers.sheet_cells import limit_resources as limit; "
        "limit(); print([resource.getrlimit(getattr(resource, f'RLIMIT_{n}'))[0] for n in "
        "('AS', 'CPU')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    ours = resource.getrlimit(resource.RLIMIT_CPU)[0]
    most = 600 if ours == resource.RLIM_INFINITY else min(600, ours)
    assert done.stdout.strip() == str([4 << 30, most])
