"""Rows of tables as text: names of columns, long rows, places."""

from hypothesis import given
from hypothesis import strategies as st

from milepost.text import read_bytes, split
from milepost.text.readers.builder import TextBuilder
from milepost.text.readers.table import MAX_UNIT, write_rows

CELLS = st.lists(st.text(st.characters(exclude_categories=("C", "Z")), max_size=30), max_size=5)


def lines(*rows: list[str], first: int = 1) -> list[str]:
    text = TextBuilder()
    write_rows([(n, row) for n, row in enumerate(rows, first) if any(row)], text)
    return text.text.split("\n")


def test_cells_have_the_names_of_their_columns() -> None:
    assert lines(["Name", "Price", "Note"], ["Bolt", "1.5", ""], ["Nut", "", "new"]) == [
        "Name | Price | Note",
        "Name: Bolt | Price: 1.5",
        "Name: Nut | Note: new",
    ]


def test_titles_above_a_table_are_passed_over() -> None:
    """Lines of one cell do not name columns; years do, beside words."""
    assert lines(["Population"], [], ["Country", "2019", "2020"], ["Chad", "15.9", "16.4"]) == [
        "Population",
        "Country | 2019 | 2020",
        "Country: Chad | 2019: 15.9 | 2020: 16.4",
    ]


def test_rows_without_names_stay_as_they_are() -> None:
    """A value that comes again, a figure or a sentence is not the name of a column."""
    for first in (["Anna", "Paris"], ["3.5", "7"], ["It rained.", "It snowed."]):
        below = [[*first[:1], "Rome"], ["Bert", "Oslo"]]
        assert lines(first, *below)[0] == " | ".join(first)
        assert lines(first, *below)[2] == "Bert | Oslo"


def test_a_second_table_has_its_own_names() -> None:
    """After an empty row a new header stands above figures; text alone stays under the old one."""
    made = lines(
        ["Name", "Legs"], ["Bee", "6"], ["", ""], ["Cell", "Sides"], ["Comb", "6"], [], ["a", "b"]
    )
    assert made == [
        "Name | Legs", "Name: Bee | Legs: 6", "Cell | Sides", "Cell: Comb | Sides: 6",
        "Cell: a | Sides: b",
    ]  # fmt: skip


def test_long_rows_are_several_units_that_begin_alike() -> None:
    names = [f"column {n}" for n in range(40)]
    row = ["Bolt M8", *[f"value number {n}" for n in range(39)]]
    made = lines(names, row)[1:]
    assert len(made) > 1
    assert all(line.startswith("column 0: Bolt M8 | ") for line in made)
    assert all(len(line) <= MAX_UNIT + 30 for line in made)
    for n in range(39):
        assert sum(f"column {n + 1}: value number {n}" in line.split(" | ") for line in made) == 1


@given(st.lists(CELLS, max_size=8), st.integers(1, 500))
def test_every_cell_is_in_the_row_of_its_place(rows: list[list[str]], first: int) -> None:
    text = TextBuilder()
    write_rows([(n, row) for n, row in enumerate(rows, first) if any(row)], text)
    document = text.document("t", None)
    marks = {int(mark.value): mark.offset for mark in document.marks if mark.kind == "row"}
    ends = dict(zip(marks, [*list(marks.values())[1:], len(document.text)], strict=False))
    for number, row in enumerate(rows, first):
        for cell in row:
            if cell.strip():
                assert cell in document.text[marks[number] : ends[number]]
    assert all(document.place(at) == f"row {number}" for number, at in marks.items())


def test_csv_with_any_delimiter() -> None:
    wanted = "Name | Price\nName: Bolt, M8 long | Price: 1\nName: Nut | Price: 2"
    for mark in (",", ";", "\t", "|"):
        rows = f'Name{mark}Price\n"Bolt, M8\nlong"{mark}1\n\nNut{mark}2\n'
        document = read_bytes(rows.encode(), "a.csv")
        assert document.text == wanted
        assert [m.value for m in document.marks if m.kind == "row"] == ["1", "2", "4"]
    assert (
        read_bytes(b"Name\tPrice\nBolt\t1\n", "a.tsv").text == "Name | Price\nName: Bolt | Price: 1"
    )


def test_csv_that_is_no_table_is_read_by_lines() -> None:
    assert read_bytes(b"one\ntwo\n", "a.csv").blocks == (0, 4)
    broken = b'a,b\n"' + b"x,y\n" * 50_000
    assert read_bytes(broken, "a.csv").text == broken.decode()


def test_a_row_is_a_sentence() -> None:
    document = read_bytes(b"Name,Price\nBolt,1.50\nNut,2\n", "a.csv")
    spans = [document.text[a:b].strip() for a, b in split(document.text, document.blocks)]
    assert spans == ["Name | Price", "Name: Bolt | Price: 1.50", "Name: Nut | Price: 2"]
