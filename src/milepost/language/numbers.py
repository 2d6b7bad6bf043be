"""Numbers, units, dates and periods in the forms in which people write them.

Tables and patterns, and what a number or a date is in one form. The page that searches itself gets
them from here, so a spelling is added in one place.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from milepost.language.patterns import late


def _rows(table: str) -> list[list[str]]:
    return [row.split() for row in table.split(";")]


SAME = {
    spelling: word
    for word, *spellings in _rows(
        """
        percent pct prozent procent pourcent porciento percento процент процента процентов;
        thousand tsd tausend; million mio mln millionen millones milioni miljoen;
        billion mrd bln milliarde milliarden milliard milliards miliardi miliardo miljard;
        meter metre metres metern; kilometer km kilometre kilometres kilometern kilometros;
        centimeter cm centimetre centimetres; millimeter mm millimetre millimetres;
        gram gramme grammes gramm; kilogram kg kilogramme kilogrammes kilogramm;
        milligram mg milligramm; liter litre litres litern; milliliter ml millilitre millilitres;
        megahertz mhz; gigahertz ghz; foot feet; hour hr hrs; year yr yrs; fiscal fy;
        dollar usd cad aud nzd hkd sgd; euro eur; pound gbp; yen jpy; franc chf; rupee inr;
        yuan cny rmb
        """
    )
    for spelling in spellings
}
"""Word in lower case and without accents → the word that it is found by, wherever it stands."""

SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Name of a power of ten → the power."""

_SHORT_SCALES = {"bn": "billion", "mn": "million", "tn": "trillion"}
_MONEY_SCALES = {"k": "thousand", "m": "million", "mm": "million"}
_CODES = "USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|HKD|SGD|INR|CNY|RMB|SEK|NOK|DKK|PLN|ZAR|BRL"
"""Codes of currencies that stand in front of a number."""
CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
"""Sign of a currency → its name."""

_UNITS = {
    unit: " ".join(words)
    for unit, *words in _rows(
        """
        % percent; ° degree; °c c degree celsius; °f f degree fahrenheit; x x times; × x times;
        m m meter; m2 m2 square meter; m3 m3 cubic meter; km2 km2 square kilometer; ft ft foot;
        g g gram; lb lb pound; lbs lbs pound; oz oz ounce; l l liter; kb kb kilobyte;
        mb mb megabyte; gb gb gigabyte; tb tb terabyte; h h hour; min min minute; sec sec second;
        km/h kilometer h hour; mph mph mile hour; kw kw kilowatt; mw mw megawatt; gw gw gigawatt;
        kwh kwh kilowatt hour; mwh mwh megawatt hour; gwh gwh gigawatt hour
        """
    )
} | CURRENCIES
"""What is a unit only behind a number → the words that it is found by."""

UNIT_WORDS = {*SAME.values(), *" ".join(_UNITS.values()).split()} - {*SCALES, *_UNITS, "c", "f"}
"""Units and currencies in full."""

_MONTHS = {
    name: number
    for names in _rows(
        """
        january february march april may june july august september october november december;
        jan feb mar apr may jun jul aug sep oct nov dec;
        januar februar märz april mai juni juli august sept oktober november dezember;
        janvier février mars avril mai juin juillet août septembre octobre novembre décembre;
        janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre;
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre;
        gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre;
        janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro;
        januari februari maart april mei juni juli augustus september oktober november december;
        января февраля марта апреля мая июня июля августа сентября октября ноября декабря
        """  # noqa: E501
    )
    for number, name in enumerate(names, 1)
}
PERIODS = {
    f"{ordinal} {noun}": f"{letter}{number}"
    for number, ordinals in enumerate(
        _rows(
            """
            first 1st erst ersten premier; second 2nd zweit zweiten deuxiem;
            third 3rd dritt dritten troisiem; fourth 4th viert vierten quatriem
            """
        ),
        1,
    )
    for letter, *nouns in _rows("q quarter quartal trimestr; h half halbjahr")
    for noun in nouns
    for ordinal in (*ordinals, *([str(number)] if noun == "quartal" else []))
}
"""Two terms in a row → the period that they name, too."""


def _cased(word: str) -> str:
    """Match a word with a capital letter, an abbreviation in any case, one letter as it is."""
    many = 0 if len(word) == 1 else len(word) if len(word) < 4 else 1
    return "".join(f"[{each}{each.upper()}]" for each in word[:many]) + word[many:]


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(_cased, sorted(words, key=len, reverse=True)))


_END = r"(?![^\W_])"
_GAP = r"[ \u00a0\u202f]?"
_GROUPS = r"\d{1,3}(?:[\u00a0\u2009\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)?"
_MONEY = rf"(?:[$€£¥₹]|{_CODES})[ \u00a0]?"
_SCALE = _any_of(
    [*_SHORT_SCALES, *SCALES, *(f"{scale}s" for scale in SCALES)]
    + [word for word, scale in SAME.items() if scale in SCALES]
)
_UNIT = _any_of(
    [unit for unit in _UNITS if unit[0].isalpha() and unit[-1] not in "x23"]
    + ["pct", "km", "cm", "mm", "kg", "mg", "ml", "mhz", "ghz"]
)
_BEHIND = (
    rf"(?:{_GAP}(?:[%€£¥₹]|°(?:{_GAP}[CFcf]{_END})?|(?:{_SCALE}){_END}(?:\.?{_GAP}[€£¥₹])?"
    rf"|(?:[Pp]er ?cent|[Pp]ro[cz]ent|pour ?cent|por ?ciento|per ?cento|k?m[²³23]|L|{_UNIT}){_END})"
    rf"|[x×]{_END})"
)
_PERIOD = r"(?:[Ff][Yy]|[Qq][1-4][ '’]?[Ff][Yy]|[Qq][1-4]['’]|[1-4][Qq])[ '’]?(?:19|20)?\d\d"
NUMBER = (
    # Nothing else begins one: half the time of the pattern.
    r"(?=[\d$€£¥₹FfQq]|[A-Z]{3}[ \u00a0]?\d)(?:"
    rf"{_PERIOD}{_END}"
    rf"|{_MONEY}(?:{_GROUPS}|\d+(?:[.,]\d+)*)(?:{_BEHIND}|[Mm][Mm]|[MmKk])?{_END}"
    rf"|(?:{_GROUPS}|\d+(?:[.,]\d+)+)(?:{_BEHIND})?|\d+{_BEHIND})"
)
"""Pattern of a number with its unit; plain digits, alone or in a name, are words."""

_SPACE = r"[ \n\u00a0\u202f]"
_DAY = "(?:3[01]|[12][0-9]|0?[1-9])"
_YEAR = "[12][0-9]{3}"
_NAMES = "|".join(
    f"[{first}{first.upper()}](?:{'|'.join(f'{each[1:]}|{each[1:].upper()}' for each in names)})"
    for first, names in groupby(sorted(_MONTHS, reverse=True), lambda name: name[0])
)
_INITIALS = "".join(sorted({name[0] + name[0].upper() for name in _MONTHS}))
PATTERNS = {
    "period": r"(?=\d?[FfQq])(?:[Qq]?([1-4])[Qq]?)?[ '’]?([Ff][Yy])?[ '’]?(\d+)",
    "parts": rf"({_MONEY})?(\d(?:[\d.,\u00a0\u2009\u202f'’]*\d)?)(.*)",
    "thousands": r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)",
    "spaced": rf"(?<![^\W_])(?<![0-9][ .,])[1-9][0-9]{{0,2}}(?: [0-9]{{3}})+(?! ?[0-9]){_END}",
    "date": (
        rf"(?=[0-9{_INITIALS}])(?<![^\W_])(?<![0-9][./-])(?:"
        rf"(?P<year_first>{_YEAR})(?P<mark>[./-])(?P<second>[01]?[0-9])(?P=mark)(?P<third>{_DAY})"
        rf"|(?P<one>{_DAY})(?P<sign>[./-])(?P<other>{_DAY})(?P=sign)(?P<last>{_YEAR}|[0-9]{{2}})"
        rf"|(?:(?P<before>{_DAY})(?:st|nd|rd|th|er|\.|º)?{_SPACE}{{0,2}}(?:(?:of|de){_SPACE})?)?"
        rf"(?P<month>{_NAMES})\.?(?:{_SPACE}(?P<behind>{_DAY})(?:st|nd|rd|th)?(?![^\W_]))?"
        rf"(?:,?{_SPACE}{{0,2}}(?:(?:of|del?){_SPACE})?(?P<year>{_YEAR}))?"
        r")(?:(?![^\W_])|(?=T[0-9]))"
    ),
}
"""Patterns of what is read further, by name."""

_SPACES = str.maketrans("", "", "\u00a0\u2009\u202f'’")
TABLES = {
    "same": SAME,
    "scales": SCALES,
    "shortScales": _SHORT_SCALES,
    "moneyScales": _MONEY_SCALES,
    "currencies": CURRENCIES,
    "units": _UNITS,
    "months": _MONTHS,
    "periods": PERIODS,
}
"""What the page that searches itself needs of this, too, with the patterns."""

_LATE = {name: late(source) for name, source in PATTERNS.items()}


class Amount(NamedTuple):
    """A number with its unit: digits, without marks of thousands, 1.2 of "$1.2bn"; times its scale.

    ``words`` are of its scale, unit and currency: billion, dollar. ``is_word``: digits with one
    letter joined, which may be a name: "5g".
    """

    digits: str
    value: str
    words: tuple[str, ...]
    is_word: bool = False


def amount(written: str) -> Amount:
    """Read what ``NUMBER`` matches.

    >>> amount("$1.2bn")
    Amount(digits='1.2', value='1200000000', words=('billion', 'dollar'), is_word=False)
    >>> amount("Q3 FY24")
    Amount(digits='2024', value='2024', words=('q3', 'fiscal'), is_word=False)
    """
    if (period := _LATE["period"].fullmatch(written)) is not None:
        quarter, fiscal, year = period.groups()
        names = [f"q{quarter}"] * bool(quarter) + ["fiscal"] * bool(fiscal)
        year = _full_year(western(year))
        return Amount(year, year, tuple(names))
    parts = _LATE["parts"].fullmatch(written)
    before, digits, behind = parts.groups() if parts else ("", written, "")
    plain = plain_digits(western(digits))
    unit = "".join(unicodedata.normalize("NFKC", behind).lower().split())
    money = (before or "").strip(" \u00a0").lower()
    if len(unit) > 1 and unit[-1] in CURRENCIES:
        money, unit = unit[-1], unit[:-1].rstrip(".")
    scale = _MONEY_SCALES.get(unit) if money else None
    scale = scale or _SHORT_SCALES.get(unit) or SAME.get(unit) or unit.removesuffix("s")
    words = [scale] if scale in SCALES else _UNITS.get(unit, unit).split()
    words += [CURRENCIES.get(money, money)] * bool(money)
    is_word = len(behind) == 1 and behind.isalpha() and plain.isdigit() and not money
    return Amount(plain, _scaled(plain, SCALES.get(scale, 0)), tuple(words), is_word)


def western(digits: str) -> str:
    """Write the digits of any script as 0 to 9."""
    if digits.isascii():
        return digits
    return "".join(str(int(each)) if each.isdecimal() else each for each in digits)


def plain_digits(digits: str) -> str:
    """Write a number without marks of thousands and with a decimal point.

    Three digits behind the only mark are thousands: both ways of writing them meet, at the price
    of decimals with three places.

    >>> [plain_digits(each) for each in ("1,234", "1.234", "1.234,5", "1,5", "0.125", "3.10.1998")]
    ['1234', '1234', '1234.5', '1.5', '0.125', '3.10.1998']
    """
    digits = digits.translate(_SPACES)
    if _LATE["thousands"].fullmatch(digits):
        return digits.replace(next(sign for sign in digits if sign in ".,"), "").replace(",", ".")
    return digits.replace(",", "." if digits.count(",") == 1 and "." not in digits else "")


def _scaled(digits: str, power: int) -> str:
    """Move the decimal point of a number.

    >>> [_scaled(each, 6) for each in ("1200", "0.5", "1.2345678", "1.2.3")]
    ['1200000000', '500000', '1234567.8', '1.2.3']
    """
    whole, _, part = digits.partition(".")
    if not power or "." in part:
        return digits
    moved = (whole + part[:power].ljust(power, "0")).lstrip("0") or "0"
    return f"{moved}.{part[power:]}" if part[power:] else moved


def _full_year(year: str) -> str:
    return year if len(year) > 2 else f"{'19' if year >= '70' else '20'}{year}"


def others(text: str) -> Iterator[tuple[str, int, int]]:
    """What a text has in another form than its words: dates, and thousands apart by spaces.

    A date is its year, month and day, or as much of them as stands there; of two figures that may
    both be the month, both. Yields each form with its start and end.

    >>> list(others("5 March 2024"))
    [('2024-03-05', 0, 12)]
    >>> [form for form, _, _ in others("5.3.2024, 05/03/2024, May 2024, 5th May, 12 345")]
    ['2024-03-05', '2024-03-05', '2024-05-03', '2024-05', '--05-05', '12345']
    """
    for match in _LATE["date"].finditer(text):
        for form in dict.fromkeys(_dates(match)):
            yield form, *match.span()
    yield from spaced(text)


def spaced(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each number whose thousands are apart by spaces: its digits, start and end."""
    for match in _LATE["spaced"].finditer(text):
        yield match[0].replace(" ", ""), *match.span()


def _dates(match: re.Match[str]) -> Iterator[str]:
    """The readings of a date; none of what is none, such as "may" and a wrong day."""
    found = match.groupdict()
    if (name := found["month"]) is not None:
        year, day = found["year"], found["before"] or found["behind"]
        if year or (day and name[0].isupper()):
            yield from _form(year, _MONTHS[name.lower()], day)
    elif (year := found["year_first"]) is not None:
        yield from _form(year, int(found["second"]), found["third"])
    else:
        one, other, year = found["one"], found["other"], found["last"]
        if len(year) == 4 or len(one) == len(other) == 2:
            yield from _form(_full_year(year), int(other), one)
            if found["sign"] != ".":
                yield from _form(_full_year(year), int(one), other)


def _form(year: str | None, month: int, day: str | None) -> Iterator[str]:
    if 1 <= month <= 12 and int(day or 1) <= calendar.monthrange(int(year or 2000), month)[1]:
        yield f"{year or '-'}-{month:02}" + (f"-{int(day):02}" if day else "")
