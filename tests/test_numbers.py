"""Numbers in the forms in which people write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from milepost.numbers import numbers, same


@pytest.mark.parametrize(
    ("text", "language", "values", "unit"),
    [
        ("1,234", "en", ["1234"], None),
        ("1,234", "de", ["1.234"], None),
        ("1.234", "de", ["1234"], None),
        ("1.234", "en-GB", ["1.234"], None),
        ("1.234", None, ["1234", "1.234"], None),
        ("1,234.50", None, ["1234.5"], None),
        ("1.234,50", None, ["1234.5"], None),
        ("1,234,567", "de", ["1234567"], None),
        ("1\u202f234\u202f567,8", "fr", ["1234567.8"], None),
        ("1'234", None, ["1234"], None),
        ("(1,234)", "en", ["-1234"], None),
        ("−12", "en", ["-12"], None),
        ("$1.2bn", "en", ["1200000000"], "USD"),
        ("US$ 3 million", "en", ["3000000"], "USD"),
        ("3,5 Mio. €", "de", ["3500000"], None),
        ("12 %", "en", ["12"], "%"),
        ("12.0 per cent", "en", ["12"], "%"),
        ("0.125", None, ["0.125"], None),
        ("2024", "en", ["2024"], None),
    ],
)
def test_values(text: str, language: str | None, values: list[str], unit: str | None) -> None:
    """Separators by language, signs, words of scale, units."""
    (number,) = numbers(text, language)
    assert number.values == tuple(map(Decimal, values))
    if unit:
        assert number.unit == unit


def test_spans_and_what_is_no_number() -> None:
    """Brackets around more than a number stay outside; versions and parts of words are left out."""
    text = "(5 bees, 7 m) in v1.2.3 and A4, sold 10.5.2024"
    found = [text[slice(*number.span)] for number in numbers(text, "en")]
    assert found == ["5", "7 m"]


def test_the_same_number() -> None:
    """A common reading is enough, another unit is not."""

    def one(text: str, language: str | None = None) -> bool:
        first, second = (next(numbers(part, language)) for part in text.split(";"))
        return same(first, second)

    assert one("1.234;1234")
    assert one("$1.2bn;1,200,000,000")
    assert not one("$5;€5")
    assert not one("(5);5")
    assert not one("1.234;1234", "en")
