"""Rows copied from tables, as an editor, a spreadsheet, the page and the search show them."""

import pytest

from milepost.checking.check import check_documents, prepared
from milepost.checking.places import MAX_PLACES
from milepost.documents import read_bytes
from milepost.index import Index
from milepost.search import quoted
from milepost.testing import fake_index
from milepost.types import Document
from milepost.verdicts import CheckResult
from support.office_writer import table_files
from support.pdf_writer import PdfPage, write_pdf

ROWS = (
    ("Item", "May", "June", "Made of"),
    ("Bolt", "5", "7", "iron, or brass"),
    ("Nut M8", "", "9", "iron"),
    ("Washer", "12", "31", "felt"),
)


def _pdf() -> bytes:
    page = PdfPage()
    for number, row in enumerate((("", "May", "June"), *(line[:3] for line in ROWS[1:]))):
        for column, cell in enumerate(row):
            page.text((72, 300, 400)[column], 700 - 14 * number, cell)
    return write_pdf([page])


FILES = {**table_files(ROWS), "a.tsv": "\n".join(map("\t".join, ROWS)).encode()}
DOCUMENTS = {name: read_bytes(data, name) for name, data in FILES.items()}


def _check(document: Document, text: str) -> CheckResult | None:
    return check_documents(prepared(text), [document])


def _verdict(document: Document, text: str) -> str | None:
    found = _check(document, text)
    return found.verdict if found else None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Bolt 5 7 iron, or brass", "verbatim"),
        ("Nut M8 9 iron", "near"),
        ("Nut M8 | 9 | iron", "near"),
    ],
)
def test_a_row_is_verbatim_without_its_borders_but_not_without_its_empty_cells(
    text: str, verdict: str
) -> None:
    assert _verdict(DOCUMENTS["a.docx"], text) == verdict
    with fake_index() as index:
        index.add(DOCUMENTS["a.docx"])
        assert index.check(text).verdict == verdict


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Bolt\t5\t7\tiron, or brass", "Bolt", "iron, or brass"),
        ("Bolt | 5 | 7 | iron, or brass", "Bolt", "iron, or brass"),
        ('bolt, 5, 7, "iron, or brass"', "Bolt", "iron, or brass"),
        ('"Bolt";"5";"7";"iron, or brass"', "Bolt", "iron, or brass"),
        ("Nut M8\t\t9\tiron", "Nut M8", "iron"),
        ("7\tiron, or brass\nNut M8\t\t9", "7", "9"),
        ("Item | May | June | Made of\nNut M8 | | 9 | iron", "Nut M8", "iron"),
    ],
)
def test_verbatim(name: str, text: str, first: str, last: str) -> None:
    check = _check(DOCUMENTS[name], text)
    assert check is not None
    assert check.verdict == "verbatim"
    (place,) = check.places
    assert place.text == DOCUMENTS[name].text[place.start : place.end]
    assert place.text.strip("| ").startswith(first)
    assert place.text.strip("| ").endswith(last)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "text",
    [
        "Bolt,7",  # another column
        "Nut M8\t9\t\tiron",
        "Bolt\t7\t5\tiron, or brass",
        "May\tItem",
        "iron, or brass,Nut M8",
        "Bolt\t5\t7\tiron\nWasher\t12\t31\tfelt",
        "Washer,12,3",  # a piece of a number
        "Item | June | May | Made of\nNut M8 | | 9 | iron",
    ],
)
def test_not_verbatim(name: str, text: str) -> None:
    assert _verdict(DOCUMENTS[name], text) in (None, "near")


@pytest.mark.parametrize("name", FILES)
def test_near_says_which_cell_differs(name: str) -> None:
    given = "Washer\t13\t31\tfelt"
    check = _check(DOCUMENTS[name], given)
    assert check is not None
    assert check.verdict == "near"
    (place,) = check.places
    (difference,) = place.differences
    assert (difference.given, difference.text) == ("13", "12")
    assert given[difference.given_start : difference.given_end] == "13"
    text = DOCUMENTS[name].text
    assert text[difference.start : difference.end] == "12"
    assert text[place.start : place.end] == place.text


def test_rows_of_pdfs() -> None:
    document = read_bytes(_pdf(), "a.pdf")
    for text in ("Bolt | 5 | 7", "Washer\t12\t31"):
        check = _check(document, text)
        assert check is not None
        assert (check.verdict, check.text) == ("verbatim", text)
    assert _verdict(document, "Nut M8 | 9 | ") in (None, "near")


def test_a_comma_between_digits_is_no_border_but_in_files_of_that_form() -> None:
    rows = "Town,A,B\nUlm,1,234\nKiel,5,678\n"
    html = "<table><tr><td>Ulm<td>1<td>234<tr><td>Kiel<td>5<td>678</table>"
    (csv, page) = read_bytes(rows.encode(), "a.csv"), read_bytes(html.encode(), "a.html")
    for text, document, verdict in (
        ("Ulm,1,234", csv, "verbatim"),
        ("Ulm\t1\t234", page, "verbatim"),
        ("Ulm, 1,234", page, None),
        ("1,234", csv, None),
    ):
        assert _verdict(document, text) == verdict


def test_cells_whose_columns_the_text_does_not_say() -> None:
    """Where columns have no names, an empty cell leaves no trace."""
    document = read_bytes(b"Town,,,Area\nUlm,7,,9\nKiel,,8,3\nBonn,1,2,4\n", "a.csv")
    for text in ("Ulm,7,9", "Ulm,,7,9", "Kiel,8,,3"):
        assert _verdict(document, text) in (None, "near"), text


def test_a_row_in_several_lines_of_the_text() -> None:
    names = [f"Column {number}" for number in range(60)]
    rows = [[f"value {line} {number}" for number in range(60)] for line in range(3)]
    data = "\n".join(map(",".join, [names, *rows]))
    document = read_bytes(data.encode(), "a.csv")
    check = _check(document, ",".join(rows[1]))
    assert check is not None
    assert check.verdict == "verbatim"
    assert check.places[0].text.endswith("value 1 59")
    mixed = ",".join([*rows[1][:40], *rows[2][40:]])
    assert _verdict(document, mixed) == "near"


@pytest.fixture(params=[60_000, 0], ids=["small", "large"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Index:
    monkeypatch.setattr(quoted, "EVERYTHING", request.param)
    made = fake_index({"other": "Bolts of iron hold the quay. " * 50})
    made.add([Document(name, each.text, each.marks) for name, each in DOCUMENTS.items()])
    return made


def test_in_an_index(index: Index) -> None:
    check = index.check("Bolt | 5 | 7 | iron, or brass")
    assert check.verdict == "verbatim"
    assert {place.document for place in check.places} <= set(FILES)
    labelled = index.check("Bolt | 5 | 7", "a.xlsx")
    assert [place.text for place in labelled.places] == ["Bolt | May: 5 | June: 7"]
    swapped = index.check("Bolt | 7 | 5 | iron, or brass", min_score=0.0)
    assert swapped.verdict == "related"
    assert "a row of a table is only compared cell by cell" in swapped.notes
    found = index.check("Washer\t13\t31\tfelt")
    assert {each.given for place in found.places for each in place.differences} == {"13"}
    only = index.check("Washer,12,31", "other")
    assert only.verdict == "found elsewhere"


def test_a_phrase_of_a_question(index: Index) -> None:
    result = index.search('what is "Washer,12,31"')
    assert result
    assert {passage.document for passage in result} <= set(FILES)
    assert all("Washer" in passage.text for passage in result)


def test_a_row_that_recurs_has_its_first_places() -> None:
    data = "Town,Area\n" + "Ulm,7\n" * 200
    found = _check(read_bytes(data.encode(), "a.csv"), "Ulm,7")
    assert found is not None
    assert found.verdict == "verbatim"
    assert [each.place for each in found.places] == [f"row {n}" for n in range(2, MAX_PLACES + 2)]
