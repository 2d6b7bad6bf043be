"""How a table is written: nothing is lost, and no cell runs."""

import csv
import io
import json
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.tables.formats import as_csv, as_html, as_jsonl, writer_of
from milepost.tables.rows import Row

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ROWS = st.lists(
    st.builds(
        Row,
        document=st.none() | TEXTS,
        question=TEXTS,
        probability=st.none() | st.floats(0, 1),
        passage=st.none() | TEXTS,
        place=st.none() | TEXTS,
        page=st.none() | st.integers(1, 999),
        heading=st.none() | TEXTS,
        start=st.none() | st.integers(0, 10**6),
        end=st.none() | st.integers(0, 10**6),
    ),
    max_size=4,
)
BOUGHT = Row("/a/b <c>.pdf", "=1+1", 0.5, '=HYPERLINK("x")\n<script>', "page 3", 3, "@SUM", 1, 2)


@given(ROWS)
def test_csv_is_read_back_and_no_cell_is_a_formula(rows: list[Row]) -> None:
    text = as_csv(rows)
    assert text.startswith("\ufeff")
    read = list(csv.DictReader(io.StringIO(text[1:], newline="")))
    assert len(read) == len(rows)
    for row, cells in zip(rows, read, strict=True):
        for name, value in asdict(row).items():
            cell = cells[name]
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"))
            if isinstance(value, str):
                line = " ".join(value.replace("\0", "\ufffd").split())
                assert cell in (line, f"'{line}")
            else:
                assert cell == ("" if value is None else str(value))


def test_a_formula_gets_an_apostrophe() -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv([BOUGHT])[1:]))
    assert row["question"] == "'=1+1"
    assert row["passage"] == '\'=HYPERLINK("x") <script>'
    assert row["heading"] == "'@SUM"


@given(ROWS)
def test_jsonl_has_the_rows_as_they_are(rows: list[Row]) -> None:
    lines = as_jsonl(rows).split("\n")
    assert lines.pop() == ""
    assert [Row(**json.loads(line)) for line in lines] == rows


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
            self._in_cell = True
        if tag == "a":
            self.links.append(dict(attrs)["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag != "td"

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


@given(ROWS)
def test_html_holds_the_texts_and_no_tag_of_theirs(rows: list[Row]) -> None:
    page = _Cells()
    page.feed(as_html(rows))
    page.close()
    assert page.tags <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "main"),
        *("table", "thead", "tbody", "tr", "th", "td", "a"),
    }
    found = page.rows[1:]
    assert [" ".join(cells[1].split()) for cells in found] == [
        " ".join(row.question.replace("\0", "\ufffd").split()) for row in rows
    ]
    assert all(len(cells) == 5 for cells in found)


def test_html_links_to_the_page_of_the_file() -> None:
    page = _Cells()
    page.feed(as_html([BOUGHT, Row("stdin", "Who?")]))
    assert page.links == ["file:///a/b%20%3Cc%3E.pdf#page=3"]
    assert page.rows[1] == ["b <c>.pdf", "=1+1", "50%", '=HYPERLINK("x") <script>', "page 3 · @SUM"]
    assert page.rows[2] == ["stdin", "Who?", "", "", ""]


def test_the_suffix_names_the_form() -> None:
    assert writer_of(Path("a.CSV")) is as_csv
    assert writer_of(Path("a.htm")) is as_html
    with pytest.raises(InputError, match="does not say in which form"):
        writer_of(Path("a.xlsx"))
