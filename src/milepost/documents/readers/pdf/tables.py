"""Rows of a page → tables: where they are, and what names their columns.

A row is a unit of text with figures in cells beside its label. Rows follow each other, with a few
short lines between them (sections of the table). What stands above a column of figures names it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile

from milepost.documents.readers.builder import caption_in, table_marks
from milepost.documents.readers.column_names import column_names, names_columns
from milepost.documents.readers.pdf.cells import Unit, is_value
from milepost.documents.readers.pdf.headers import (
    NEAR,
    SAME_LINE,
    Column,
    Header,
    add_names,
    columns_of,
)
from milepost.documents.readers.pdf.records import Floats, Line, aligned
from milepost.documents.readers.pdf.rules import LONGEST_CELL, Row, Ruled, below_cells
from milepost.table_rows import figure_cells
from milepost.types import Mark

_AMOUNT = re.compile(r"\d[,.]\d|[%(]")
_SECTIONS = 3
"""Lines without figures that may follow each other inside a table."""
_HEADER_UNITS = 12
_FEWEST_ROWS = 2
_INDENT = 4.0
"""Font sizes that the lines of a cell are off each other at their nearest edges, at most."""
_CAPTION = 300
_SPLIT = 0.1
"""Cells with words beside each other, for each row, at most."""
_LEAD = re.compile(r"\D{30,}:")
"""A sentence before a table; one with a date may not be that of the next."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def find_tables(
    units: Sequence[Unit], drawn: Mapping[int, tuple[Floats, Floats]]
) -> Iterator[Mark]:
    """Yield the marks of the tables of a document; ``units`` are in the order of the text."""
    before = ""
    names = _Names()
    for _, group in groupby(units, key=lambda unit: (unit.page, id(unit.table))):
        page = list(group)
        if page[0].table is not None:
            names = yield from _of_words(page, page[0].table, before, names)
            continue
        before = " ".join(cell.text for cell in page[-1].cells)
        names.is_near = False
        at, free = 0, 0
        above: Sequence[Column] = []
        lead, known = "", set[str]()
        while at < len(page):
            if not page[at].figures or page[at].names_years:
                at += 1
                continue
            first = _header(page, at, free)
            said = [cell.text for unit in page[first:at] for cell in unit.cells]
            last, rows = _rows(page, at, {*said})
            if rows >= _FEWEST_ROWS:
                again = first == free and len(known.intersection(said)) > 1
                known = {*said}
                table = page[at : last + 1]
                columns = columns_of(table)
                header = page[first:at]
                tops = [cell.base - cell.size for unit in header for cell in unit.cells]
                low = min(cell.base for cell in page[at].cells)
                rules = below_cells(*drawn[page[at].page], min(tops, default=low), low)
                found = add_names(columns, header, rules)
                if not any(column.name for column in columns):
                    _inherit(columns, above)
                above = columns
                named = len(columns) > 1 or any(column.name for column in columns)
                if named or _has_amounts(table):  # else a table of contents, a numbered list
                    # What leads to a table leads to the next one, too, if that has its names.
                    own = _lead(page, first) or (lead if again else "")
                    lead = own or next(filter(_LEAD.fullmatch, said), "")
                    found = found._replace(caption=f"{own} {found.caption}".strip())
                    yield from _marks(page, (first, last), columns, found)
            at = free = last + 1


def are_words(table: Ruled, rows: Sequence[Row]) -> bool:
    """Whether the cells of a ruled table are words; one of figures is found by those.

    Unless its names are written sideways, which stand nowhere in the order of its text, or a label
    is that of several rows.
    """
    several = [row for row in rows if len(row) > 1]
    # A lone dash may stand for a figure or for words.
    filled = ([cell for cell in row.values() if cell[0].text.strip("-–—−")] for row in several)
    figures = sum(all(map(is_value, cells[-1])) for cells in filled if cells)
    sideways = bool(several) and bool(several[0][max(several[0])][0].angle)
    if sideways or table.has_shared_label(rows):
        figures = 0
    cells = [cell for row in rows for cell in row.values()]
    split = sum(any(not _is_below(a, b) for a, b in pairwise(cell)) for cell in cells)
    longest = max((sum(len(line.text) for line in cell) for cell in cells), default=0)
    # Cells whose words stand beside each other have columns without lines between them, or none.
    whole = split <= _SPLIT * len(rows) and longest <= LONGEST_CELL
    return 1 < len(several) > len(rows) / 2 > figures and whole


def _is_below(line: Line, after: Line) -> bool:
    """Whether a line is the next of a cell: below another, at its left, its right or its middle.

    Or the mark of a list stands before it.
    """
    near = aligned(after, line) <= _INDENT * after.size
    below = near and after.base - line.base >= SAME_LINE * after.size
    return below or not any(map(str.isalnum, line.text))


@dataclass(slots=True)
class _Names:
    """The names of the columns of a ruled table, which may go on in the next."""

    names: Sequence[str] = ()  # the names; none if they are not known
    edges: Sequence[float] = ()  # those of its columns
    is_near: bool = True  # whether no text has come since

    def go_on(self, table: Ruled) -> bool:
        """Whether a table has columns as wide as these; pages may have other margins."""
        steps = zip(pairwise(self.edges), pairwise(table.columns), strict=False)
        alike = len(self.edges) == len(table.columns)
        return alike and all(abs(b - a - (d - c)) <= NEAR for (a, b), (c, d) in steps)


def _of_words(
    rows: Sequence[Unit], table: Ruled, before: str, above: _Names
) -> Generator[Mark, None, _Names]:
    """Yield the marks of a ruled table and return the names of its columns.

    ``above`` names those of the table before; ``before`` is the text before the table.
    """
    texts = [row.texts for row in rows]
    title = "".join(texts[0]) if len(rows) > 2 and sum(map(bool, texts[0])) == 1 else ""
    first = int(bool(title))
    if above.is_near and above.go_on(table):
        names, at = above.names, int(texts[0] == above.names)
    elif header := _header_rows(rows, first):
        names, at = column_names(header), first + len(header)
    else:
        names, at = (), 0
    caption = caption_in(before) or title
    yield from table_marks(rows[0].start, rows[at].start, rows[-1].end, names, caption)
    return _Names(names, table.columns)


def _header_rows(rows: Sequence[Unit], first: int) -> Sequence[Sequence[str]]:
    """The rows that name the columns of a ruled table, from a row on; none if none do."""
    texts = [row.texts for row in rows]
    # The next have no label either, as in "| 2024 | | 2025", "| Sales | Costs"; or that of the
    # first goes on over them.
    below = takewhile(lambda k: not texts[k][0], range(first + 1, len(rows) - 1))
    last = first + 1 + sum(1 for k in below if not texts[first][0] or rows[k].goes_on)
    whole = [column_names(texts[first:last]), *texts[last:]]
    are_names = any(names_columns([*enumerate(each, 1)], 0) for each in (whole, texts[first:]))
    return texts[first:last] if are_names else ()


def _has_amounts(rows: Sequence[Unit]) -> bool:
    """Whether most rows end in an amount, and not in a number of pages or of items."""
    found = [row.figures[-1].text for row in rows if row.figures]
    return 2 * sum(_AMOUNT.search(text) is not None for text in found) >= len(found)


def _rows(page: Sequence[Unit], at: int, names: Set[str]) -> tuple[int, int]:
    """The last row of the table that begins at a unit, and the number of its rows.

    Where two of its names stand again, a table of its own follows, such as that of another year.
    """
    last, rows = at, 1
    for number in range(at + 1, len(page)):
        unit = page[number]
        if unit.names_years or (not unit.figures and not unit.is_short):
            break
        if not unit.figures and sum(cell.text in names for cell in unit.cells) > 1:
            break
        if unit.figures:
            last, rows = number, rows + 1
        elif number - last > _SECTIONS:
            break
    return last, rows


def _header(page: Sequence[Unit], at: int, free: int) -> int:
    """The first unit of what names the columns of a table that begins at a unit."""
    near = reversed(page[max(free, at - _HEADER_UNITS) : at])
    return at - len([*takewhile(lambda unit: unit.is_short and not unit.heading, near)])


def _inherit(columns: Sequence[Column], above: Sequence[Column]) -> None:
    """Take the names of the table above, whose columns stand in the same places."""
    if len(columns) == len(above) > 1 and all(
        abs(one.right - other.right) <= NEAR for one, other in zip(columns, above, strict=True)
    ):
        for one, other in zip(columns, above, strict=True):
            one.name = other.name


def _lead(page: Sequence[Unit], first: int) -> str:
    """The caption or sentence that stands before a table."""
    before = " ".join(cell.text for cell in page[first - 1].cells) if first else ""
    sentence = _SENTENCE_END.split(before)[-1] if before.endswith(":") else ""
    return caption_in(before) or sentence


def _marks(
    page: Sequence[Unit], part: tuple[int, int], columns: Sequence[Column], header: Header
) -> list[Mark]:
    """The marks of a table: the first unit of what stands above it, and its last row."""
    (first, last), names = part, [column.name for column in columns]
    at = first + header.length
    named = [header.label, *names] if any(names) else []
    unsplit = [unit.start for unit in page[at : last + 1] if named and not _agree(unit, columns)]
    start, body, end = page[first + header.start].start, page[at].start, page[last].end
    return table_marks(start, body, end, named, header.caption[:_CAPTION], unsplit)


def _agree(row: Unit, columns: Sequence[Column]) -> bool:
    """Whether the figures of a row, told by its text alone, stand in their columns."""
    text = " ".join(cell.text for cell in row.cells)
    if not figure_cells(text, len(columns)):
        return True  # it is shown as it is
    return len(row.figures) == len(columns) and all(
        column.holds(cell) for cell, column in zip(row.figures, columns, strict=True)
    )
