"""What is read of sheets is what a person sees."""

import io
from zipfile import ZipFile

import pytest

from milepost.documents import read_bytes
from support.office_writer import (
    OFFICE,
    RELATIONS,
    SHEET,
    opendocument,
    pptx,
    relations,
    shape,
    with_parts,
    xlsx,
    zipped,
)

LOOKS = "<r><t>10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>6</t></r>"
STRUCK = "<r><rPr><strike/></rPr><t>no</t></r>"


def test_letters_of_sheets() -> None:
    rows = (
        f"<row r='1'><c r='A1' t='inlineStr'><is>{LOOKS}</is></c><c r='B1' t='inlineStr'>"
        f"<is>{STRUCK}</is></c><c r='C1' t='e'><v>#DIV/0!</v></c></row><row r='2'>"
        f"<c r='A2' t='inlineStr'><is>{STRUCK}</is></c></row>"
    )
    document = read_bytes(xlsx({"S": rows}), "a.xlsx")
    assert document.text == "S\n10^6 | | #DIV/0!"
    assert "struck-out" in document.notes[0]


def changed(made: bytes, part: str, old: str, new: str) -> bytes:
    said = ZipFile(io.BytesIO(made)).read(part).decode()
    return with_parts(made, {part: said.replace(old, new)})


def test_what_is_not_shown_is_read_with_a_note() -> None:
    made = xlsx({"Open": [["a", "b"], ["c", "d"]], "Draft": [["e"]], "Empty": []})
    made = changed(made, "xl/workbook.xml", '"Draft"', '"Draft" state="veryHidden"')
    columns = '<cols><col min="2" max="99" hidden="1"/></cols><sheetData>'
    made = changed(made, "xl/worksheets/sheet1.xml", "<sheetData>", columns)
    made = changed(made, "xl/worksheets/sheet1.xml", '<row r="1"', '<row r="1" hidden="1"')
    rows, sheet = read_bytes(made, "a.xlsx").notes
    assert (rows[:10], rows[-3:]) == ("sheet Open", ": 2")
    assert sheet.startswith("sheet Draft is hidden")
    deck = pptx([shape("Bees"), shape("Wax")])
    deck = changed(deck, "ppt/slides/slide1.xml", "<p:sld ", "<p:sld show='0' ")
    (note,) = read_bytes(deck, "a.pptx").notes
    assert note.startswith("slide 2 is hidden")


def test_hidden_sheets_and_rows_of_open_sheets() -> None:
    cell = "<table:table-cell><text:p>a</text:p></table:table-cell>"
    row = f"<table:table-row table:visibility='{{}}'>{cell}</table:table-row>"
    table = "<table:table table:name='{}' table:style-name='{}'>{}</table:table>"
    tables = table.format("Open", "Y", row.format("visible") + row.format("filter"))
    look = "<style:style style:name='{}'><style:table-properties table:display='{}'/></style:style>"
    styles = look.format("X", "false") + look.format("Y", "true")
    tables += table.format("Draft", "X", row.format("visible"))
    rows, sheet = read_bytes(opendocument("spreadsheet", tables, styles), "a.ods").notes
    assert rows.endswith(": 1")
    assert sheet.startswith("sheet Draft is hidden")


def test_cells_of_open_sheets() -> None:
    """Cells are merged or struck out, have readings, raised figures, errors, or are under a box."""
    cell = "<table:table-cell office:value-type='string'{}>{}</table:table-cell>"
    readings = "<text:ruby-base>東</text:ruby-base><text:ruby-text>no</text:ruby-text>"
    ruby = f"<text:ruby>{readings}</text:ruby>"
    number = (
        "<table:table-cell office:value-type='float' office:value='1234.5'{}>{}</table:table-cell>"
    )
    twice = " table:number-columns-repeated='2'"
    tall = cell.format(" table:number-rows-spanned='2'", "<text:p>A</text:p>")
    struck = cell.format(" table:style-name='X'", "<text:p>no</text:p>")
    rows = (
        f"{tall}\n {cell.format('', f'<text:p>{ruby}<text:line-break/>b</text:p>')}",
        "<table:covered-table-cell><text:p>no</text:p></table:covered-table-cell>"
        f"{number.format('', '<text:p>1.234,50</text:p>')}{struck}{number.format(twice, '')}",
        cell.format("", "<text:p>10<text:span text:style-name='S'>6</text:span></text:p>")
        + cell.format(" office:string-value=''", "<text:p>#REF!</text:p>")
        + "<table:table-cell table:formula='of:=1'/>",
    )
    box = "<table:shapes><draw:rect><text:p>10<text:span text:style-name='S'>6</text:span></text:p>"
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    table = f"<table:table table:name='S'>{table}{box}</draw:rect></table:shapes></table:table>"
    look = "<style:style style:name='{}'><style:text-properties style:text-{}/></style:style>"
    styles = look.format("X", "line-through-style='solid'") + look.format(
        "S", "position='super 58%'"
    )
    document = read_bytes(opendocument("spreadsheet", table, styles), "a.ods")
    assert document.text == "S\nA | 東 b\nA | 1.234,50 | | 1234.5 | 1234.5\n10^6 | #REF!\n\n10^6"
    notes = " ".join(document.notes)
    assert "struck-out" in notes
    assert "1 formulas" in notes


def test_flat_sheets() -> None:
    cells = "<t:table-cell><x:p>A</x:p></t:table-cell><t:table-cell t:formula='of:=1'/>"
    chart = "<office:document><t:title><x:p>c</x:p></t:title><x:p>5</x:p></office:document>"
    box = f"<t:shapes><d:rect><x:p>b</x:p></d:rect><d:object>{chart}</d:object></t:shapes>"
    table = f"<t:table t:name='S'><t:table-row>{cells}</t:table-row>{box}</t:table>"
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    spaces = "xmlns:office='o' xmlns:t='t' xmlns:x='x' xmlns:d='d'"
    document = read_bytes(f"<office:document {spaces}>{body}</office:document>".encode(), "a.fods")
    assert (document.text, document.place(3)) == ("S\nA\n\nb\n\nc", "sheet S, row 1")
    assert "formula" in document.notes[0]


def test_styles_of_cells() -> None:
    """What is struck out as a whole, and a number with a format that is merged over rows."""
    styles = (
        "<fonts><font/><font><strike/></font></fonts><cellXfs><xf fontId='0'/><xf fontId='1'/>"
        "<xf numFmtId='9'/><xf numFmtId='99'/></cellXfs><numFmts><numFmt numFmtId='99' "
        "formatCode='0;-0;'/></numFmts>"
    )
    rows = "".join(
        f"<row r='{n}'><c r='A{n}' s='2'>{value}</c><c r='B{n}'><v>5</v></c><c r='C{n}' s='1'>"
        f"<v>4</v></c><c r='D{n}' s='3'><v>0</v></c></row>"
        for n, value in ((1, "<v>0.5</v>"), (2, ""))
    )
    merged = "</sheetData><mergeCells><mergeCell ref='A1:A2'/></mergeCells><sheetData>"
    document = read_bytes(xlsx({"S": rows + merged}, styles), "a.xlsx")
    assert (document.text, len(document.notes)) == ("S\n50% | 5\n50% | 5", 1)


def test_workbooks_with_other_names() -> None:
    strings = f"<sst xmlns='{SHEET}'><si><t>Harbour</t></si></sst>"
    kinds = {"r1": ("worksheet", "s.xml"), "r2": ("sharedStrings", "t.xml")}
    links = "".join(
        f"<Relationship Id='{key}' Type='{OFFICE}/{kind}' Target='{target}'/>"
        for key, (kind, target) in kinds.items()
    )
    sheet = "<row r='1'><c r='A1' t='s'><v>0</v></c></row>"
    main = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"
    parts = {
        "[Content_Types].xml": f"<Types><Override PartName='/b/m.xml' ContentType='{main}'/>"
        "</Types>",
        "_rels/.rels": f"<Relationships xmlns='{RELATIONS}'><Relationship Id='r' "
        f"Type='{OFFICE}/officeDocument' Target='b/m.xml'/></Relationships>",
        "b/m.xml": f"<workbook xmlns='{SHEET}' xmlns:r='{OFFICE}'><sheets>"
        "<sheet name='Macro' r:id=''/><sheet name='S' sheetId='1' r:id='r1'/></sheets></workbook>",
        "b/_rels/m.xml.rels": f"<Relationships>{links}</Relationships>",
        "b/s.xml": f"<worksheet xmlns='{SHEET}'><sheetData>{sheet}</sheetData></worksheet>",
        "b/t.xml": strings,
    }
    assert read_bytes(zipped(parts), "a.xlsm").text == "S\nHarbour"


@pytest.mark.parametrize(
    ("code", "wanted"),
    [("mm/dd/yyyy", "2018-04-05"), ("d/m/yy h:mm", "2018-04-05 13:00"), ("mmm yyyy", "2018-04")],
)
def test_a_date_has_a_time_only_if_the_sheet_shows_it(code: str, wanted: str) -> None:
    codes = f"<numFmts><numFmt numFmtId='164' formatCode='{code}'/></numFmts>"
    rows = {"S": f"<row><c s='1'><v>{43195 + 13 / 24}</v></c></row>"}
    data = xlsx(rows, f"{codes}<cellXfs><xf/><xf numFmtId='164'/></cellXfs>")
    assert read_bytes(data, "a.xlsx").text == f"S\n{wanted}"


def test_what_is_beside_the_cells_of_sheets() -> None:
    """Fields of forms are read, embedded objects are noted, currencies without a sign are not."""
    code = "<numFmts><numFmt numFmtId='164' formatCode='yyyy'/></numFmts>"
    data = xlsx(
        {"S": "<row><c s='1'><v>1234.5</v></c><c s='2'><v>44260</v></c></row>"},
        f"{code}<cellXfs><xf/><xf numFmtId='44'/><xf numFmtId='164'/></cellXfs>",
    )
    fields = "".join(
        f"<v:shape><v:textbox>Yes</v:textbox><x:ClientData ObjectType='{kind}'><x:Checked>1"
        "</x:Checked></x:ClientData></v:shape>"
        for kind in ("Checkbox", "Note")
    )
    links = {"a": ("vmlDrawing", "v.vml"), "b": ("oleObject", "o.bin")}
    more = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(links),
        "xl/worksheets/v.vml": f"<xml xmlns:v='v' xmlns:x='x'>{fields}</xml>",
    }
    document = read_bytes(with_parts(data, more), "a.xlsx")
    assert document.text == "S\n1,234.50 | 2021\n\n☒ Yes"
    assert "embedded object" in document.notes[0]
