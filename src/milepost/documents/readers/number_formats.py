"""Numbers of a spreadsheet as it shows them: ``12.5%`` where the file stores 0.125.

Formats of digits, thousands, decimals, per cent, scale, exponents, fractions and text are read, for
positive, negative and zero numbers or for those that meet a condition (ECMA-376, part 1, 18.8.31).
A number in any other format is written as it is stored. Dates are not.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 48: "##0.0E+0",
    **dict.fromkeys((5, 6, 37, 38, 41, 42), "#,##0;(#,##0)"),
    **dict.fromkeys((7, 8, 39, 40, 43, 44), "#,##0.00;(#,##0.00)"),
}  # fmt: skip
"""Formats that a workbook names by a number alone; amounts are without their currency, which is
that of the program."""

_PART = re.compile(
    r"\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)|\*.|(?P<gap>_.)"  # *x fills the cell, _x is a gap
    r"|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]"
    r"|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color ?\d+)\]"
    r"|\[(?P<sign><=|>=|<>|<|>|=)(?P<bound>-?\d{1,15}(?:\.\d{1,15})?)\]"
    r"|(?P<general>General|@)|(?P<power>E[+-])|/(?P<divisor>[1-9]\d{0,6}|[#0?]{1,7})"
    r"|(?P<place>[#0?])|(?P<point>\.)|(?P<commas>,+)|(?P<literal>[$€£¥+\-(): /%])",
    re.IGNORECASE,
)
_TEXTS = ("quoted", "escaped", "gap", "currency", "literal")
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "=": operator.eq,
    "<=": operator.le, ">=": operator.ge, "<>": operator.ne,
}  # fmt: skip
_DIGITS_MOST = 15
"""Digits that a spreadsheet program has."""

_Parts = list[tuple[bool, str]]
"""Runs of places of digits (``#``, ``0``, ``?``) and texts in order; true for places."""


@dataclass(slots=True)
class _Section:
    """What a format says of numbers of one kind."""

    whole: _Parts = field(default_factory=list)  # what is in front of the decimal point
    decimals: _Parts = field(default_factory=list)  # what is behind it
    power: _Parts = field(default_factory=list)  # what is behind the sign of an exponent
    # what is behind a fraction or a number as it is stored
    behind: _Parts = field(default_factory=list)
    is_general: bool = False  # whether the number is shown as it is stored
    exponent: str = ""  # the sign of an exponent, ``E+`` or ``E-``; empty if there is none
    divisor: str = ""  # the divisor of a fraction or the places for it; empty if there is none
    has_groups: bool = False  # whether thousands are set apart
    scale: int = 0  # how often the number is divided by a thousand
    # which numbers have this format; None if their signs decide
    condition: tuple[str, float] | None = None
    shift: int = 0  # powers of ten by which the number is multiplied
    step: Decimal = Decimal(1)  # the unit of the last decimal
    has_places: bool = True  # whether it shows digits


def shown(code: str, value: float) -> str | None:
    """Return what a format shows of a number; None if the format is not read.

    >>> shown("0.0%", 0.125), shown("#,##0;(#,##0)", -1234), shown('"$"0.0,', 1500)
    ('12.5%', '(1,234)', '$1.5')
    >>> shown("0.00E+00", 12345), shown("# ?/?", 1.25), shown("000-0000", 5551234)
    ('1.23E+04', '1 1/4', '555-1234')
    """
    sections, _ = _sections(code)
    if not sections:
        return None
    place = _chosen(sections, value)
    section = sections[place] if place < len(sections) else None
    if section is None:
        return None
    try:
        text = _written(section, abs(value))
    except (InvalidOperation, OverflowError):  # infinite, or too many digits
        return None
    is_signed = place == 0
    if any(each and each.condition for each in sections):
        sign, bound = section.condition or (">", 0)
        is_signed = sign not in ("<", "<=") or bound > 0
    is_negative = value < 0 and is_signed and any(each in "123456789" for each in text)
    return " ".join(f"{'-' if is_negative else ''}{text}".split())


def text_shown(code: str, text: str) -> str:
    """Return what a format shows of a text.

    >>> text_shown('0;@" kg"', "5"), text_shown("0;-0", "none"), text_shown(";;;", "secret")
    ('5 kg', 'none', '')
    """
    _, section = _sections(code)
    if section is None:
        return text
    parts = [*section.whole, (False, text if section.is_general else ""), *section.behind]
    return " ".join("".join(each for _, each in parts).split())


def is_date(code: str) -> bool:
    """Whether a format shows a number as a date or a time.

    >>> is_date("d-mmm-yy"), is_date("General"), is_date('[Red]0 "days"')
    (True, False, False)
    """
    return re.search("[ymdhs]", unquoted(code), re.IGNORECASE) is not None


def unquoted(code: str) -> str:
    """Return a format without its texts, colours and gaps."""
    return _NO_LETTERS.sub("", code)


_NO_LETTERS = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|[_*].")


def _chosen(sections: tuple[_Section | None, ...], value: float) -> int:
    """Find the section of a number: by the conditions, else by its sign."""
    conditions = [section.condition if section else None for section in sections]
    if any(conditions[:2]):
        for place, condition in enumerate(conditions[:2]):
            if condition and _COMPARISONS[condition[0]](value, condition[1]):
                return place
        return 2 if all(conditions[:2]) else 1
    if value < 0 and len(sections) > 1:
        return 1
    return 2 if value == 0 and len(sections) > 2 else 0


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[tuple[_Section | None, ...], _Section | None]:
    """Read a format: its sections for numbers, and the one for texts, None if there is none.

    A section for numbers that is not read is None; there are none if that is the first.
    """
    parts = re.findall(r"(?:^|;)((?:\"[^\"]*\"|\\.|[^;])*)", code)
    is_for_text = len(parts) > len(("positive", "negative", "zero")) or "@" in unquoted(parts[-1])
    text = _section(parts.pop()) if is_for_text else None
    read = () if code.casefold() == "general" else tuple(map(_section, parts))
    first = read[0] if read else None
    is_read = first and (first.whole or first.decimals or first.divisor or first.is_general)
    return read if is_read or (first and not parts[0]) else (), text  # an empty one hides


def _section(code: str) -> _Section | None:
    section, at = _Section(), 0
    region = section.whole
    while at < len(code):
        match = _PART.match(code, at)
        if match is None:
            return None
        at = match.end()
        kind = match.lastgroup or ""
        if kind in _TEXTS:
            region.append((False, " " if kind == "gap" else match[kind]))
            section.shift += 2 * (match["literal"] == "%")
        elif kind == "place":
            before = region.pop()[1] if region and region[-1][0] else ""
            region.append((True, before + match[0]))
        elif kind == "bound":
            section.condition = match["sign"], float(match["bound"])
        elif kind == "commas":
            section.has_groups |= code[at : at + 1] in ("#", "0", "?")
            section.scale += 0 if code[at : at + 1] in ("#", "0", "?") else len(match[0])
        elif kind == "point" and region is section.whole:
            region = section.decimals
        elif kind == "general" and not any(is_place for is_place, _ in region):
            section.is_general, region = True, section.behind
        elif kind == "power" and not section.exponent and not section.divisor:
            section.exponent, region = match[0], section.power
        elif kind == "divisor" and region is section.whole and any(p for p, _ in region[-1:]):
            region.pop()  # the places of the dividend
            section.divisor, region = match["divisor"], section.behind
        elif kind:
            return None  # two points, a date
    held = section.whole + section.decimals
    section.has_places = any(is_place for is_place, _ in held) or bool(section.divisor)
    section.shift -= 3 * section.scale
    section.step = Decimal(1).scaleb(-_count(section.decimals))
    return section


def _written(section: _Section, value: float) -> str:
    exact = Decimal(f"{value:.{_DIGITS_MOST}g}").scaleb(section.shift)
    if section.is_general:
        before, behind = _filled(section.whole, ""), _filled(section.behind, "")
        is_whole = value.is_integer() and value < 10 ** (_DIGITS_MOST + 1)
        return f"{before}{value:{'.0f' if is_whole else '.10g'}}{behind}"
    if not section.has_places:
        return "".join(text for _, text in section.whole)
    if section.divisor:
        return _fraction(section, exact)
    if not section.exponent:
        return _fixed(section, exact.quantize(section.step, ROUND_HALF_UP))
    period = _count(section.whole) or 1
    power = exact.adjusted() // period * period if exact else 0
    factor = exact.scaleb(-power).quantize(section.step, ROUND_HALF_UP)
    if factor >= 10**period:  # rounded up, to another digit
        power += period
        factor = exact.scaleb(-power).quantize(section.step, ROUND_HALF_UP)
    sign = "-" if power < 0 else section.exponent[1:].replace("-", "")
    return f"{_fixed(section, factor)}E{sign}{_filled(section.power, str(abs(power)))}"


def _count(parts: _Parts) -> int:
    return sum(len(text) for is_place, text in parts if is_place)


def _fixed(section: _Section, rounded: Decimal) -> str:
    first, _, last = f"{rounded:f}".partition(".")
    said = _filled(section.whole, first.lstrip("0"), section.has_groups)
    point = "."
    for is_place, text in section.decimals:
        if not is_place:
            said += text
            continue
        needed = max(text.rfind("0") + 1, len(last.rstrip("0")))
        figures, last = last[: min(needed, len(text))], last[len(text) :]
        if figures:
            said, point = said + point + figures, ""
    return said


def _fraction(section: _Section, exact: Decimal) -> str:
    has_whole = any(is_place for is_place, _ in section.whole)
    whole = int(exact) if has_whole else 0
    rest = Fraction(exact) - whole
    if section.divisor.strip("#0?"):
        divisor = int(section.divisor)
        dividend = round(rest * divisor)
    else:
        dividend, divisor = rest.limit_denominator(
            10 ** len(section.divisor) - 1
        ).as_integer_ratio()
    if has_whole and dividend == divisor:
        whole, dividend = whole + 1, 0
    text = _filled(section.whole, str(whole) if whole or not dividend else "")
    if dividend or not has_whole:
        text += f" {dividend}/{divisor}"
    return text + _filled(section.behind, "")


def _filled(parts: _Parts, digits: str, has_groups: bool = False) -> str:
    """Put the digits of a whole number in their places, the last one in the last place."""
    first = next((at for at, (is_place, _) in enumerate(parts) if is_place), None)
    if first is None:
        return "".join(text for _, text in parts) + digits
    said = ""
    for at in range(len(parts) - 1, -1, -1):
        is_place, text = parts[at]
        if is_place:
            left = max(0, len(digits) - len(text)) if at > first else 0
            digits, figures = digits[:left], digits[left:]
            text = figures.rjust(len(text.lstrip("#?")), "0")
            if has_groups and text:
                text = f"{int(text):0{len(text) + (len(text) - 1) // 3},}"
        said = text + said
    return said
