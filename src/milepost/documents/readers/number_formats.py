"""Numbers of a spreadsheet as it shows them: ``12.5%`` where the file stores 0.125.

Formats of one fixed pattern are read: digits, thousands, decimals, per cent, scale and text, for
positive, negative and zero numbers (ECMA-376, part 1, 18.8.31). A number in any other format is
written as it is stored. Dates are no numbers here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from itertools import product
from xml.etree import ElementTree

from milepost.documents.readers.archive import attribute, every, number

_BUILT_IN = {
    "1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "9": "0%", "10": "0.00%",
    "37": "#,##0;(#,##0)", "38": "#,##0;(#,##0)",
    "39": "#,##0.00;(#,##0.00)", "40": "#,##0.00;(#,##0.00)",
}  # fmt: skip
_CELL = re.compile(
    rb"<(?:\w+:)?c\s([^>]*)>\s*(?:<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*)?"
    rb"(?:<(?:\w+:)?v>([^<]*)</|<is>(.*?)</is>)",
    re.DOTALL,
)
_PLACE = re.compile(rb'\br=["\']([A-Z]{1,3})(\d{1,7})["\']')
_STYLE = re.compile(rb'\bs=["\'](\d{1,6})["\']')
_TYPE = re.compile(rb'\bt=["\'](\w+)["\']')
_PART = re.compile(
    r"\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)|\*.|(?P<gap>_.)"  # *x fills the cell, _x is a gap
    r"|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow)\]"
    r"|(?P<digits>[#0?][#0?,]*(?:\.[#0?]*)?,*|\.[#0?]+)|(?P<literal>[$€£¥+\-(): /%])",
    re.IGNORECASE,
)
_NUMBERS = ("float", "percentage", "currency")
_REPEATED = 100
"""Rows at most in which a repeated row has what it shows."""
_DIGITS_MOST = 15
"""Digits that a spreadsheet program has."""


def shown_values(
    sheet: bytes,
    formats: Mapping[int, str],
    strings: Mapping[int, str],
    inline: Callable[[bytes], str | None],
) -> dict[tuple[int, int], str]:
    """Map row (from 1) and column (from 0) of cells to what the sheet shows of them.

    Args:
        sheet: the XML of the sheet.
        formats: of the workbook, see ``read_formats``.
        strings: those of the workbook's that are not shown as they are stored, by their numbers.
        inline: reads the XML of a string in a cell; None if it is shown as it is stored.
    """
    found: dict[tuple[int, int], str] = {}
    for match in _CELL.finditer(sheet):
        style, place, kind = (each.search(match[1]) for each in (_STYLE, _PLACE, _TYPE))
        code = formats.get(int(style[1])) if style else None
        if place is None:
            continue
        text: str | None = None
        with suppress(ValueError):
            if match[3] is not None:
                text = inline(match[3])
            elif kind is None or kind[1] == b"n":
                text = (code and shown(code, float(match[2]))) or None
            elif kind[1] == b"s":
                text = strings.get(int(match[2]))
            elif kind[1] == b"e":
                text = match[2].decode("utf-8", "replace")
        if text is not None:
            column = 0
            for letter in place[1]:
                column = 26 * column + letter - 64
            found[int(place[2]), column - 1] = text
    return found


def shown_in_opendocument(
    table: ElementTree.Element, read: Callable[[ElementTree.Element], str]
) -> dict[tuple[int, int], str]:
    """The same of a table of an ods file, whose cells have what they show beside their value.

    ``read`` returns the text of a cell.
    """
    found: dict[tuple[int, int], str] = {}
    row = 1
    for line in every(table, "table-row"):
        rows, column = number(attribute(line, "number-rows-repeated"), 1), 0
        for cell in line:
            columns = number(attribute(cell, "number-columns-repeated"), 1)
            kind, stored = attribute(cell, "value-type"), attribute(cell, "string-value")
            has_looks = bool(every(cell, "span"))
            text = read(cell) if kind in _NUMBERS or stored == "" or has_looks else ""
            if text or has_looks:
                for place in product(range(row, row + min(rows, _REPEATED)), range(columns)):
                    found[place[0], column + place[1]] = text
            column += columns
        row += rows
    return found


def read_formats(root: ElementTree.Element) -> dict[int, str]:
    """The formats of the styles of cells, of those that are read, in a part of a workbook."""
    own = {node.get("numFmtId"): node.get("formatCode") for node in every(root, "numFmt")}
    formats = [node for cells in every(root, "cellXfs") for node in every(cells, "xf")]
    named = {
        style: own.get(node.get("numFmtId")) or _BUILT_IN.get(node.get("numFmtId", ""))
        for style, node in enumerate(formats)
    }
    return {style: code for style, code in named.items() if code and shown(code, 1.0) is not None}


def shown(code: str, value: float) -> str | None:
    """Return what a format shows of a number; None if the format is not read.

    >>> shown("0.0%", 0.125), shown("#,##0;(#,##0)", -1234), shown('"$"0.0,', 1500)
    ('12.5%', '(1,234)', '$1.5')
    """
    sections = _sections(code)
    if not sections:
        return None
    place = 0
    if value < 0 and len(sections) > 1:
        place = 1
    elif value == 0 and len(sections) > 2:
        place = 2
    section = sections[place]
    if section is None:
        return None
    before, digits, behind = section
    try:
        figure = _figure(digits, abs(value), (before + behind).count("%"))
    except InvalidOperation:  # infinite, or too many digits
        return None
    is_negative = value < 0 and place == 0 and any(each in "123456789" for each in figure)
    return " ".join(f"{'-' if is_negative else ''}{before}{figure}{behind}".split())


_Section = tuple[str, str, str]


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[_Section | None, ...]:
    """Text before, digits and text behind of each section; a section that is not read is None."""
    parts = re.findall(r"(?:\"[^\"]*\"|\\.|[^;\"\\])+|(?<=;)(?=;|$)", code)[:3]
    read = tuple(map(_section, parts))
    return read if read and read[0] is not None and read[0][1] else ()


def _section(part: str) -> _Section | None:
    at, digits = 0, ""
    literals = ["", ""]
    while at < len(part):
        match = _PART.match(part, at)
        if match is None:
            return None
        at = match.end()
        if match["digits"]:
            if digits:
                return None  # a fraction, a telephone number
            digits = match["digits"]
        else:
            said = (match[name] for name in ("quoted", "escaped", "currency", "literal"))
            literals[bool(digits)] += " " if match["gap"] else "".join(filter(None, said))
    return literals[0], digits, literals[1]


def _figure(digits: str, value: float, percents: int) -> str:
    """Digits of a number in a pattern such as ``#,##0.0?,``; empty if the pattern is."""
    if not digits:
        return ""
    whole, _, fraction = digits.rstrip(",").partition(".")
    scale = len(digits) - len(digits.rstrip(","))
    exact = Decimal(f"{value:.{_DIGITS_MOST}g}").scaleb(2 * percents - 3 * scale)
    rounded = exact.quantize(Decimal(1).scaleb(-len(fraction)), ROUND_HALF_UP)
    first, _, last = f"{rounded:f}".partition(".")
    last = last.rstrip("0").ljust(fraction.count("0"), "0")
    least = whole.replace(",", "").lstrip("#?")
    first = "" if first == "0" and not least else first.zfill(len(least))
    if "," in whole:
        first = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", first)
    return f"{first}.{last}" if last or (fraction and set(fraction) == {"0"}) else first
