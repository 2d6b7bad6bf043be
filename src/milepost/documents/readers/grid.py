"""Collect the cells of a table, so that every value is written under its own heading.

An empty cell leaves an empty place. A cell merged over several rows is repeated in each of them;
one merged over several columns is written once and leaves empty places, if other rows fill them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import every
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.column_names import (
    COVERED,
    Covered,
    column_names,
    count_filled,
    header_rows,
    is_label,
    table_starts,
)
from milepost.table_rows import BAR

Cell = tuple[str, int, int]
"""The text of a cell in one line, and how many columns and rows it covers.

No rows at all say that it continues the cell above, and -1 that cells below may continue it.
"""

_SIGN = re.compile(r"[A-Z]{0,3}[$€£¥₩₹]\s?\(?|\(")
_CLOSES = re.compile(r"[)%]{1,2}")
_OPENS = frozenset("0123456789(.-–—−")
_MAX_REPEATED = 80  # characters: a longer cell is no heading of its rows, and is written once
_MAX_SPAN = 200  # columns or rows: a file of a few bytes may claim any number
_MAX_ALONE = 60  # characters of a cell that keeps its place if no other in its row is filled


class Grid:
    """The rows of one table."""

    def __init__(self, caption: str = "") -> None:
        self.caption = caption  # empty if the file has none
        self._rows: list[list[str]] = []
        self._heads: list[bool] = []  # whether the file says that a row names columns
        self._has_keys = True  # whether each row is the name of a value, as the file says
        self._names: list[str] = []  # of the columns
        self._is_rest = False  # of a table whose first rows are written
        self._down: dict[int, tuple[int, str]] = {}  # column → rows still covered, text
        self._above: dict[int, str] = {}  # column → text that the cell below may continue

    def add(self, cells: Iterable[Cell], *, header: bool = False, key: bool = False) -> None:
        """Add a row; cells that continue one above are not among ``cells``.

        Args:
            cells: the cells, from left to right.
            header: whether the file says that the row names columns.
            key: whether the file says that its first cell alone is a name.
        """
        row: list[str] = []
        below: dict[int, tuple[int, str]] = {}
        own = False
        for text, columns, rows in cells:
            self._continue(row, below)
            own = own or bool(text)
            above = self._above.get(len(row), "")
            if rows or not above:  # one that continues nothing begins anew
                self._above[len(row)] = "" if rows > 0 else text
            elif not text:
                text = self._repeated(above)
            down = min(max(1, rows), _MAX_SPAN) - 1
            for part in range(min(max(1, columns), _MAX_SPAN)):
                if down:
                    below[len(row)] = (down, COVERED if part else self._repeated(text))
                row.append(COVERED if part else text)
        self._continue(row, below, rest=True)
        self._down = below
        if own:
            self._heads.append(header)
            self._rows.append(row)
            self._has_keys &= key if count_filled(row) > 1 else True

    def end_group(self) -> None:
        """End a head, body or foot, which no cell reaches beyond."""
        self._down = {}

    @staticmethod
    def _repeated(text: str) -> str:
        """Return what a cell has in the rows below its first: its text, unless that is long."""
        return text if len(text) <= _MAX_REPEATED else ""

    def _continue(
        self, row: list[str], below: dict[int, tuple[int, str]], *, rest: bool = False
    ) -> None:
        """Fill the places that cells of the rows above cover; with ``rest``, all that are left."""
        last = max(self._down, default=-1)
        while len(row) in self._down or (rest and len(row) <= last):
            down, text = self._down.get(len(row), (0, ""))
            if down > 1:
                below[len(row)] = (down - 1, text)
            row.append(text)

    def write(self, text: TextBuilder) -> None:
        """Write the rows, without the columns that are empty in all of them, and start anew."""
        width = max(map(len, self._rows), default=0)
        kept = [k for k in range(width) if any(k < len(row) and row[k] for row in self._rows)]
        rows = _with_signs([[row[k] if k < len(row) else "" for k in kept] for row in self._rows])
        for start, end in pairwise([*self._starts(rows), len(rows)]):
            self._write(text, rows[start:end], self._heads[start:end])
        self._is_rest = self._is_rest or bool(rows)
        self._rows, self._heads, self._down, self._above = [], [], {}, {}

    def _starts(self, rows: list[list[str]]) -> list[int]:
        """Return where tables begin: at names of columns below rows, or at the title above them."""
        starts = [0]
        for at in range(1, len(rows) - 1):
            is_new = self._heads[at] and not self._heads[at - 1]
            if is_new and all(map(is_label, filter(None, rows[at]))):
                start = at - (count_filled(rows[at - 1]) == 1)
                if any(count_filled(row) > 1 for row in rows[starts[-1] : start]):
                    starts.append(start)
        return starts if len(starts) > 1 else table_starts(list(enumerate(rows, 1)))

    def _write(self, text: TextBuilder, rows: list[list[str]], heads: list[bool]) -> None:
        filled = [*map(count_filled, rows)]
        is_table = sum(count > 1 for count in filled) > 1
        if is_table:
            self._begin(text, rows, heads)
        elif self._heads[:1] == [True]:  # the first row, as the file says, names columns
            self._names = column_names(rows)
        for cells, count in zip(rows, filled, strict=True):
            text.add(joined(cells), close=count > 1)
        if is_table:
            text.end_table()

    def _begin(self, text: TextBuilder, rows: list[list[str]], heads: list[bool]) -> None:
        title = rows[0][0] if len(rows) > 2 and not any(rows[0][1:]) else ""
        first = 1 if title else 0
        headers = min([*heads, False].index(False, first), len(rows) - 1)
        headers *= headers > first or heads[0]
        is_form = self._has_keys and len(rows[0]) == len(("name", "value"))
        if not (self._is_rest or is_form):  # a file may mark the first of several
            found = header_rows(list(enumerate(rows, 1)), first)
            headers = max(headers, first + found) if found else headers
        if headers > first:
            self._names = column_names(rows[first:headers])
        elif len(self._names) != len(rows[0]):  # the rest of a table keeps the names of its columns
            self._names = []
        caption = f"{self.caption} {title if headers else ''}"
        text.begin_table(self._names, caption.strip(), header_rows=headers)


def _with_signs(rows: list[list[str]]) -> list[list[str]]:
    """Join columns of signs to those of the figures that they stand beside; each row has as many.

    A column whose cells all cover the one on their right, as names above figures do, goes to it.

    >>> _with_signs([["", "2024", ""], ["Loss", "$", "(1,234"], ["Tax", "", "56"]])
    [['', '2024'], ['Loss', '$ (1,234'], ['Tax', '56']]
    """
    columns: list[tuple[str, ...]] = []
    for column in zip(*rows, strict=True):
        pairs = [*zip(columns[-1], column, strict=True)] if columns else []
        both = [pair for pair in pairs if all(pair)]
        if both and all(_SIGN.fullmatch(a) and b[:1] in _OPENS for a, b in both):
            columns[-1] = tuple(f"{a} {b}" if a and b else a or b for a, b in pairs)
        elif both and all(_CLOSES.fullmatch(b) and a[-1].isdigit() for a, b in both):
            columns[-1] = tuple(a + b if a and b else a or b for a, b in pairs)
        elif pairs and all(isinstance(b, Covered) if a else True for a, b in pairs):
            columns[-1] = tuple(b or a for a, b in pairs)
        else:
            columns.append(column)
    return [*map(list, zip(*columns, strict=True))]


class TreeReader:
    """Base of the readers of Word and OpenDocument files, which walk over a tree."""

    def __init__(self) -> None:
        self.text = TextBuilder()  # what was read
        self.problems: list[str] = []  # what could not be read

    def blocks(self, parent: Element) -> None:
        """Add all text under ``parent``."""
        raise NotImplementedError

    def cell(self, node: Element) -> str:
        """Read a cell, as one line."""
        outer, self.text = self.text, TextBuilder()
        self.blocks(node)
        inner, self.text = self.text, outer
        outer.left_out.update(inner.left_out)
        return " ".join(inner.text.split())

    def table(self, rows: Iterable[tuple[list[Element], Iterable[Cell], bool]], tag: str) -> None:
        """Add a table; cells of a row that holds another table are read one after the other.

        Args:
            rows: the elements of the cells, the cells, and whether they name columns.
            tag: local name of a table.
        """
        grid = Grid()
        for elements, cells, header in rows:
            if any(every(each, tag) for each in elements):
                grid.write(self.text)
                for each in elements:
                    self.blocks(each)
            else:
                grid.add(cells, header=header)
        grid.write(self.text)


def joined(cells: Sequence[str]) -> str:
    """Join the cells of a row by bars.

    >>> joined(["Cost", "", "55", ""])
    'Cost | | 55'
    """
    # A bar of its own would begin another cell.
    cells = [BAR.sub("\u00a0|", cell) if "|" in cell else cell for cell in cells]
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 and len("".join(filled)) > _MAX_ALONE:
        return "".join(filled)  # text in a table that only lays out the page
    while cells and not cells[-1]:
        cells = cells[:-1]
    return re.sub(r"\| +(?=\|)", "| ", " | ".join(cells)).strip()
