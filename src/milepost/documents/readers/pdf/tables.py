"""Rows of a page → tables: where they are, and what names their columns.

A row is a unit of text with figures in cells beside its label. Rows follow each other, with a few
short lines between them (sections of the table). What stands above a column of figures names it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from statistics import median

from milepost.documents.readers.builder import caption_in, table_marks
from milepost.documents.readers.grid import column_names, names_columns
from milepost.documents.readers.pdf.cells import YEAR, Unit, is_value
from milepost.documents.readers.pdf.records import Line
from milepost.documents.readers.pdf.rules import Row, Ruled
from milepost.table_rows import figure_cells
from milepost.types import Mark

_AMOUNT = re.compile(r"\d[,.]\d|[%(]")
_TWO_YEARS = re.compile(r"\b(?:19|20)\d\d (?:19|20)\d\d\b")
"""Years of two columns, taken for one name."""
_SECTIONS = 3
"""Lines without figures that may follow each other inside a table."""
_HEADER_UNITS = 8
_NAME = 120
"""Characters of a column's name, at most: more, and it is something else."""
_NEAR = 8.0
"""Points between the edges or middles of figures of one column, at most."""
_FEWEST_ROWS = 2
_LONE = 40.0
"""Points to the left of the only column of figures in which its name may stand."""
_CENTRED = 0.15
"""A name this close to the middle of all columns, in shares of their width, belongs to all."""
_SAME_LINE = 0.4
"""Distance of two baselines of one line, in font sizes, at most."""
_INDENT = 4.0
"""Font sizes that the lines of a cell are off each other at their nearest edges, at most."""
_CAPTION = 300
_LONGEST_CELL = 400
"""Characters of a cell, at most: more, and the lines are around the parts of a page."""
_SPLIT = 0.1
"""Cells with words beside each other, for each row, at most."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(slots=True)
class _Column:
    """A column of figures: its edges, its rows, its name, and where the space beside it begins.

    ``group`` is the name that it shares with the columns beside it.
    """

    left: float
    right: float
    rows: int = 1
    name: str = ""
    band: float = 0.0
    group: str = ""

    def holds(self, cell: Line) -> bool:
        """Whether a figure stands in this column: by its right or left edge, or in the middle."""
        left, right = cell.left - self.left, cell.right - self.right
        return min(abs(right), abs(left), abs(left + right) / 2) <= _NEAR

    @property
    def full_name(self) -> str:
        return f"{self.group} {self.name}".strip()

    def add_name(self, text: str) -> None:
        self.name = f"{self.name} {text}".strip()

    def add_group(self, text: str) -> None:
        if self.name:
            self.add_name(text)
        else:
            self.group = f"{self.group} {text}".strip()


def find_tables(units: Sequence[Unit]) -> Iterator[Mark]:
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
        above: list[_Column] = []
        while at < len(page):
            if not page[at].figures or page[at].names_years:
                at += 1
                continue
            last, rows = _rows(page, at)
            if rows >= _FEWEST_ROWS:
                first = _header(page, at, free)
                table = page[at : last + 1]
                columns = _columns(table)
                length, words = _name(columns, page[first:at])
                if not any(column.name for column in columns):
                    _inherit(columns, above)
                above = columns
                named = len(columns) > 1 or any(column.name for column in columns)
                if named or _has_amounts(table):  # else a table of contents, a numbered list
                    yield from _marks(page, (first, first + length, last), columns, words)
            at = free = last + 1


def are_words(rows: Sequence[Row]) -> bool:
    """Whether the cells of a ruled table are words; one of figures is found by those.

    Unless its names are written sideways, which stand nowhere in the order of its text.
    """
    several = [row for row in rows if len(row) > 1]
    figures = sum(all(map(is_value, row[max(row)])) for row in several)
    if several and several[0][max(several[0])][0].angle:
        figures = 0
    cells = [cell for row in rows for cell in row.values()]
    split = sum(any(not _is_below(a, b) for a, b in pairwise(cell)) for cell in cells)
    longest = max((sum(len(line.text) for line in cell) for cell in cells), default=0)
    # Cells whose words stand beside each other have columns without lines between them, or none.
    whole = split <= _SPLIT * len(rows) and longest <= _LONGEST_CELL
    return 1 < len(several) > len(rows) / 2 > figures and whole


def _is_below(line: Line, after: Line) -> bool:
    """Whether a line is the next of a cell: below another, at its left, its right or its middle."""
    left, right = after.left - line.left, after.right - line.right
    aligned = min(abs(left), abs(right), abs(left + right) / 2) <= _INDENT * after.size
    return aligned and after.base - line.base >= _SAME_LINE * after.size


@dataclass(slots=True)
class _Names:
    """The names of the columns of a ruled table, which may go on in the next.

    Attributes:
        names: the names; none if they are not known.
        edges: those of its columns.
        page: on which it ends.
        is_near: whether no text has come since.
    """

    names: Sequence[str] = ()
    edges: Sequence[float] = ()
    page: int = 0
    is_near: bool = True

    def go_on(self, table: Ruled) -> bool:
        """Whether a table has columns as wide as these; pages may have other margins."""
        steps = zip(pairwise(self.edges), pairwise(table.columns), strict=False)
        alike = len(self.edges) == len(table.columns)
        return alike and all(abs(b - a - (d - c)) <= _NEAR for (a, b), (c, d) in steps)


def _of_words(
    rows: Sequence[Unit], table: Ruled, before: str, above: _Names
) -> Generator[Mark, None, _Names]:
    """Yield the marks of a ruled table and return the names of its columns.

    ``above`` names those of the table before; ``before`` is the text before the table.
    """
    texts = [row.texts for row in rows]
    title = "".join(texts[0]) if len(rows) > 2 and sum(map(bool, texts[0])) == 1 else ""
    first, page = int(bool(title)), rows[0].page
    goes_on = above.go_on(table) and page <= above.page + 2  # one may not be read
    if goes_on and above.is_near:
        names, at = above.names, int(texts[0] == above.names)
    elif names_columns([*enumerate(texts, 1)], first):
        # Further rows of names have no label either, as in "| 2024 | | 2025", "| Sales | Costs".
        below = takewhile(lambda row: not row[0], texts[first + 1 : -1])
        header = [texts[first], *(below if not texts[first][0] else ())]
        names, at = column_names(header), first + len(header)
    else:  # between the pages may be a note
        names, at = above.names if goes_on and page > above.page else (), 0
    caption = caption_in(before) or title
    yield from table_marks(rows[0].start, rows[at].start, rows[-1].end, names, caption)
    return _Names(names, table.columns, page)


def _has_amounts(rows: Sequence[Unit]) -> bool:
    """Whether most rows end in an amount, and not in a number of pages or of items."""
    found = [row.figures[-1].text for row in rows if row.figures]
    return 2 * sum(_AMOUNT.search(text) is not None for text in found) >= len(found)


def _rows(page: Sequence[Unit], at: int) -> tuple[int, int]:
    """The last row of the table that begins at a unit, and the number of its rows."""
    last, rows = at, 1
    for number in range(at + 1, len(page)):
        unit = page[number]
        if unit.names_years or (not unit.figures and not unit.is_short):
            break
        if unit.figures:
            last, rows = number, rows + 1
        elif number - last > _SECTIONS:
            break
    return last, rows


def _header(page: Sequence[Unit], at: int, free: int) -> int:
    """The first unit of what names the columns of a table that begins at a unit."""
    first = at
    while first > max(free, at - _HEADER_UNITS):
        unit = page[first - 1]
        if unit.heading or not unit.is_short or (unit.figures and not unit.names_years):
            break
        first -= 1
    return first


def _columns(rows: Sequence[Unit]) -> list[_Column]:
    """The columns of figures, from left to right; those of few rows among many are dropped."""
    columns: list[_Column] = []
    for row in rows:
        for cell in row.figures:
            column = next((c for c in columns if c.holds(cell)), None)
            if column is None:
                columns.append(_Column(cell.left, cell.right))
            else:
                column.left = min(column.left, cell.left)
                column.right = max(column.right, cell.right)
                column.rows += 1
    fewest = 1 if len(rows) < 4 else max(2, len(rows) // 8)
    columns = sorted((c for c in columns if c.rows >= fewest), key=lambda column: column.right)
    steps = [b.right - a.right for a, b in pairwise(columns)]
    edge = columns[0].right - median(steps) if steps else columns[0].left - _LONE if columns else 0
    for column in columns:
        column.band, edge = min(edge, column.left), column.right
    return columns


def _name(columns: Sequence[_Column], header: Sequence[Unit]) -> tuple[int, str]:
    """Give the columns their names.

    Returns:
        Units after which the rows begin, and the words above and beside the names.
    """
    words: list[str] = []
    named = end = 0
    for number, unit in enumerate(header, 1):
        for cells in _lines(unit.cells):
            above = [c for c in cells if columns and (c.left + c.right) / 2 > columns[0].band]
            words += [cell.text for cell in cells if cell not in above]
            if above:
                named, end = number, len(words)
                _name_line(columns, above)
    wrong = any(len(each.name) > _NAME or _TWO_YEARS.search(each.full_name) for each in columns)
    for column in columns:
        column.name, column.group = "" if wrong else column.full_name, ""
    if wrong:
        return len(header), ""
    # What stands below the names is the name of a section.
    return (named, " ".join(words[:end])) if named else (len(header), " ".join(words))


def _lines(cells: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the cells of each line, from the top and from the left."""
    line: list[Line] = []
    for cell in sorted(cells, key=lambda cell: cell.base):
        if line and cell.base - line[0].base > _SAME_LINE * cell.size:
            yield sorted(line, key=lambda each: each.left)
            line = []
        line.append(cell)
    if line:
        yield sorted(line, key=lambda each: each.left)


def _name_line(columns: Sequence[_Column], cells: Sequence[Line]) -> None:
    """Give columns the names of one line: in turn if they are as many, else by place."""
    each, left_over = divmod(len(columns), len(cells))
    years = len(cells) > 1 and all(YEAR.fullmatch(cell.text) for cell in cells)
    if not left_over and (each == 1 or (each and years)):
        for number, column in enumerate(columns):
            column.add_name(cells[number // each].text)
        return
    if not left_over and each and _are_above(columns, cells):
        for number, column in enumerate(columns):
            column.add_group(cells[number // each].text)
        return
    for cell in cells:
        middle = (cell.left + cell.right) / 2
        left, right = columns[0].band, columns[-1].right
        alone = len(cells) == 1 and abs(middle - (left + right) / 2) < _CENTRED * (right - left)
        if alone and YEAR.fullmatch(cell.text):  # of all columns, or of the one below it
            alone = not any(c.left - _NEAR < middle < c.right + _NEAR for c in columns)
        for column in columns:
            inside = min(column.right, cell.right) - max(column.band, cell.left)
            if (
                alone
                or column.band < middle <= column.right + _NEAR
                or inside > 0.5 * (column.right - column.band)
            ):
                column.add_name(cell.text)


def _are_above(columns: Sequence[_Column], cells: Sequence[Line]) -> bool:
    """Whether each of several names stands in the middle above as many columns as the others."""
    each = len(columns) // len(cells)
    # Below another name, it may be a part of the name of the middle column.
    below = any(column.full_name for column in columns)
    for number, cell in enumerate(cells):
        group = columns[number * each : (number + 1) * each]
        left, right = group[0].band, group[-1].right
        if abs((cell.left + cell.right) / 2 - (left + right) / 2) > _CENTRED * (right - left):
            return False
        middle = group[each // 2]
        if below and each % 2 and cell.width < middle.right - middle.band:
            return False
    return len(cells) > 1


def _inherit(columns: Sequence[_Column], above: Sequence[_Column]) -> None:
    """Take the names of the table above, whose columns stand in the same places."""
    if len(columns) == len(above) and all(
        abs(one.right - other.right) <= _NEAR for one, other in zip(columns, above, strict=True)
    ):
        for one, other in zip(columns, above, strict=True):
            one.name = other.name


def _marks(
    page: Sequence[Unit], part: tuple[int, int, int], columns: Sequence[_Column], words: str
) -> list[Mark]:
    """The marks of a table: first unit, first row and last row."""
    first, at, last = part
    before = " ".join(cell.text for cell in page[first - 1].cells) if first else ""
    sentence = _SENTENCE_END.split(before)[-1] if before.endswith(":") else ""
    caption = caption_in(before) or sentence
    caption = f"{caption} {words}".strip()
    names = [column.name for column in columns]
    named = ["", *names] if any(names) else []
    unsplit = [unit.start for unit in page[at : last + 1] if named and not _agree(unit, columns)]
    start, body, end = page[first].start, page[at].start, page[last].end
    return table_marks(start, body, end, named, caption[:_CAPTION], unsplit)


def _agree(row: Unit, columns: Sequence[_Column]) -> bool:
    """Whether the figures of a row, told by its text alone, stand in their columns."""
    text = " ".join(cell.text for cell in row.cells)
    if not figure_cells(text, len(columns)):
        return True  # it is shown as it is
    return len(row.figures) == len(columns) and all(
        column.holds(cell) for cell, column in zip(row.figures, columns, strict=True)
    )
