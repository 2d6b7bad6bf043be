"""Numbers, amounts and dates of a sentence as intervals that can be compared.

"1,234", "$1.2bn", "12 %", "twelve percent" and "more than 12 %" become a range of values and a
unit; "3 May 1998", "May 1998" and "1998-05-03" become a range of days. Two quantities agree where
their ranges meet.
"""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from milepost.language.numbers import CURRENCIES, SAME, SCALES, others, plain_digits, western
from milepost.language.patterns import late
from milepost.language.stemming import stem

Kind = Literal["number", "date"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a date.

    Attributes:
        kind: a date's values are days since the year 1.
        low, high: the values that it allows, both included.
        unit: of a number: a base unit, the stem of the word behind it, or "".
        is_measure: whether the unit is one of measurement, which a sentence need not name twice.
        start, end: where it is in the text, with its unit and the words that bound it.
        value: what it names, in base units, where its range is open on one side.
        written: the same in its own unit.
    """

    kind: Kind
    low: float
    high: float
    unit: str
    is_measure: bool
    start: int
    end: int
    value: float = 0.0
    written: float = 0.0

    def allows(self, other: Quantity) -> bool:
        """Whether a claim with this quantity holds where a text has the other one.

        "More than 3" allows "3.2" and not "over 2.3", which is hardly ever said of 3 and more.
        """
        if self.kind != other.kind:
            return False
        if self.kind == "number":
            if self.unit != other.unit and (self.is_measure or other.is_measure):
                return False
            low, high = other.low, other.high
            if self.value == other.value and not math.isinf(self.low + self.high):
                return True
            if math.isinf(high):
                high = other.value + _OVER * abs(other.value)
            if math.isinf(low):
                low = other.value - _OVER * abs(other.value)
            return self.low <= high and low <= self.high
        if (self.unit == YEARLESS) != (other.unit == YEARLESS):
            days = [_yearless(each) for each in (self, other)]
            return None not in days and days[0] == days[1]
        return self.low <= other.high and other.low <= self.high


YEARLESS = "day of the year"
"""Unit of a date without its year."""

_OVER = 0.1
"""How far from a number a text that says "over" or "under" it is expected to be."""


def comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities measure the same kind of thing."""
    return one.kind == other.kind and one.unit == other.unit


def _yearless(date: Quantity) -> tuple[int, int] | None:
    """Month and day; the day of a month alone is 0; None for longer ranges."""
    if math.isinf(date.low) or math.isinf(date.high) or date.high - date.low > 31:
        return None
    first = datetime.date.fromordinal(int(date.low))
    return first.month, first.day if date.high == date.low else 0


MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr, ("",) * 9 + ("Sept",))
    for number, name in enumerate(names)
    if name
}
_SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty
""".split()
_WORDS = {word: float(value) for value, word in enumerate(_SMALL)} | {
    word: 10.0 * value
    for value, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)
}
_WORDS |= {"dozen": 12.0, "hundred": 100.0, "once": 1.0, "twice": 2.0, "thrice": 3.0}
_SCALES = {"hundred": 1e2, **{name: 10.0**power for name, power in SCALES.items()}}
_SCALES |= {word: _SCALES[name] for word, name in SAME.items() if name in SCALES}
_SHORT_SCALES = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12}

_UNITS: dict[str, tuple[str, float]] = {}
"""Name of a unit → its base unit, and how many of these it has."""
for _base, _names in {
    "metre": "m metre meter metres meters 1; km kilometre kilometer kilometres kilometers 1e3; "
    "cm centimetre centimeter centimetres centimeters 0.01; mm millimetre millimeter millimetres "
    "millimeters 0.001; mile miles mi 1609.344; ft foot feet 0.3048; inch inches 0.0254; "
    "yard yards 0.9144",
    "gram": "g gram grams gramme grammes 1; kg kilogram kilograms kilogramme kilogrammes 1e3; "
    "mg milligram milligrams 1e-3; tonne tonnes 1e6; lb lbs 453.592; ounce ounces oz 28.3495",
    "second": "s sec second seconds 1; ms millisecond milliseconds 1e-3; min minute minutes 60; "
    "h hr hour hours 3600",
    "day": "day days 1; week weeks 7; fortnight 14",
    "month": "month months 1; year years yr yrs 12; decade decades 120; century centuries 1200",
    "litre": "l litre liter litres liters 1; ml millilitre milliliter millilitres milliliters 1e-3",
    "percent": "% percent percentage pct prozent procent 1",
    "dollar": "dollar dollars usd us$ 1; cent cents 0.01",
    "euro": "euro euros eur 1",
    "pound": "gbp sterling 1",
    "celsius": "°c celsius 1",
    "watt": "w watt watts 1; kw kilowatt kilowatts 1e3; mw megawatt megawatts 1e6",
    "byte": "byte bytes 1; kb kilobyte kilobytes 1e3; mb megabyte megabytes 1e6; gb gigabyte "
    "gigabytes 1e9",
}.items():
    for _each in _names.split(";"):
        *_spellings, _factor = _each.split()
        _UNITS |= dict.fromkeys(_spellings, (_base, float(_factor)))

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = late(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<mon>{_MONTH})\b\.?"
    rf"(?:\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*(?:%|percent)))?(?:,?\s+(?:of\s+)?(?P<y>\d{{4}})\b)?"
    r"|\b(?P<dec>(?:1[0-9]|20)\d0)['’]?s\b"
    r"|\b(?P<cent>\d{1,2})(?:st|nd|rd|th)[\s-]+century\b"
    r"|\b(?P<from>1[0-9]\d\d|20\d\d)\s?[-\u2013/]\s?(?P<to>\d{2}(?:\d{2})?)\b(?!-)"
    r"|(?<![\d.,$€£])\b(?P<year>1[0-9]\d\d|20\d\d)\b(?![.,]\d|\s*(?:%|percent|people|km|miles))",
    re.IGNORECASE,
)
_SPELLED = "|".join(sorted({*_WORDS, *_SCALES}, key=len, reverse=True))
_SCALE_NAMES = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER = late(
    r"(?:(?P<symbol>us\$|(?<!\d\s)(?<!\d)[$€£¥₹])\s?)?(?P<sign>(?<![\w\d)])[-\u2212])?"
    r"(?P<digits>\d{1,3}(?:[\u00a0\u2009\u202f'’]\d{3})+(?:[.,]\d+)?|\d+(?:,\d{3})+(?:\.\d+)?"
    r"|\d{1,3}(?:\.\d{3})+(?:,\d+|\.\d{3})|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?)"
    r"(?P<ordinal>st|nd|rd|th)?"
    r"(?:\s?(?P<short>bn|mn|mio|tn|[kmb])(?![\w/]))?"
    rf"(?:[\s-]+(?P<scale>{_SCALE_NAMES})s?\b)?"
    rf"|\b(?P<spelled>(?:{_SPELLED})(?:[\s-]+(?:and\s+)?(?:{_SPELLED}))*)\b",
    re.IGNORECASE,
)
_UNIT = late(r"[\s-]*(?P<unit>%|°c\b|us\$|[€$£]|[^\W\d_]+)", re.IGNORECASE)
_MORE = late(
    r"\b(?:(?P<more>more than|over|above|exceed(?:s|ed|ing)?|greater than|higher than|upwards of|"
    r"longer than|surpass(?:ed|es|ing)?|better than)"
    r"|(?P<least>at least|no (?:fewer|less) than|not less than|minimum of)"
    r"|(?P<less>less than|fewer than|under|below|lower than|shorter than|almost|nearly)"
    r"|(?P<most>at most|up to|no more than|not more than|maximum of)"
    r"|(?P<about>about|around|approximately|roughly|some|circa|c\.|~|estimated))"
    r"(?:\s+(?:the|a|an|age of|of|only|just))*\s*(?:us)?[$€£]?$",
    re.IGNORECASE,
)
_BEFORE_YEAR = late(
    r"(?:\b(?:in|of|since|after|before|by|until|till|from|to|during|about)|[(,])\s*$", re.IGNORECASE
)
_PLUS = late(r"\s?(?:\+|(?:or|and) (?:more|over|above|older|higher)\b)", re.IGNORECASE)
_AROUND = late(
    r"\b(?:(?P<after>after|since|from|following)|(?P<before>before|until|till|prior to|by))"
    r"(?:\s+(?:the|early|late|mid|year|in|on))*\s*$",
    re.IGNORECASE,
)


def quantities(text: str) -> list[Quantity]:
    """The numbers and dates of a text, in order.

    >>> [(each.value, each.unit) for each in quantities("It cost $1.2bn, or 12 % of 1,234 farms.")]
    [(1200000000.0, 'dollar'), (12.0, 'percent'), (1234.0, 'farm')]
    """
    text = western(text)
    dates = list(_dates(text))
    taken = [(each.start, each.end) for each in dates]
    numbers = (
        each
        for each in _numbers(text)
        if all(each.end <= start or end <= each.start for start, end in taken)
    )
    return sorted((*dates, *numbers), key=lambda each: each.start)


def _dates(text: str) -> Iterator[Quantity]:
    for at, end, low, high, unit in _spans(text):
        lead = max(0, at - 40)
        around = _AROUND.search(text[lead:at])
        start = lead + around.start() if around is not None else at
        if around is not None and around["before"]:
            low, high = -math.inf, high if around[0].split()[0].lower() == "by" else low
        elif around is not None and around["after"] and around["after"].lower() != "from":
            low, high = (low if around["after"].lower() == "since" else high), math.inf
        yield Quantity("date", low, high, unit, False, start, end)


def _spans(text: str) -> list[tuple[int, int, float, float, str]]:
    """Start and end of each date, its first and last day and its unit."""
    found = []
    for match in _DATE.finditer(text):
        if (days := _days(match)) is not None:
            unit = YEARLESS if match["mon"] and not match["y"] else ""
            found.append((*match.span(), *days, unit))
    # In other languages or in figures: longer than what English has of it, such as the year.
    for form, start, end in others(text):
        within = [each for each in found if each[0] < end and start < each[1]]
        if (span := _days_of(form)) is None or any(e - s > end - start for s, e, *_ in within):
            continue
        readings = [each for each in within if each[:2] == (start, end)]
        low = min(span[0], *(each[2] for each in readings), math.inf)
        high = max(span[1], *(each[3] for each in readings), -math.inf)
        found = [each for each in found if each not in within] + [(start, end, low, high, "")]
    return found


def _days_of(form: str) -> tuple[float, float] | None:
    """The days of a date in ISO's form with its year; None of other forms."""
    year, *rest = form.split("-")
    if not year or not rest:
        return None
    month, *day = map(int, rest)
    return _exact(int(year), month, day[0]) if day else _month(int(year), month)


def _days(match: re.Match[str]) -> tuple[float, float] | None:
    """The days that a date names; None for what is none, such as "may" and a wrong day."""
    if match["dec"]:
        year = int(match["dec"])
        return _range(year, 1, 1), _range(year + 9, 12, 31)
    if match["cent"]:
        year = 100 * (int(match["cent"]) - 1)
        return (_range(max(1, year), 1, 1), _range(year + 100, 12, 31)) if year < 2100 else None
    if match["from"]:
        first = int(match["from"])
        last = int(match["from"][: -len(match["to"])] + match["to"])
        return (_range(first, 1, 1), _range(last, 12, 31)) if last > first else None
    if match["year"]:
        year = int(match["year"])
        if year < 1500 and not _BEFORE_YEAR.search(match.string[: match.start()][-12:]):
            return None
        return _range(year, 1, 1), _range(year, 12, 31)
    name, day_text = match["mon"], match["d1"] or match["d2"]
    is_word = not match["y"] and name.lower() in ("may", "march", "mar")
    if not name[0].isupper() or (is_word and not day_text):
        return None
    month = MONTHS[name.lower()]
    if match["y"] is None:
        # Without its year it is a day of the year 4, a leap year that nothing is dated to.
        return _exact(4, month, int(day_text)) if day_text else _month(4, month)
    year = int(match["y"])
    return _exact(year, month, int(day_text)) if day_text else _month(year, month)


def _range(year: int, month: int, day: int) -> float:
    return float(datetime.date(year, month, day).toordinal())


def _exact(year: int, month: int, day: int) -> tuple[float, float] | None:
    try:
        value = _range(year, month, day)
    except ValueError:
        return None
    return value, value


def _month(year: int, month: int) -> tuple[float, float] | None:
    if year < 1:
        return None
    return _range(year, month, 1), _range(year, month, calendar.monthrange(year, month)[1])


def _numbers(text: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        value = _value(match)
        if value is None or _is_part(text, match):
            continue
        start, end = match.span()
        unit, factor, is_measure, end = _unit(text, match, end)
        written = value
        value *= factor
        low, high, lead, end = _bounds(text, match, value, end)
        start += _lead(match) - lead
        yield Quantity("number", low, high, unit, is_measure, start, end, value, written)


def _lead(match: re.Match[str]) -> int:
    return len(match[0]) - len(match[0].lstrip())


def _is_part(text: str, match: re.Match[str]) -> bool:
    """Whether a number is a part of a name, as in "H2O", "B-52" and "3.4.1"."""
    before, after = text[max(0, match.start("digits") - 1)], text[match.end() : match.end() + 2]
    if match["spelled"]:
        return match["spelled"].lower() == "one" or match["spelled"].lower() == "second"
    if match["ordinal"]:
        return False
    joined = before.isalpha() or before == "_" or (before == "-" and not match["sign"])
    return (match.start("digits") > 0 and joined and not match["symbol"]) or bool(
        after[:1] == "." and after[1:2].isdigit()
    )


def _value(match: re.Match[str]) -> float | None:
    if match["spelled"]:
        return _spelled(re.split(r"[\s-]+", match["spelled"].lower()))
    digits = match["digits"]
    # A lone point is a decimal one, as in English, even before three digits.
    is_plain = re.fullmatch(r"\d+(?:\.\d+)?", digits) is not None
    value = float(digits if is_plain else plain_digits(digits))
    if match["sign"]:
        value = -value
    value *= _SHORT_SCALES.get((match["short"] or "").lower(), 1.0) if _scaled(match) else 1.0
    return value * _SCALES.get((match["scale"] or "").lower(), 1.0)


def _scaled(match: re.Match[str]) -> bool:
    """Whether the letter behind a number is a thousand or a million, and not a unit."""
    return bool(match["symbol"]) or len(match["short"] or "") > 1 or match["short"] in ("M", "B")


def _spelled(words: list[str]) -> float | None:
    total, current = 0.0, 0.0
    for word in words:
        if word == "and":
            continue
        if word == "hundred" and current:
            current *= 100.0
        elif word in _SCALES and word != "hundred":
            total += max(current, 1.0) * _SCALES[word]
            current = 0.0
        else:
            current += _WORDS.get(word, 0.0)
    return total + current


def _unit(text: str, match: re.Match[str], end: int) -> tuple[str, float, bool, int]:
    """A number's unit, its factor, whether it is a measure, and where it ends."""
    if match["symbol"]:
        symbol = match["symbol"][-1]
        return CURRENCIES[symbol], 1.0, True, end
    short = match["short"]
    if short and not _scaled(match):  # "5 m"
        base, factor = _UNITS.get(short.lower(), ("", 1.0))
        return base or short, factor, bool(base), end
    if match["ordinal"]:
        return "ordinal", 1.0, False, end
    behind = _UNIT.match(text, end)
    if behind is None:
        return "", 1.0, False, end
    word = behind["unit"].lower()
    if word in _UNITS and not (word in ("m", "s", "h", "g", "l", "w") and "-" in behind[0]):
        base, factor = _UNITS[word]
        return base, factor, True, behind.end()
    if word in CURRENCIES:
        return CURRENCIES[word], 1.0, True, behind.end()
    if word == "per" and text[behind.end() :].lstrip().lower().startswith("cent"):
        return "percent", 1.0, True, text.lower().index("cent", behind.end()) + 4
    return (stem(word) if len(word) > 2 else ""), 1.0, False, end


def _bounds(
    text: str, match: re.Match[str], value: float, end: int
) -> tuple[float, float, int, int]:
    """The values that a number allows; characters of the words before it; where it ends."""
    behind = text[max(0, match.start() - 40) : match.start() + _lead(match)]
    before = _MORE.search(behind)
    step = 1e-9 * max(1.0, abs(value))
    if (plus := _PLUS.match(text, end)) is not None:
        return value - step, math.inf, 0, plus.end()
    if before is None:
        return value - step, value + step, 0, end
    lead = len(before[0])
    if before["more"]:
        return value + 2 * step, math.inf, lead, end
    if before["least"]:
        return value - step, math.inf, lead, end
    if before["less"]:
        return -math.inf, value - 2 * step, lead, end
    if before["most"]:
        return -math.inf, value + step, lead, end
    return value - 0.1 * abs(value), value + 0.1 * abs(value), lead, end
