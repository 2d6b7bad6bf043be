"""Tables of every format: grids, sheets, rows with the names of their columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.documents import read_bytes, split
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.column_names import COVERED
from milepost.documents.readers.table import MAX_UNIT, write_rows
from milepost.errors import UnreadableFile
from milepost.table_rows import tables
from support.office_writer import opendocument, word, xlsx
from support.ole_writer import xls


def _cell(words: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:tc>"


def _odf(words: str, span: str = "") -> str:
    return f"<table:table-cell {span}><text:p>{words}</text:p></table:table-cell>"


RESTART, CONTINUES = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
TWO_ROWS = 'table:number-rows-spanned="2"'
DOCX = (
    f"<w:tbl><w:tr>{_cell('Land')}{_cell('Town')}{_cell('2024')}</w:tr>"
    f"<w:tr>{_cell('East', RESTART)}{_cell('Elm')}{_cell('', CONTINUES)}</w:tr>"
    f"<w:tr>{_cell('', CONTINUES)}{_cell('')}{_cell('9', CONTINUES)}</w:tr></w:tbl>"
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
    r"\trowd\clvmgf\cellx1000\cellx2000\clvmrg\cellx3000\intbl {East\par}\cell Elm\cell\cell\row"
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
    """A cell over two rows is repeated; an empty one, or one that continues none, has no text."""
    assert read_bytes(FILES[name], name).text == "Land | Town | 2024\nEast | Elm\nEast | | 9"


@pytest.mark.parametrize(
    "data", [b"1,,3\n4,5,6\n7,8,9\n", b"sep=;\n1;;3\n4;5;6\n7;8;9", b'1, ,3\n4, "5",6\n7, 8,9']
)
def test_sheets_without_headings(data: bytes) -> None:
    assert read_bytes(data, "a.csv").text == "1 | | 3\n4 | 5 | 6\n7 | 8 | 9"


ROW = (
    "<table:table-row{}><table:table-cell{} office:value-type='string'><text:p>{}</text:p>"
    "</table:table-cell></table:table-row>"
)


def ods(rows: str) -> bytes:
    return opendocument("spreadsheet", f"<table:table table:name='Costs'>{rows}</table:table>")


def test_sheets_are_headings_and_rows_have_places() -> None:
    costs = [["Item", "Euro"], ["Bolt", 1.5], [], ["Nut", 0.30000000000000004]]
    sheets = {"Costs": costs, "Empty": [], "People": [["Anna", "Rome"]]}
    document = read_bytes(xlsx(sheets), "a.xlsx")
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


def test_cells_far_apart_ask_for_no_memory() -> None:
    """A file of a kilobyte may have cells in the first and in the last of 17 billion places."""
    corner = (
        '<row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    )
    document = read_bytes(xlsx({"S": corner}), "a.xlsx")
    assert [mark.value for mark in document.marks if mark.kind == "row"] == ["1", "1048576"]
    far = "".join(f'<row r="{n}"><c r="XFD{n}"><v>{n}</v></c></row>' for n in range(2, 1100))
    with pytest.raises(UnreadableFile, match="more memory than"):
        read_bytes(xlsx({"S": corner + far}), "a.xlsx")


def test_repeated_rows_are_reported() -> None:
    document = read_bytes(ods(ROW.format(" table:number-rows-repeated='5000'", "", "x")), "a.ods")
    assert document.text.count("x") == 100
    assert document.notes == ("sheet Costs: 4,900 rows equal to the row above left out",)


def test_dates_are_written_as_dates() -> None:
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="31"/></cellXfs>'
    cells = (("1", 44000, "n"), ("1", 44000.5, "n"), ("1", 59, "n"), ("2", 61, "n"), ("0", 1, "b"))
    row = "".join(f'<c s="{style}" t="{kind}"><v>{value}</v></c>' for style, value, kind in cells)
    document = read_bytes(xlsx({"S": f"<row>{row}</row>"}, styles), "a.xlsx")
    assert document.text == "S\n2020-06-18 | 2020-06-18 12:00 | 1900-02-28 | 1900-03-01 | TRUE"


CELLS = st.lists(st.text(st.characters(exclude_categories=("C", "Z")), max_size=30), max_size=5)


def lines(*rows: list[str], first: int = 1) -> list[str]:
    text = TextBuilder()
    write_rows([(n, row) for n, row in enumerate(rows, first) if any(row)], text)
    return text.text.split("\n")


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (
            [["Name", "Price", "Note"], ["Bolt", "1.5", ""], ["Nut", "", "new"]],
            ["Name | Price | Note", "Name: Bolt | Price: 1.5", "Name: Nut | Note: new"],
        ),
        # Lines of one cell do not name columns; years do, beside words, also those of several.
        (
            [["Population"], [], ["Country", "2019", "2020"], ["Chad", "15.9", "16.4"]],
            ["Population", "Country | 2019 | 2020", "Country: Chad | 2019: 15.9 | 2020: 16.4"],
        ),
        (
            [["Hall", "", "2019", ""], ["", "No", "May", "June"], ["A", "3", "5", "7"]],
            ["Hall | | 2019", "| No | May | June", "Hall: A | No: 3 | 2019 May: 5 | 2019 June: 7"],
        ),
        # Empty rows may lie below a title, among the names and above the figures.
        (
            [["Table 1. Use"], [], ["Notes"], [], ["Hall", "Q1 2019", "", "Q2"], [],
             ["", "May", "June", "May"], ["Unit", "(kg)", "(kg)", "(1,000)"], [], ["In all:"], [],
             ["A", "5", "(X)", "7"], ["B", "1", "2", "3"]],
            ["Table 1. Use", "Notes", "Hall | Q1 2019 | | Q2", "| May | June | May",
             "Unit | (kg) | (kg) | (1,000)", "Hall Unit: In all:",
             "Hall Unit: A | Q1 2019 May (kg): 5 | Q1 2019 June (kg): (X) | Q2 May (1,000): 7",
             "Hall Unit: B | Q1 2019 May (kg): 1 | Q1 2019 June (kg): 2 | Q2 May (1,000): 3"],
        ),
        # After an empty row a header stands above figures; words alone may be another table.
        (
            [["Name", "Legs"], ["Bee", "6"], [], ["Cell", "Sides"], ["Comb", "6"], [], ["a", "b"]],
            [*("Name | Legs", "Name: Bee | Legs: 6"),
             *("Cell | Sides", "Cell: Comb | Sides: 6", "a | b")],
        ),
        # Where names stand again, a table begins; but names of words alone may recur as cells.
        (
            [["2023"], ["Mio.", "Ships", "Trains"], ["Dues", "192", "7"], ["Rent", "3", "9"],
             ["2022"], ["Mio.", "Ships", "Trains"], ["Dues", "216", "8"]],
            [*("2023", "Mio. | Ships | Trains", "Mio.: Dues | Ships: 192 | Trains: 7"),
             *("Mio.: Rent | Ships: 3 | Trains: 9", "2022", "Mio. | Ships | Trains"),
             "Mio.: Dues | Ships: 216 | Trains: 8"],
        ),
        (
            [["A", "yes", "no"], ["B", "no", "yes"], ["C", "yes", "no"], ["D", "no", "no"]],
            ["A | yes | no", "B | no | yes", "C | yes | no", "D | no | no"],
        ),
        (
            [["City", "PM10", "SO2", "n", "n"], ["Rome", "20", "5", "1", "2"]],
            ["City | PM10 | SO2 | n | n", "City: Rome | PM10: 20 | SO2: 5 | n: 1 | n: 2"],
        ),
        # A label in four may be a figure, above columns of figures.
        (
            [["Name", "Mark", "Share", "18 - 49"], ["Wax", "9.9", "15", "6.0"]],
            ["Name | Mark | Share | 18 - 49", "Name: Wax | Mark: 9.9 | Share: 15 | 18 - 49: 6.0"],
        ),
    ],
)  # fmt: skip
def test_cells_have_the_names_of_their_columns(rows: list[list[str]], wanted: list[str]) -> None:
    assert lines(*rows) == wanted


def test_rows_without_names_stay_as_they_are() -> None:
    """A value that comes again, a figure or a sentence is not the name of a column."""
    amounts = [["Revenues", "28,495,992.92", "Sources", "Totals"], ["Bees", "7", "8", "9"]]
    assert lines(*amounts)[1] == "Bees | 7 | 8 | 9"
    words = [["Anna", "Paris", "baker", "34"], ["Bert", "Oslo", "smith", "41"]]
    assert lines(*words)[1] == "Bert | Oslo | smith | 41"
    for first in (["Anna", "Paris"], ["3.5", "7"], ["It rained.", "It snowed."]):
        below = [[*first[:1], "Rome"], ["Bert", "Oslo"]]
        assert lines(first, *below)[0] == " | ".join(first)
        assert lines(first, *below)[2] == "Bert | Oslo"
    assert lines(["Name:", "Anna"], ["Town:", "Oslo"])[1] == "Town: | Oslo"


def test_long_rows_are_several_units_that_begin_alike() -> None:
    names = [f"column {n}" for n in range(40)]
    row = ["Bolt M8", *[f"value number {n}" for n in range(39)]]
    made = lines(names, row)[1:]
    assert len(made) > 1
    assert all(line.startswith("column 0: Bolt M8 | ") for line in made)
    assert all(len(line) <= MAX_UNIT + 30 for line in made)
    for n in range(39):
        assert sum(f"column {n + 1}: value number {n}" in line.split(" | ") for line in made) == 1


def test_rows_of_figures_are_shorter_units() -> None:
    figures = [f"{n},682.16" for n in range(30)]
    made = lines(["Item", *[f"M{n}" for n in range(30)]], ["Profit", *figures])[1:]
    assert len(made) > 2
    assert all(line.startswith("Item: Profit | ") for line in made)


def test_later_units_of_a_row_say_which_row_it_is() -> None:
    names = ["Land", "Bill", *[f"column {n}" for n in range(40)]]
    bills = ["Act", "Ban", "Tax"]
    made = lines(names, *(["Chad", bill, *["a value of it"] * 40] for bill in bills))[1:]
    assert len(made) > 2 * len(bills)
    for bill in bills:
        assert sum(line.startswith(f"Land: Chad | Bill: {bill} | ") for line in made) > 2


def test_a_long_name_takes_no_part_of_a_row_from_its_subject() -> None:
    names = [f"Answers of {'many ' * 8}people", "", *[f"column {n}" for n in range(40)]]
    rows = [
        [f"Which one matters {'most ' * 5}?", answer, *["5"] * 40] for answer in ("Jobs", "Tax")
    ]
    made = lines(names, *rows)[1:]
    assert len(made) == 4
    assert all(line.startswith(f"{names[0]}: {rows[0][0]} | ") for line in made)
    assert {line.split(" | ")[1] for line in made} == {"Jobs", "Tax"}


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


PEOPLE = "Name | City\nName: Ann | City: Rome\nName: Bo | City: Oslo"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("# Made, in May\n#\nName,City\nAnn,Rome\nBo,Oslo", f"# Made, in May\n#\n{PEOPLE}"),
        ("Name,City\r\r\nAnn,Rome\r\r\nBo,Oslo", PEOPLE),
        ("Name\tCity\nAnn\tRome, IT\nBo\tOslo, NO", PEOPLE.replace("Rome", "Rome, IT") + ", NO"),
        ('Name,City\nAnn,"\\"Rome\\", IT"\nBo,Oslo', PEOPLE.replace("Rome", '"Rome", IT')),
        ('Name,City\nAnn,"Rome\nBo,Oslo', PEOPLE),
        ('"Notes"\n"First, he\nslept."', "Notes\nFirst, he slept."),
        ("one\ntwo\n", "one\ntwo\n"),
        (f"a,b\n{'x' * 200_000},y\n", f"a,b\n{'x' * 200_000},y\n"),
    ],
)
def test_csv_as_programs_write_it(data: str, wanted: str) -> None:
    assert read_bytes(data.encode(), "a.csv").text == wanted


def test_tables_in_text_files() -> None:
    """Columns of words, indented lines and lines of other lengths are no table."""
    rows = "Name\tAge\nAnn\t5\nBo\t6\n"
    for data in (rows.encode(), rows.encode("utf-16")):
        assert read_bytes(data, "a").text == "Name | Age\nName: Ann | Age: 5\nName: Bo | Age: 6"
    for text in ("bee\tBiene\nwax\tWachs\nrye\tRoggen", "\tx 1\n\ty 2\n\tz 3", f"{rows}Cy\t\t7"):
        assert read_bytes(text.encode(), "a.txt").text == text


def test_a_row_is_a_sentence() -> None:
    document = read_bytes(b"Name,Price\nBolt,1.50\nNut,2\n", "a.csv")
    spans = [document.text[a:b].strip() for a, b in split(document.text, document.blocks)]
    assert spans == ["Name | Price", "Name: Bolt | Price: 1.50", "Name: Nut | Price: 2"]


def test_the_title_of_a_table_is_no_name_of_a_column() -> None:
    rows = ["Updates", ""], ["File", "In use?"], ["a.sas", "Not any more"], ["b.sas", "Yes"]
    body = "".join(
        f"<w:tr>{''.join(_cell(cell) for cell in row)}</w:tr>" for row in map(list, rows)
    )
    html = "".join(f"<tr>{''.join(f'<td>{cell}' for cell in row)}" for row in rows)
    page = f"<table>{html}</table>"
    figure = page.replace("<tr><td>Updates<td>", "") + "<figcaption>Updates"
    word_file = word(f"<w:tbl>{body}</w:tbl>")
    for data in (word_file, page.encode(), f"<figure>{figure}".encode()):
        document = read_bytes(data, "a.html")
        end = document.text.index("Yes") + 3
        table = next(tables(document.marks)).rows(document.text, 0, [(end - 3, end)], (0, end))
        assert (table.caption, table.columns) == ("Updates", ("File", "In use?"))


def test_words_over_all_columns_but_the_first_are_the_caption() -> None:
    words = "Capture of carbon from the exhaust of a large boiler that burns straw"
    cells = ["Technology", words, COVERED, COVERED], ["", "2020", "2030", "Note"]
    text = TextBuilder()
    write_rows([*enumerate([*cells, ["Capacity", "32", "34", "A"]], 1)], text)
    assert text.text.split("\n")[-1] == "Technology: Capacity | 2020: 32 | 2030: 34 | Note: A"
    marks = text.document("a", None, ()).marks
    assert [mark.value for mark in marks if mark.kind == "caption"] == [words]


RULE, DRAWN = "+---+---+\n", "| A | B |\n+===+===+\n| 1 | 2 |\n|   | m |\n{0}| 3 | 4 |\n{0}"
DRAWN = f"Table: C\n\n{RULE}{DRAWN.format(RULE)}"
HEAD, ROWS = "<thead><tr><th>{}<th>{}</thead>", "<tbody><tr><td>1<td>2<tr><td>3<td>4</tbody>"
TOP = HEAD.format("A", "B")


def test_tables_with_parts_in_other_places() -> None:
    """Names and captions below rows, a table in a cell, tables that are drawn."""
    late = f"{TOP}{ROWS}<caption>C</caption>"
    again = f"{HEAD.format('X', 'Y')}{ROWS}<tr><th colspan=2>C{TOP}{ROWS}"
    nested = f"{TOP}<caption>C</caption>{ROWS}<tr><td>x<td><table>{ROWS}"
    pages = [("a.html", f"<table>{page}") for page in (late, again, nested)]
    for name, data in [("a.md", DRAWN), ("a.rst", DRAWN), *pages]:
        document = read_bytes(data.encode(), name)
        at, end = document.text.rindex("3"), len(document.text)
        *_, last = tables(document.marks)
        table = last.rows(document.text, 0, [(at, at + 1)], (0, end))
        assert (table.caption, table.columns) == ("Table: C" if data == DRAWN else "C", ("A", "B"))
        assert table.rows[-1].cells == (("x", "1 2 3 4") if data.endswith(nested) else ("3", "4"))


def test_the_same_names_again_begin_a_table_of_another_year() -> None:
    years = "2023", "2022"
    rows = "".join(
        f"<tr><td><td colspan=2>{year}<tr><td>Mio.<td>Ships<td>Trains"
        "<tr><td>Dues<td>192<td>7<tr><td>Rent<td>3<td>9"
        for year in years
    )
    found = tables(read_bytes(f"<table>{rows}".encode(), "a.html").marks)
    columns = [("Mio.", f"{year} Ships", f"{year} Trains") for year in years]
    assert [table.columns for table in found] == columns


def test_tables_in_html_inside_markdown() -> None:
    """They are written as rows, but for one with Markdown inside."""
    page = f"# One\n\n<div><table>\n{TOP}\n\n{ROWS}</table></div>\n\n## Two\n"
    document = read_bytes(page.encode(), "a.md")
    assert document.text == "# One\n\n<div>\nA | B\n1 | 2\n3 | 4\n</div>\n\n## Two\n"
    found = [(mark.kind, document.text[mark.offset]) for mark in document.marks]
    assert found == [("heading", "O"), ("table", "A"), ("columns", "A"), ("heading", "T")]
    page = page.replace("<td>1", "<td>\n\n```sh\nls\n```\n")
    assert read_bytes(page.encode(), "a.md").text == page


NAMES = (("", 1), ("Plan", 2), ("", 1)), (("Town", 1), ("May", 1), ("June", 1), ("Staff", 1))
FIGURES = tuple(((town, 1), ("1", 1), ("2", 1), ("30", 1)) for town in ("Elm", "Oak"))


def _covering(cell: str, row: str, covered: str = "") -> str:
    """Rows, by what a format writes for a cell over some columns, and for a row."""
    return "".join(
        row.format("".join(cell.format(words, n) + covered * (n - 1) for words, n in cells))
        for cells in (*NAMES, *FIGURES)
    )


ODF = _covering(
    _odf("{0}", "table:number-columns-spanned='{1}'"),
    "<table:table-row>{}</table:table-row>",
    "<table:covered-table-cell/>",
)
GRID = _covering(_cell("{0}", "<w:gridSpan w:val='{1}'/>"), "<w:tr>{}</w:tr>")
SHEET = _covering("<c t='inlineStr'><is><t>{0}</t></is></c>", "<row>{}</row>", "<c/>")
MERGED = "</sheetData><mergeCells><mergeCell ref='B1:C1'/></mergeCells><sheetData>"
COVERING = {
    "a.docx": word(f"<w:tbl>{GRID}</w:tbl>"),
    "a.html": f"<table>{_covering('<td colspan={1}>{0}', '<tr>{}')}</table>".encode(),
    "a.odt": opendocument("text", f"<table:table>{ODF}</table:table>"),
    "a.ods": opendocument("spreadsheet", f"<table:table>{ODF}</table:table>"),
    "a.xlsx": xlsx({"S": SHEET + MERGED}),
}


@pytest.mark.parametrize("name", COVERING)
def test_a_name_belongs_to_the_columns_that_its_cell_covers(name: str) -> None:
    document = read_bytes(COVERING[name], name)
    assert next(tables(document.marks)).columns == ("Town", "Plan May", "Plan June", "Staff")


@pytest.mark.parametrize(
    ("rows", "names", "last"),
    [
        (
            "<tr><td><td colspan=3>2024<td colspan=2>2023"
            "<tr><td>Sales<td>$<td>1,234<td><td>$<td>987<tr><td>Cost<td><td>(56<td>)<td><td>7",
            ("", "2024", "2023"),
            "Cost | (56) | 7",
        ),
        (
            "<tr><th rowspan=2>Region<th colspan=2>2020<tr><td>Sales<td>Cost"
            "<tr><td>North<td>1<td>2",
            ("Region", "2020 Sales", "2020 Cost"),
            "North | 1 | 2",
        ),
        (  # from a report of Oracle to the SEC
            "<tr><td>Nominee<td colspan=2>Votes For<tr><td>Awo<td><td>9,1<tr><td>Leon<td><td>8,2",
            ("Nominee", "Votes For"),
            "Leon | 8,2",
        ),
        (
            "<tr><th>Title<th>Price<tr><td>Bricks | Mortar<td>12<tr><td>Plain<td>15",
            ("Title", "Price"),
            "Plain | 15",
        ),
    ],
)
def test_cells_stand_under_their_names(rows: str, names: tuple[str, ...], last: str) -> None:
    document = read_bytes(f"<table>{rows}</table>".encode(), "a.html")
    assert next(tables(document.marks)).columns == names
    assert document.text.rstrip().split("\n")[-1] == last
    assert "Bricks |" not in document.text  # its bar begins no cell
