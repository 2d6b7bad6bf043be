"""Dates and longer periods of a sentence as ranges of days.

Dates with a month are read as the search reads them, in any language; periods are English.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterator
from itertools import groupby

from milepost.checking.claims.quantity import YEARLESS, Quantity
from milepost.checking.claims.units import BEHIND, ORDINAL, known, ordinal
from milepost.language.numbers import others
from milepost.language.patterns import late

_MONTHS = "|".join(calendar.month_name[1:])
_FOUR = r"(?:1[0-9]|20)\d\d"
_DATE = late(
    rf"\b(?:(?P<quarter>q[1-4]|[1-4]q|h[12]|(?:first|second|third|fourth)[\s-](?:quarter|half))"
    rf"(?:\s+of)?(?:\s+the)?(?:\s+(?:fiscal|financial))?(?:\s+year)?\s*(?:fy\s?)?(?P<of>{_FOUR}|['’]\d\d)"
    rf"|(?:fy|fiscal(?:\s+year)?|financial\s+year)[\s'’-]*(?P<fiscal>(?:19|20)?\d\d)"
    rf"|(?P<century>{ORDINAL})[\s-]century"
    rf"|(?P<from>{_FOUR})(?:\s?[-\u2013/]\s?|\s(?:to|until)\s(?={_FOUR}\b))(?P<to>\d{{2}}(?:\d{{2}})?)\b(?!-)"
    rf"|(?P<decade>(?:1[0-9]|20)\d0)['’]?s|(?<![\d.,$€£])(?P<year>{_FOUR})(?![.,]\d)"
    rf"|(?:AD\s)?(?P<month>{_MONTHS}))\b",
    re.IGNORECASE,
)
_BEFORE_YEAR = late(
    r"(?:\b(?:in|of|since|after|before|by|until|till|from|to|during|about)|[(,])\s*$", re.IGNORECASE
)
DATE_BOUND = late(r"\b(before|prior to|after)\s+(?:the\s)?$", re.IGNORECASE)


def dates(text: str) -> Iterator[Quantity]:
    """Yield the dates and periods of a text."""
    found: list[tuple[int, int, float, float, str]] = []
    for (start, end), forms in groupby(others(text), lambda each: each[1:]):
        ranges = [each for form, *_ in forms if (each := _days_of(form)) is not None]
        if ranges:  # of a date with two readings, both
            unit = YEARLESS if ranges[0][0] < 4 * 366 else ""
            found.append((start, end, min(ranges)[0], max(each[1] for each in ranges), unit))
    for match in _DATE.finditer(text):
        days = _days(match)
        if days is not None:
            found.append((*match.span(), *days, YEARLESS if match["month"] else ""))
    for start, end, low, high, unit in found:
        bound = DATE_BOUND.search(text, max(0, start - 20), start)
        role = bound[1].lower().removesuffix("prior to") or "before" if bound else ""
        yield Quantity("date", low, high, unit, start, end, role=role)


def _days_of(form: str) -> tuple[float, float] | None:
    """The days of a date in ISO's form; of one without its year, of the year 4."""
    if "-" not in form:
        return None
    year = 4 if form.startswith("--") else int(form[:4])
    month, *day = map(int, form[2 if form.startswith("--") else 5 :].split("-"))
    return _range(year, month, month, *day)


def _days(match: re.Match[str]) -> tuple[float, float] | None:
    """The first and last day that a period names; None for what is none, such as "may"."""
    before = match.string[: match.start()][-12:]
    if name := match["month"]:
        is_word = name.lower() in ("may", "march") and not _BEFORE_YEAR.search(before)
        number = list(calendar.month_name).index(name.title())
        return None if is_word or not name[0].isupper() else _range(4, number, number)
    if name := match["quarter"]:
        year = int(match["of"]) if match["of"].isdigit() else 2000 + int(match["of"][1:])
        digits = re.search(r"\d", name)
        number = int(digits[0]) if digits else ordinal(re.split(r"[\s-]", name)[0])
        size = 6 if re.search(r"half|h\d", name.lower()) else 3
        last = size * number
        return _range(year, last - size + 1, last) if last <= 12 else None  # "third half"
    if match["fiscal"]:
        year = int(match["fiscal"])
        return _years(year if year > 99 else 2000 + year)
    if match["century"]:
        number = ordinal(match["century"])
        return _years(100 * number - 100, 100 * number - 1) if 0 < number < 30 else None
    if match["from"]:
        first_year, end = match["from"], match["to"]
        last = int(first_year[: -len(end)] + end)
        return _years(int(first_year), last) if last > int(first_year) else None
    if match["decade"]:
        return _years(int(match["decade"]), int(match["decade"]) + 9)
    year = int(match["year"])
    behind = BEHIND.match(match.string, match.end())
    is_measure = behind is not None and (known(behind["one"]) or behind["one"] == "people")
    if is_measure or (year < 1500 and not _BEFORE_YEAR.search(before)):
        return None
    return _years(year)


def _years(first: int, last: int | None = None) -> tuple[float, float]:
    return _range(first, 1, 12)[0], _range(last or first, 1, 12)[1]


def _range(year: int, first: int, last: int, day: int | None = None) -> tuple[float, float]:
    """The days of some months of a year, or of one day."""
    year = max(1, year)
    end = day or calendar.monthrange(year, last)[1]
    days = datetime.date(year, first, day or 1), datetime.date(year, last, end)
    return float(days[0].toordinal()), float(days[1].toordinal())
