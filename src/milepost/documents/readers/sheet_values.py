"""The cells of a sheet, in whichever format: what is shown of them, and how they lie in rows."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from functools import lru_cache

from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.column_names import COVERED, Row
from milepost.documents.readers.number_formats import BUILT_IN, is_date, shown, text_shown, unquoted
from milepost.documents.readers.scripts import Look
from milepost.documents.readers.scripts import shown as shown_letters
from milepost.errors import UnreadableFile

REPEATS = 100
"""Maximum number of equal rows written in succession, because a file of a kilobyte may repeat a row
a million times."""

COLUMNS = 1 << 14
"""Columns that a sheet has at most."""

_MAX_MERGED = 1000  # rows over which a merged cell is repeated
_MAX_COVERED = 1 << 20  # places that cells merged over columns cover; others are left empty
_MAX_REPEATED = 80  # characters of a merged cell that is repeated in each of its rows
_MAX_EMPTY = 1 << 24  # empty places in the rows of a sheet

_DATES = {
    **dict.fromkeys((14, 15, 16, 22, *range(27, 37), *range(50, 59)), "yyyy-mm-dd h:mm"),
    17: "yyyy-mm",
    **dict.fromkeys((18, 19, 20, 21, 45), "h:mm"),
    46: "[h]:mm",
    47: "mm:ss.0",
}
"""Formats of dates that a workbook names by a number alone."""

_DAY_0, _DAY_0_OF_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
_FRACTION = re.compile(r"s\]?\.(0{1,3})", re.I)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.I)


def number_shown(value: float, code: str | None, *, is_1904: bool) -> str:
    """Write a number as its format does, and dates as YYYY-MM-DD; their days count from 1900."""
    said = shown(code, value) if code else None
    if code and said is None:
        kind, fraction = _kind(code), _FRACTION.search(code)
        places = len(fraction[1]) if fraction else 0  # decimals of seconds
        with suppress(OverflowError):
            if kind == "elapsed":
                return written(timedelta(days=value), places)
            if kind == "date":
                leap = not is_1904 and 1 <= value < 60  # there, 1900 has a 29 February
                moment = (_DAY_0_OF_1904 if is_1904 else _DAY_0) + timedelta(days=value + leap)
                cell = moment if value >= 1 else moment.time()
                return written(cell, places)[: _shown_of(code)]
    return written(value) if said is None else said


@lru_cache(maxsize=512)
def _shown_of(code: str) -> int | None:
    """How much of a date is shown: not its time, or of one without a day, the year or its month."""
    letters = unquoted(code).lower()
    if "h" in letters or "s" in letters:
        return None
    if "d" in letters or "y" not in letters:
        return len("2026-03-01")
    return len("2026-03" if "m" in letters else "2026")


@lru_cache(maxsize=512)
def _kind(code: str) -> str:
    return "elapsed" if _ELAPSED.search(code) else "date" if is_date(code) else ""


def written(cell: float | datetime | time | timedelta, places: int = 0) -> str:
    """Format a cell: dates as YYYY-MM-DD, numbers with the digits that a sheet has room for.

    ``places`` are the decimals of its seconds, up to three.

    >>> written(3.0), written(0.1 + 0.2), written(2 / 3), written(datetime(2026, 3, 1))
    ('3', '0.3', '0.666666667', '2026-03-01')
    >>> written(timedelta(hours=37, minutes=30)), written(time(9, 5, 7), 1)
    ('37:30', '09:05:07.0')
    """
    if isinstance(cell, float):
        return _number(cell)
    end = places - 6 if places else None  # of six decimals
    if isinstance(cell, datetime):
        cell = _rounded(cell, places)
        unit = "microseconds" if places else "seconds" if cell.second else "minutes"
        return str(cell.date()) if cell.time() == time() else cell.isoformat(" ", unit)[:end]
    if isinstance(cell, time):
        moment = _rounded(datetime.combine(datetime(2000, 1, 1), cell), places).time()
        unit = "microseconds" if places else "seconds" if moment.second else "minutes"
        return moment.isoformat(unit)[:end]
    minutes, seconds = divmod(round(abs(cell).total_seconds(), places), 60)
    sign = "-" if cell < timedelta() else ""
    text = f"{sign}{minutes // 60:.0f}:{minutes % 60:02.0f}"
    width = places and places + 1  # with the point
    return f"{text}:{seconds:0{2 + width}.{places}f}" if seconds or places else text


def _number(value: float) -> str:
    """Write a number; one that is not whole has eleven characters at most, as in a sheet."""
    if 1e16 <= abs(value) < math.inf:
        return f"{value:.6g}"  # only 15 digits are stored
    if value.is_integer():
        return f"{value:.0f}"
    if not abs(value) < 1e10:
        return f"{value:.15g}"
    fixed = f"{value:.12f}".rstrip("0")
    if abs(value) < 1e-4 and float(fixed) == value and len(fixed.lstrip("-")) <= 11:
        return fixed
    return f"{value:.{max(6, min(10, math.floor(math.log10(abs(value))) + 10))}g}"


def _rounded(moment: datetime, places: int) -> datetime:
    """Round the seconds to some decimals: a sheet stores a moment as a fraction of a day."""
    unit = 10 ** (6 - places)
    moment += timedelta(microseconds=unit // 2)
    return moment.replace(microsecond=moment.microsecond // unit * unit)


@dataclass(slots=True)
class Book:
    """What the cells of a workbook refer to."""

    text: TextBuilder  # takes note of what is struck out
    looks: list[Look] = field(default_factory=list)  # how letters look, by font
    codes: list[str | None] = field(default_factory=list)  # formats of numbers, by style
    struck: list[bool] = field(default_factory=list)  # whether a style strikes out its cells
    strings: list[str] = field(default_factory=list)  # the strings, as they are shown
    is_1904: bool = False  # whether dates count from 1904
    hidden: set[str] = field(default_factory=set)  # names of the sheets that are not shown

    def add_style(self, font: int, kind: int, own: dict[int, str]) -> None:
        """Add a style by its font and the number of its format; ``own`` are those of the book."""
        self.struck.append(font < len(self.looks) and bool(self.looks[font].struck))
        self.codes.append(own.get(kind) or BUILT_IN.get(kind) or _DATES.get(kind))

    def with_looks(self, parts: list[tuple[str, Look]]) -> str:
        """Join the parts of a string, each with its look, as they are shown."""
        said = "".join(self.text.looking(words, look) for words, look in parts)
        return " ".join(shown_letters(said).split())


@dataclass(slots=True)
class Sheet:
    """What a sheet shows."""

    name: str  # its name
    book: Book  # what its cells refer to
    # number of each row, from 1, and its texts by column, from 0
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    # first and last row and column of merged cells
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    heads: set[int] = field(default_factory=set)  # rows that name columns, as the file says
    lines: list[str] = field(default_factory=list)  # the text of its boxes, diagrams and charts
    unsolved: int = 0  # number of formulas without a stored result
    hidden: int = 0  # number of rows and columns that are not shown, which are read
    left_out: int = 0  # number of rows equal to the one above that are not among ``rows``

    def put(self, row: int, column: int, style: int, value: float | str) -> None:
        """Add what is shown of a cell."""
        is_known = style < len(self.book.codes)
        if is_known and self.book.struck[style]:
            self.book.text.leave_out("x")
            return
        code = self.book.codes[style] if is_known else None
        if not isinstance(value, str):
            said = number_shown(value, code, is_1904=self.book.is_1904)
        else:
            said = value if value.isalnum() else " ".join(value.split())
            said = text_shown(code, said) if code else said
        if said and 0 <= column < COLUMNS:
            self.rows.setdefault(row, {})[column] = said
        elif not said and value:
            self.book.text.leave_out(str(value), "hidden text")

    def laid_out(self, name: str) -> list[Row]:
        """Return the rows with text, from the first column that has any.

        A cell that is merged over rows is repeated in those that have other cells, too; one that is
        merged over columns covers places. ``name`` is that of the file.
        """
        covered: dict[int, dict[int, str]] = {}
        room = _MAX_COVERED
        for top, bottom, column, right in self.merged:
            text = self.rows.get(top, {}).get(column, "")
            places = range(column + 1, min(right + 1, COLUMNS))
            if text and len(places) <= room:
                room -= len(places)
                covered.setdefault(top, {}).update(dict.fromkeys(places, COVERED))
            if text and len(text) <= _MAX_REPEATED and bottom < top + _MAX_MERGED:
                for row in self.rows.keys() & range(top + 1, bottom + 1):
                    covered.setdefault(row, {})[column] = text
        first = min(map(min, self.rows.values()), default=0)
        found: list[Row] = []
        before: dict[int, str] = {}
        equal = empty = 0
        for row in sorted(self.rows):
            cells = covered.get(row, {}) | self.rows[row]
            equal = equal + 1 if cells == before else 0
            before = cells
            if equal >= REPEATS:
                self.left_out += 1
                continue
            last = max(cells)
            empty += last - first - len(cells)
            if empty > _MAX_EMPTY:
                raise UnreadableFile(
                    f"{name} needs more memory than a spreadsheet may take",
                    "save its sheets as csv",
                )
            found.append((row, [cells.get(at, "") for at in range(first, last + 1)]))
        return found
