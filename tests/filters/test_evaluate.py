"""What filters mean, by examples and beside a plain evaluator."""

import os
from collections.abc import Mapping

import pytest
from hypothesis import given, settings

from milepost.filters import Filter, facts, parse
from milepost.filters.nodes import Node
from milepost.types import Document
from support.filter_cases import naive, properties, trees

PAPER = {
    "title": "Bees and Wax",
    "author": ("Ann Lee", "Bo Chen"),
    "date": "2020-03-01",
    "year": 2020.0,
    "draft": False,
    "pages": 12.0,
    "month": "2020-03",
}


@pytest.mark.parametrize(
    "text",
    [
        'title = "bees and wax"',
        'author = "ANN LEE"',
        'author contains "chen"',
        'author in ("x", "bo chen")',
        'title matches "bees*"',
        "date = 2020",
        "date = 2020-03",
        "date >= 2020",
        "date <= 2020",
        "date > 2019",
        "date < 2020-03-02",
        "year = 2020",
        "draft = false",
        "draft != true",
        "pages > 11.5",
        "month = 2020",
        "month = 2020-03",
        'title > "bear"',
        "missing language",
        'not language = "en"',
        'title != "wax"',
        'pages != "12"',
    ],
)
def test_what_holds(text: str) -> None:
    assert parse(text).matches(PAPER)


@pytest.mark.parametrize(
    "text",
    [
        'author != "ann lee"',
        'author not in ("ann lee")',
        'language != "en"',
        'language not in ("en")',
        'language contains ""',
        "exists language",
        "date > 2020",
        "date < 2020-03-01",
        "date >= 2020-03-02",
        'pages = "12"',
        "month = 2020-03-01",
        "draft = 0",
        "month < 5",
        "pages > 2020-01",
    ],
)
def test_what_does_not_hold(text: str) -> None:
    assert not parse(text).matches(PAPER)


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
        'document matches "*/2024/*"',
        'document contains "2024"',
        'folder = "2024"',
        'folder matches "*/2024"',
        'kind in ("pdf", "docx")',
        "year = 2024 and date >= 2024",
    ]:
        assert parse(text).matches(held), text
    assert not parse('document != "plan.v2.pdf"').matches(held)


@pytest.mark.parametrize("name", ["note", "a/b.md", "", ".hidden", "v1."])
def test_keys_of_a_given_document(name: str) -> None:
    held = facts(Document(name, "", properties={"year": 1999, "date": "2024"}))
    assert "kind" not in held
    assert "folder" not in held
    assert held["year"] == 1999.0
    assert held.get("document", "") == (("a/b.md", "b.md") if "/" in name else name)


def test_a_file_without_suffix_has_no_kind() -> None:
    for name in ("/x/Makefile", "/x/.profile", "/x/odd."):
        assert "kind" not in facts(Document(name, "", source=name))
