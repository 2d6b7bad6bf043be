"""What filters mean, by examples and beside a plain evaluator."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings

from milepost.filters import Filter, parse
from milepost.filters.nodes import Node
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
