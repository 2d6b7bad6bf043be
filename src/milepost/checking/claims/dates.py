"""Dates and longer periods of a sentence as ranges of days.

Dates with a month are read as the search reads them, in any language; periods are English.
"""

from __future__ import annotations

import calendar
import datetime
import math
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
    r"|(?P<era_year>\d{1,4})\s?(?P<era>BCE?)"
    rf"|(?P<century>{ORDINAL})[\s-]century"
    rf"|(?P<from>{_FOUR})\s?[-\u2013/]\s?(?P<to>\d{{2}}(?:\d{{2}})?)\b(?!-)"
    r"|(?:(?P<part>early|mid|late|(?:the\s)?(?:beginning|start|middle|end)\sof)[\s-](?:the\s)?)?"
    rf"(?:(?P<decade>(?:1[0-9]|20)\d0)['’]?s|(?<![\d.,$€£])(?P<year>{_FOUR})(?![.,]\d))"
    rf"|(?:AD\s)?(?P<month>{_MONTHS}))\b",
    re.IGNORECASE,
)
_BEFORE_YEAR = late(
    r"(?:\b(?:in|of|since|after|before|by|until|till|from|to|during|about)|[(,])\s*$", re.IGNORECASE
)
_AROUND = late(
    r"\b(?:(?P<after>after|since|following)|(?P<before>before|prior to|by)|(?P<from>from)"
    r"|(?P<to>to|until|till))(?:\s+(?:the|early|late|mid|year|in|on))*\s*$",
    re.IGNORECASE,
)


def dates(text: str) -> Iterator[Quantity]:
    """Yield the dates and periods of a text."""
    found: list[tuple[int, int, float, float, str]] = []
    for (start, end), forms in groupby(others(text), lambda each: each[1:]):
        ranges = [each for form, *_ in forms if (each := _days_of(form)) is not None]
        if ranges:  # of a date with two readings, both
            unit = YEARLESS if text[start:end] and ranges[0][0] < 4 * 366 else ""
            found.append((start, end, min(ranges)[0], max(each[1] for each in ranges), unit))
    for match in _DATE.finditer(text):
        if all(match.end() <= start or end <= match.start() for start, end, *_ in found):
            days = _days(match)
            if days is not None:
                found.append((*match.span(), *days, YEARLESS if match["month"] else ""))
    for at, end, low, high, unit in found:
        lead = max(0, at - 40)
        around = _AROUND.search(text[lead:at])
        role = ""
        start = at
        if around is not None:
            start = lead + around.start()
            role = "from" if around["from"] else "to" if around["to"] else ""
            if around["before"]:
                low, high = -math.inf, high if around["before"].lower() == "by" else low
            elif around["after"]:
                low, high = (low if around["after"].lower() == "since" else high), math.inf
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
        number = next(
            n for n in range(1, 5) if str(n) in name or name.lower().startswith(_NTH[n - 1])
        )
        size = 6 if "h" in name.lower().split()[-1][:2] else 3
        return _range(year, size * (number - 1) + 1, size * number)
    if match["fiscal"]:
        year = int(match["fiscal"])
        return _years(year if year > 99 else 2000 + year)
    if match["era"]:
        first = -366.0 * int(match["era_year"])
        return first, first + 365.0
    if match["century"]:
        number = ordinal(match["century"])
        return _years(100 * number - 100, 100 * number - 1) if 0 < number < 30 else None
    if match["from"]:
        first_year, end = match["from"], match["to"]
        last = int(first_year[: -len(end)] + end)
        return _years(int(first_year), last) if last > int(first_year) else None
    part = (match["part"] or "").lower().removeprefix("the ").split(" ")[0]
    if match["decade"]:
        return _years(*(int(match["decade"]) + n for n in _OF_DECADE.get(part, (0, 9))))
    year = int(match["year"])
    behind = BEHIND.match(match.string, match.end())
    is_measure = behind is not None and (known(behind["one"]) or behind["one"] == "people")
    if is_measure or (year < 1500 and not part and not _BEFORE_YEAR.search(before)):
        return None
    return _range(year, *_OF_YEAR.get(part, (1, 12)))


_NTH = ("first", "second", "third", "fourth")
_OF_YEAR = {
    "early": (1, 6),
    "mid": (4, 9),
    "middle": (4, 9),
    "late": (7, 12),
    "beginning": (1, 4),
    "start": (1, 4),
    "end": (9, 12),
}
"""First and last month of a part of a year."""
_OF_DECADE = {
    "early": (0, 4),
    "beginning": (0, 4),
    "start": (0, 4),
    "mid": (3, 7),
    "middle": (3, 7),
    "late": (5, 9),
    "end": (5, 9),
}


def _years(first: int, last: int | None = None) -> tuple[float, float]:
    """The days of a year, or of some years."""
    return _range(first, 1, 12)[0], _range(last or first, 1, 12)[1]


def _range(year: int, first: int, last: int, day: int | None = None) -> tuple[float, float]:
    """The days of some months of a year, or of one day."""
    year = max(1, year)
    end = day or calendar.monthrange(year, last)[1]
    days = datetime.date(year, first, day or 1), datetime.date(year, last, end)
    return float(days[0].toordinal()), float(days[1].toordinal())
