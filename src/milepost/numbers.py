"""Read numbers in the forms in which people write them, for comparison across forms.

``1,234``, ``1.234`` (German), ``(1,234)``, ``$1.2bn``, ``12 %``: a value, and its unit if it has
one. Pure functions; nothing is guessed where a form has two readings and no language decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from milepost.types import Span

_COMMA_LANGUAGES = frozenset(
    "cs da de es fi fr hu id it nb nl no pl pt ro ru sv tr uk".split()  # noqa: SIM905 - a list
)
"""Languages that write a comma before decimals."""

_SCALES = {
    "k": 3, "thousand": 3, "tsd": 3, "m": 6, "mn": 6, "mm": 6, "mio": 6, "million": 6,
    "millions": 6, "millionen": 6, "bn": 9, "b": 9, "billion": 9, "billions": 9, "mrd": 9,
    "milliarden": 9, "milliards": 9, "tn": 12, "trillion": 12, "trillions": 12,
}  # fmt: skip
_UNITS = {
    "%": "%", "percent": "%", "per cent": "%", "prozent": "%", "$": "USD", "US$": "USD",
    "usd": "USD", "€": "EUR", "eur": "EUR", "£": "GBP", "gbp": "GBP", "¥": "JPY", "jpy": "JPY",
}  # fmt: skip
_SPACE = "[ \u00a0\u2009\u202f]"
_DIGITS = rf"\d{{1,3}}(?:{_SPACE}\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,'’]\d+)*"
_NUMBER = re.compile(
    rf"(?<![\w.,])(?P<open>\()?(?P<minus>[-−–])?(?P<before>US\$|[$€£¥])?{_SPACE}?"
    rf"(?P<digits>{_DIGITS})(?![\d])"
    rf"(?:{_SPACE}?(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})\b\.?)?"
    rf"(?:{_SPACE}?(?P<after>%|€|£|(?:per cent|percent|prozent|usd|eur|gbp|jpy)\b))?"
    r"(?P<close>\))?",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text.

    Attributes:
        span: where it is, with sign, unit and word of scale.
        values: its value, or both if its form has two readings (``1.234``).
        unit: ``%`` or a currency's code; None without one.
    """

    span: Span
    values: tuple[Decimal, ...]
    unit: str | None


def numbers(text: str, language: str | None = None) -> Iterator[Number]:
    """Yield the numbers of a text, in order.

    Args:
        text: any text.
        language: its code (``en``, ``de``), which decides what a comma or point before three
            digits means; None for both readings.

    >>> [str(value) for number in numbers("$1.2bn, (1,234)", "en") for value in number.values]
    ['1200000000', '-1234']
    """
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        negative = bool(match["minus"])
        if match["open"] and match["close"]:
            negative = True
        elif match["open"]:
            start += 1
        elif match["close"]:
            end -= 1
        scale = Decimal(10) ** _SCALES.get((match["scale"] or "").lower(), 0)
        values = tuple(
            _plain((-value if negative else value) * scale)
            for value in _values(match["digits"], language)
        )
        if values:
            said = match["before"] or match["after"]
            unit = None if said is None else _UNITS.get(said.upper(), _UNITS.get(said.lower()))
            yield Number((start, end), values, unit)


def same(first: Number, second: Number) -> bool:
    """Whether two numbers may be equal: a common value, and no different units."""
    units = {first.unit, second.unit} - {None}
    return len(units) < 2 and not set(first.values).isdisjoint(second.values)


def _plain(value: Decimal) -> Decimal:
    """Write a value without exponent and trailing zeros, so that equal ones look alike."""
    return Decimal(f"{value.normalize():f}")


def _values(digits: str, language: str | None) -> Iterator[Decimal]:
    """Yield the readings of digits with separators; none for dates, versions and addresses."""
    digits = re.sub(rf"{_SPACE}|['’]", "", digits)
    marks = re.findall(r"[.,]", digits)
    if not marks:
        yield Decimal(digits)
        return
    parts = re.split(r"[.,]", digits)
    grouped = len(parts[0]) < 4 and parts[0] != "0" and all(len(each) == 3 for each in parts[1:-1])
    if len(set(marks)) == 2 and marks.count(marks[-1]) == 1 and grouped:
        yield Decimal("".join(parts[:-1]) + "." + parts[-1])
        return
    if len(set(marks)) == 2:
        return
    as_group = grouped and len(parts[-1]) == 3
    as_decimal = len(marks) == 1
    if as_group and as_decimal and language is not None:
        comma_decimal = language.partition("-")[0].lower() in _COMMA_LANGUAGES
        as_decimal = (marks[0] == ",") == comma_decimal
        as_group = not as_decimal
    if as_group:
        yield Decimal("".join(parts))
    if as_decimal:
        yield Decimal(".".join(parts))
