"""Questions and formats of tables."""

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from milepost.errors import BadQuestion, InputError, UnreadableFile
from milepost.exports.tables import read_questions
from milepost.exports.tables.formats import as_csv, as_html, as_jsonl, writer_of
from milepost.exports.tables.rows import Row
from support.files import write_files

QUESTIONS = ["Who paid, and why?", 'What is "it"?', "Wie heißt das?"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_line_is_a_question(tmp_path: Path, encoding: str, end: str) -> None:
    lines = end.join([QUESTIONS[0], "", f"  {QUESTIONS[1]}  ", QUESTIONS[2], QUESTIONS[0], ""])
    write_files(tmp_path, {"q.txt": lines.encode(encoding)})
    assert read_questions(tmp_path / "q.txt") == QUESTIONS


@pytest.mark.parametrize(
    ("name", "text", "kind", "said"),
    [
        ("q.txt", "\n \n", InputError, "has no questions"),
        ("q.txt", "Who?\n???\n", BadQuestion, "line 2: '\\?\\?\\?' has neither"),
        ("q.csv", "id,question\n1,Who?\n", UnreadableFile, "a question in each line"),
        ("q.txt", "\0\1\2" * 50, UnreadableFile, "binary"),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, name: str, text: str, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        read_questions(write_files(tmp_path, {name: text}) / name)
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_questions(tmp_path / "none.txt")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ROWS = st.lists(
    st.builds(
        Row,
        document=st.none() | TEXTS,
        question=TEXTS,
        score=st.none() | st.floats(0, 1),
        text=st.none() | TEXTS,
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
@example([BOUGHT])
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


@given(ROWS)
def test_jsonl_has_the_rows_as_they_are(rows: list[Row]) -> None:
    lines = as_jsonl(rows).split("\n")
    assert lines.pop() == ""
    assert [Row(**json.loads(line)) for line in lines] == rows


def cells_of(page: LexborHTMLParser) -> list[list[str]]:
    return [[cell.text() for cell in row.css("td")] for row in page.css("tbody tr")]


@given(ROWS)
def test_html_holds_the_texts_and_no_tag_of_theirs(rows: list[Row]) -> None:
    page = LexborHTMLParser(as_html(rows))
    assert {node.tag for node in page.root.traverse()} <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "main"),
        *("table", "thead", "tbody", "tr", "th", "td", "a"),
    }
    found = cells_of(page)
    assert [" ".join(cells[1].split()) for cells in found] == [
        " ".join(row.question.replace("\0", "\ufffd").split()) for row in rows
    ]
    assert all(len(cells) == 5 for cells in found)


def test_html_links_to_the_page_of_the_file() -> None:
    page = LexborHTMLParser(as_html([BOUGHT, Row("stdin", "Who?")]))
    assert [link.attributes["href"] for link in page.css("a")] == [
        "file:///a/b%20%3Cc%3E.pdf#page=3"
    ]
    first, second = cells_of(page)
    assert first == ["b <c>.pdf", "=1+1", "50%", '=HYPERLINK("x") <script>', "page 3 · @SUM"]
    assert second == ["stdin", "Who?", "", "", ""]


def test_the_suffix_names_the_form() -> None:
    assert writer_of(Path("a.CSV")) is as_csv
    assert writer_of(Path("a.htm")) is as_html
    with pytest.raises(InputError, match="does not say in which form"):
        writer_of(Path("a.xlsx"))
