"""Collect the cells of a table, so that every value is written under its own heading.

Also decides which rows of a table name its columns.

An empty cell leaves an empty place. A cell merged over several rows is repeated in each of them;
one merged over several columns is written once and leaves empty places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise, takewhile, zip_longest
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import every
from milepost.documents.readers.builder import TextBuilder

Cells = list[str]
"""Cells of a row; empty cells are empty strings."""


class Covered(str):
    """An empty place that the cell on its left covers, as the file says."""

    __slots__ = ()


COVERED = Covered()

Row = tuple[int, Cells]
"""The number of a row, from 1, and its cells, at least one of which has text."""

_MAX_LABEL = 60
_MOST_HEADERS = 6
_SAMPLE = 50  # rows below a row that decide whether it names the columns
_MAX_FIGURE = 40
_MAX_FIGURED = 12  # characters of a label like "18 - 49": longer ones are amounts
_YEAR = re.compile(  # or a part of one
    r"(?:(?:[QH][1-4]|[1-4][QH]|FY)\s?)?(?:19|20)\d\d(?:\s?[/–-]\s?(?:19|20)?\d\d)?"
    r"(?:,?\s[^\W\d]\w*)?(?:\s?(?:\([^()]*\)|\[\w\]|[\\^]\d|\*))*|[QH][1-4]|[1-4][QH]",
    re.I,
)
_UNIT = re.compile(r"\((?:1?[,. ]?000(?:[,. ]000)?|(?=.*(?:[^\W\d]|=)).*)\)")
_MISSING = re.compile(r"\W*(?:[A-Z]{1,2}\W*|n\W?[ad]\W*)?", re.I)
_NO_LABEL = re.compile(r"(?:\S+\s+){3}.*[.!?]$|@|://")  # "No." and "In use?" are labels

Cell = tuple[str, int, int]
"""The text of a cell in one line, and how many columns and rows it covers.

No rows at all say that it continues the cell above, and -1 that cells below may continue it.
"""

_MAX_REPEATED = 80  # characters: a longer cell is no heading of its rows, and is written once
_MAX_SPAN = 200  # columns or rows: a file of a few bytes may claim any number
_MAX_ALONE = 60  # characters of a cell that keeps its place if no other in its row is filled


class Grid:
    """The rows of one table."""

    def __init__(self, caption: str = "") -> None:
        self.caption = caption  # empty if the file has none
        self._rows: list[list[str]] = []
        self._heads: list[bool] = []  # whether the file says that a row names columns
        self._names: list[str] = []  # of the columns
        self._is_rest = False  # of a table whose first rows are written
        self._down: dict[int, tuple[int, str]] = {}  # column → rows still covered, text
        self._above: dict[int, str] = {}  # column → text that the cell below may continue

    def add(self, cells: Iterable[Cell], *, header: bool = False) -> None:
        """Add a row; cells that continue one above are not among ``cells``.

        Args:
            cells: the cells, from left to right.
            header: whether the file says that the row names columns.
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

    def has_names(self) -> bool:
        """Whether its first row, as the file says, names columns."""
        return self._heads[:1] == [True]

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
        rows = [[row[k] if k < len(row) else "" for k in kept] for row in self._rows]
        for start, end in pairwise([*self._starts(rows), len(rows)]):
            self._write(text, rows[start:end], self._heads[start:end])
        self._is_rest = self._is_rest or bool(rows)
        self._rows, self._heads, self._down, self._above = [], [], {}, {}

    def _starts(self, rows: list[list[str]]) -> list[int]:
        """Return where tables begin: at names of columns below rows, or at the title above them."""
        starts = [0]
        for at in range(1, len(rows) - 1):
            is_new = self._heads[at] and not self._heads[at - 1]
            if is_new and all(map(_is_label, filter(None, rows[at]))):
                start = at - (_filled(rows[at - 1]) == 1)
                if any(_filled(row) > 1 for row in rows[starts[-1] : start]):
                    starts.append(start)
        return starts if len(starts) > 1 else table_starts(list(enumerate(rows, 1)))

    def _write(self, text: TextBuilder, rows: list[list[str]], heads: list[bool]) -> None:
        filled = [*map(_filled, rows)]
        is_table = sum(count > 1 for count in filled) > 1
        if is_table:
            self._begin(text, rows, heads)
        elif self.has_names():
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
        if headers <= first and not self._is_rest:
            found = header_rows(list(enumerate(rows, 1)), first)
            headers = first + found if found else headers
        if headers > first:
            self._names = column_names(rows[first:headers])
        elif len(self._names) != len(rows[0]):  # the rest of a table keeps the names of its columns
            self._names = []
        caption = f"{self.caption} {title if headers else ''}"
        text.begin_table(self._names, caption.strip(), header_rows=headers)


def _filled(cells: Cells) -> int:
    return sum(map(bool, cells))


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
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 and len("".join(filled)) > _MAX_ALONE:
        return "".join(filled)  # text in a table that only lays out the page
    while cells and not cells[-1]:
        cells = cells[:-1]
    return re.sub(r"\| +(?=\|)", "| ", " | ".join(cells)).strip()


def header_rows(rows: Sequence[Row], index: int, *, second: bool = False) -> int:
    """How many rows from ``index`` on name the columns; in upper ones, names cover several.

    A row below names may name columns that have none yet, such as the first two, or go on with
    names above figures. Empty rows may lie between names above figures.
    """
    part = rows[index : index + _MOST_HEADERS + _SAMPLE]
    found = int(names_columns(part, 0, second=second))
    for end in range(1, min(_MOST_HEADERS, len(part) - 1)):
        header = [cells for _, cells in part[: end + 1]]
        upper, low = header[-2:]
        low = [
            cell if cell != above else "" for above, cell in zip_longest(upper, low, fillvalue="")
        ]
        above = column_names(header[:-1]) if found else upper
        is_new = [not name for name, cell in zip_longest(above, low, fillvalue="") if cell]
        goes_on = (found > 1 and len(is_new) > 1 and all(is_new)) if found else any(is_new)
        units = [_UNIT.fullmatch(cell) for cell in low[1:] if cell]
        is_lower = not low[0] or (bool(units) and all(units))
        if not (goes_on or is_lower) or not all(map(_is_name, upper + low)):
            break
        if not is_lower and not found and _is_figure(low[0]):
            break  # a row of figures names columns beside an empty cell
        if not is_lower and upper[0] and part[end][0] > part[end - 1][0] + 1:
            break  # of another table
        named = [(part[end][0], column_names(header)), *part[end + 1 :]]
        if (goes_on or _above_figures(part, end, low)) and names_columns(
            named, 0, second=True, several=True
        ):
            found = end + 1
    return found


def _above_figures(rows: Sequence[Row], index: int, cells: Cells) -> bool:
    """Whether all ``cells`` of a row stand above figures alone."""
    figures, words = _columns_below(rows, index)
    return {column for column, cell in enumerate(cells[1:], 1) if cell} <= figures - words


def table_starts(rows: Sequence[Row]) -> list[int]:
    """Where tables begin in rows: at the first, and where names above figures stand again.

    The name of the first column may differ. What stands above the names, such as another year,
    begins the table, too.
    """
    starts = [0]
    known = _first_rows(rows, 0)
    for at in range(2, len(rows) - 1):
        names = rows[at][1][1:]
        start, first = starts[-1], known.get(tuple(names), at)
        if first > at - 2 or _filled(names) < 2 or not all(map(_is_label, filter(None, names))):
            continue
        if names_columns(rows[start:at], first - start, second=True):
            numbers = range(1, min(max(1, first - start), at - first - 1) + 1)
            above = takewhile(partial(_is_above, rows, at, first), numbers)
            starts.append(min([at, *(at - k for k in above)]))
            known = _first_rows(rows, starts[-1])
    return starts


def _first_rows(rows: Sequence[Row], start: int) -> dict[tuple[str, ...], int]:
    """The cells of the first rows of a table, but for their first, and where they are."""
    numbers = range(start, min(start + _MOST_HEADERS, len(rows)))
    return {tuple(rows[at][1][1:]): at for at in reversed(numbers)}


def _is_above(rows: Sequence[Row], at: int, before: int, by: int) -> bool:
    """Whether the row ``by`` above one is a title, or stands above ``before``, too."""
    cells = rows[at - by][1]
    return _filled(cells) == 1 or (by <= before and cells == rows[before - by][1])


def names_columns(
    rows: Sequence[Row], index: int, *, second: bool = False, several: bool = False
) -> bool:
    """Whether a row holds the names of the columns below it.

    Its cells must be distinct labels, none may recur in its column, and the rows below may fill few
    other columns; its first cell may not end in a colon as those below do. Any further such row of
    a sheet (``second``) must be above figures. A row of figures names columns only if they are
    years beside an empty first cell. One label in four may be another figure, such as "18 - 49",
    if two in words are above columns of figures alone. Names of several rows (``several``), each of
    them a label, may be alike.
    """
    number, row = rows[index]
    cells = [cell for cell in row if cell]
    figured = [] if several else [cell for cell in cells if not _is_label(cell)]
    if (len(set(cells)) < len(cells) and not several) or not all(map(_is_figure, figured)):
        return False
    if 4 * len(figured) > len(cells) or max(map(len, figured), default=0) > _MAX_FIGURED:
        return False
    if all(map(_is_figure, cells)) and (row[0] or len(cells) < 2):
        return False
    if index + 1 < len(rows) and rows[index + 1][0] > number + 1:
        second = True
    inside = outside = 0
    for other in _below(rows, index):
        if row[0].endswith(":") and other[:1] and other[0].endswith(":"):
            return False  # each row has a name of its own
        for column, (cell, label) in enumerate(zip_longest(other, row, fillvalue="")):
            if cell and cell == label:
                return False
            inside += bool(cell and label)
            outside += bool(cell and not label and column)
    figures, words = _columns_below(rows, index)
    named = {column for column, label in enumerate(row) if sum(map(str.isalpha, label)) > 3}
    if figured and len(named & (figures - words)) < 2:
        return False
    return inside > 3 * outside and (bool(figures) or not second)


def _below(rows: Sequence[Row], index: int) -> Iterator[Cells]:
    """Yield the rows below a row, down to an empty one that lies below several cells."""
    last, is_body = rows[index][0], False
    for number, cells in rows[index + 1 : index + 1 + _SAMPLE]:
        if is_body and number > last + 1:
            return
        last, is_body = number, is_body or _filled(cells) > 1
        yield cells


def _columns_below(rows: Sequence[Row], index: int) -> tuple[set[int], set[int]]:
    """Return the columns that have figures below a row, and those that have words."""
    held: dict[bool, set[int]] = {True: set(), False: set()}
    for cells in _below(rows, index):
        for column, cell in enumerate(cells):
            if _is_figure(cell) or not _MISSING.fullmatch(cell):
                held[_is_figure(cell)].add(column)
    return held[True], held[False]


def column_names(rows: Sequence[Sequence[str]]) -> Cells:
    """Join the names of each column in several rows of them, from top to bottom.

    An empty place in an upper row belongs to the name on its left, which covers several columns, if
    the file does not say what is covered; the name of the first column, with nothing below it,
    names only the rows.

    >>> column_names([["", "2024", ""], ["Item", "May", "June"]])
    ['Item', '2024 May', '2024 June']
    """
    width = max(map(len, rows), default=0)
    names: list[list[str]] = [[] for _ in range(width)]
    for number, row in enumerate(rows, 1):
        covering, group = "", [""]
        alone = not any(lower[0] for lower in rows[number:])
        is_known = any(isinstance(cell, Covered) for cell in row)
        for column in range(width):
            cell = row[column] if column < len(row) else ""
            if cell:
                covering, group = cell, names[column].copy()
            elif is_known:
                covering = covering if isinstance(cell, Covered) else ""
            elif names[column] != group or (alone and column == 1):
                covering = ""
            if not cell and not any(any(lower[column : column + 1]) for lower in rows[number:]):
                continue
            if covering and covering not in names[column]:
                names[column].append(covering)
    return [" ".join(parts) for parts in names]


def _is_name(cell: str) -> bool:
    return _is_label(cell, 2 * _MAX_LABEL) and not re.search(r":(?:\s|$)|：", cell)


def _is_label(cell: str, longest: int = _MAX_LABEL) -> bool:
    if _is_figure(cell):
        return bool(_YEAR.fullmatch(cell) or _UNIT.fullmatch(cell))
    return len(cell) <= longest and not _NO_LABEL.search(cell)


@lru_cache(maxsize=4096)
def _is_figure(cell: str) -> bool:
    letters = sum(map(str.isalpha, cell)) if len(cell) <= _MAX_FIGURE else len(cell)
    return letters <= 3 and any(map(str.isdigit, cell))


def is_amount(cell: str) -> bool:
    """Whether a cell is a figure, and no year."""
    return _is_figure(cell) and not _YEAR.fullmatch(cell)
