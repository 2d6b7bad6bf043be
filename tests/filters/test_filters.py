"""Filters: how they are read, and what they let through."""

import os
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.filters import Filter, facts, parse
from milepost.filters.nodes import Date, Joined, KeyTest, Node, Not
from milepost.types import Document
from support.filter_cases import naive, properties, trees


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ('kind = "pdf"', KeyTest("kind", "=", ("pdf",))),
        ("KIND='PDF'", KeyTest("kind", "=", ("PDF",))),
        ("date < 2020-03", KeyTest("date", "<", (Date("2020-03"),))),
        ("date = 2020", KeyTest("date", "=", (Date("2020"),))),
        ('date = "2020-03-01"', KeyTest("date", "=", (Date("2020-03-01"),))),
        ("own != -1.5e3", KeyTest("own", "!=", (-1500.0,))),
        ("draft = true", KeyTest("draft", "=", (True,))),
        ('tags in ("a", "b")', KeyTest("tags", "in", ("a", "b"))),
        ("x NOT IN (1, 2020-03)", KeyTest("x", "not in", (1.0, Date("2020-03")))),
        ('document matches "*/2024/*"', KeyTest("document", "matches", ("*/2024/*",))),
        ("missing my.own-key", KeyTest("my.own-key", "missing")),
        ("a=1 or b=2 and not c=3", Joined("or", (
            KeyTest("a", "=", (1.0,)),
            Joined("and", (KeyTest("b", "=", (2.0,)), Not(KeyTest("c", "=", (3.0,))))),
        ))),
        ("(a=1 or b=2) and exists c", Joined("and", (
            Joined("or", (KeyTest("a", "=", (1.0,)), KeyTest("b", "=", (2.0,)))),
            KeyTest("c", "exists"),
        ))),
        (r'a = "C:\docs \"x\" \\y"', KeyTest("a", "=", (r'C:\docs "x" \y',))),
    ],
)  # fmt: skip
def test_trees(text: str, root: Node) -> None:
    assert parse(text).root == root


@pytest.mark.parametrize(
    ("text", "column", "problem", "hint"),
    [
        ("kind = pdf", 8, "pdf needs quotation marks", '"pdf"'),
        ("a == 1", 3, "unknown sign ==", "="),
        ("!a = 1", 1, "unknown sign !", "not"),
        ("a = 1 b", 7, "unexpected b", "and, or, or the end"),
        ("a =", 4, "the filter ends after =", "a value"),
        ("(a = 1", 7, "the filter ends", ") for the ( at column 1"),
        ("a in ()", 7, "unexpected ) after (", "a value"),
        ("date = 2020-02-30", 8, "2020-02-30 is not a date", "2020-03-01"),
        ('date > "soon"', 8, '"soon" is not a date', "2020-03"),
        ('year = "x"', 8, '"x" is not a number', "year = 2020"),
        ("title = 1984", 9, "title is text", '"1984"'),
        ('year contains "2"', 6, "year is not text", "= !="),
        ("draft < true", 7, "true and false have no <", "= or !="),
        ('a like "x"', 3, "unknown operator like", 'contains "part"'),
        ("a contains 3", 12, "unexpected 3 after contains", '"…"'),
        ("a = “x”", 5, "“ is not a quotation mark here", '"…"'),
        ('a = "x', 5, "has no end", '"…"'),
        ('a = "x\ny"', 7, "cannot be shown", "leave it"),
        ("in = 3", 1, "unexpected in", "a key"),
        ("2nd = 3", 1, "2nd is neither", "2020-03"),
        ("ü = 3", 1, "ü is not a key", "a to z"),
        ("a = 1e999", 5, "too large", "smaller"),
        ("a = 01/02/2020", 5, "01/02/2020 is neither", "2020-03-01"),
    ],
)
def test_errors_say_where_and_what_is_allowed(
    text: str, column: int, problem: str, hint: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.problem.startswith(f"filter, column {column}: ")
    assert problem in caught.value.problem
    assert hint in caught.value.hint
    assert "\n" not in str(caught.value)


def test_limits() -> None:
    assert parse("not " * 50 + "a = 1")
    assert parse("(" * 50 + "a = 1" + ")" * 50)
    for text, problem in [
        ("not " * 51 + "a = 1", "more than 50"),
        ("(" * 400 + "a = 1" + ")" * 400, "more than 50"),
        ("a = 1 or " * 300 + "a = 1", "2,705 characters"),
        (" \n", "is empty"),
        ("", "is empty"),
    ]:
        with pytest.raises(InputError, match=problem):
            parse(text)


def test_keys_and_their_nearest() -> None:
    filter_ = parse('project = "x" and (year > 2019 or missing tags)')
    assert filter_.keys == {"project", "year", "tags"}
    filter_.check_keys({"project", "tags"})
    with pytest.raises(InputError) as caught:
        parse('kind = "pdf" and projekt = "x"').check_keys({"project", "tags"})
    assert caught.value.problem == "filter, column 18: no document has the key 'projekt'"
    assert caught.value.hint.startswith("'project', or another key: project, tags, document, ")
    with pytest.raises(InputError, match="'author', or "):
        parse('autor = "x"').check_keys(())


@given(trees)
def test_what_is_written_is_read_again(tree: Node) -> None:
    assert parse(str(tree)).root == tree


_PIECES = st.sampled_from(
    ["a", "date", "year", " ", "=", "!=", "<=", "(", ")", ",", "and", "or", "not", "in", '"x"',
     "'", '"', "2020", "2020-03", "-", "exists", "missing", "contains", "matches", "\\", "\x00",
     "true", "é", "\ud800", "1e9", "\u2028", "!"]
)  # fmt: skip


@given(st.text() | st.lists(_PIECES).map("".join) | st.lists(_PIECES).map(" ".join))
def test_anything_else_is_an_input_error(text: str) -> None:
    said = ""
    try:
        parse(text)
    except InputError as error:
        said = str(error)
    assert said == "" or said.isprintable()


PAPER = {
    "title": "Bees and Wax",
    "author": ("Ann Lee", "Bo Chen"),
    "date": "2020-03-01",
    "year": 2020.0,
    "draft": False,
    "pages": 12.0,
    "month": "2020-03",
}


HOLDING = [
    'title = "bees and wax"',
    'author contains "chen"',
    "date = 2020",
    "date = 2020-03",
    "date <= 2020",
    "date < 2020-03-02",
    "year = 2020",
    "draft != true",
    "month = 2020",
    "month = 2020-03",
    'title > "bear"',
    'not language = "en"',
]
NOT_HOLDING = [
    'author != "ann lee"',
    'language != "en"',
    'language contains ""',
    "date < 2020-03-01",
    "date >= 2020-03-02",
    'pages = "12"',
    "month = 2020-03-01",
    "month < 5",
]


@pytest.mark.parametrize("text", HOLDING + NOT_HOLDING)
def test_what_holds(text: str) -> None:
    assert parse(text).matches(PAPER) == (text in HOLDING)


@settings(max_examples=400)
@given(trees, properties)
def test_evaluation_agrees_with_a_plain_evaluator(tree: Node, held: Mapping[str, object]) -> None:
    assert Filter(tree).matches(held) == naive(tree, held)


def test_a_pattern_takes_no_exponential_time() -> None:
    pattern = "*a" * 200 + "b"
    assert not parse(f'title matches "{pattern}"').matches({"title": "a" * 1000})


def test_keys_of_a_file() -> None:
    path = os.path.join(os.sep, "data", "2024", "Plan.V2.PDF")  # noqa: PTH118
    held = facts(Document(path, "", source=path, properties={"date": "2024-05", "kind": "blog"}))
    assert held["kind"] == "pdf"
    assert held["year"] == 2024.0
    for text in [
        'document = "plan.v2.pdf"',
        'document = "/data/2024/plan.v2.pdf"',
        'document = "2024/plan.v2.pdf"',
        'document in ("data/2024/plan.v2.pdf", "2023/plan.v2.pdf")',
        'document != "024/plan.v2.pdf"',
        'document matches "*/2024/*"',
        'document contains "2024"',
        'folder = "2024"',
        'folder matches "*/2024"',
        'kind in ("pdf", "docx")',
        "year = 2024 and date >= 2024",
    ]:
        assert parse(text).matches(held), text
    assert not parse('document != "plan.v2.pdf"').matches(held)
    assert not parse('document != "2024/plan.v2.pdf"').matches(held)
    for name in ("/x/Makefile", "/x/.profile", "/x/odd."):
        assert "kind" not in facts(Document(name, "", source=name))


@pytest.mark.parametrize("name", ["note", "a/b.md", "", ".hidden", "v1."])
def test_keys_of_a_given_document(name: str) -> None:
    held = facts(Document(name, "", properties={"year": 1999, "date": "2024"}))
    assert "kind" not in held
    assert "folder" not in held
    assert held["year"] == 1999.0
    assert facts(Document(name, "", properties={"kind": "memo"}))["kind"] == "memo"
    assert held.get("document", "") == (("a/b.md", "b.md") if "/" in name else name)
