"""Decide which rows of a table name its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

Cells = list[str]
"""Cells of a row; empty cells are empty strings."""

Row = tuple[int, Cells]
"""The number of a row, from 1, and its cells, at least one of which has text."""

_MAX_LABEL = 60
_SAMPLE = 50  # rows below a row that decide whether it names the columns
_MAX_FIGURE = 40
_YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:\s?[/-]\s?(?:19|20)?\d\d)?", re.I)
_NO_LABEL = re.compile(r"[.!?]$|@|://")


def names_columns(rows: Sequence[Row], index: int, *, second: bool = False) -> bool:
    """Whether a row holds the names of the columns below it.

    Its cells must be distinct labels, none may recur in its column, and the rows below may fill few
    other columns. Any further such row of a sheet (``second``) must be above figures. A row of
    figures names columns only if they are years beside an empty first cell.
    """
    last, row = rows[index]
    cells = [cell for cell in row if cell]
    if len(set(cells)) < len(cells) or not all(map(_is_label, cells)):
        return False
    if all(map(_is_figure, cells)) and (row[0] or len(cells) < 2):
        return False
    below = []
    for number, other in rows[index + 1 : index + 1 + _SAMPLE]:
        if number > last + 1:
            break
        below.append(other)
        last = number
    inside = outside = 0
    figures = False
    for other in below:
        for column, (cell, label) in enumerate(zip_longest(other, row, fillvalue="")):
            if cell and cell == label:
                return False
            inside += bool(cell and label)
            outside += bool(cell and not label and column)
            figures = figures or _is_figure(cell)
    return inside > 3 * outside and (figures or not second)


def column_names(rows: Sequence[Cells]) -> Cells:
    """Join the names of each column in several rows of them, from top to bottom.

    An empty place in an upper row belongs to the name on its left, which covers several columns.

    >>> column_names([["", "2024", ""], ["Item", "May", "June"]])
    ['Item', '2024 May', '2024 June']
    """
    width = max(map(len, rows), default=0)
    names: list[list[str]] = [[] for _ in range(width)]
    for number, row in enumerate(rows, 1):
        covering = ""
        for column in range(width):
            cell = row[column] if column < len(row) else ""
            covering = cell or ("" if number == len(rows) else covering)
            if covering and covering not in names[column]:
                names[column].append(covering)
    return [" ".join(parts) for parts in names]


def _is_label(cell: str) -> bool:
    if _is_figure(cell):
        return bool(_YEAR.fullmatch(cell))
    return len(cell) <= _MAX_LABEL and not _NO_LABEL.search(cell)


def _is_figure(cell: str) -> bool:
    letters = sum(map(str.isalpha, cell)) if len(cell) <= _MAX_FIGURE else len(cell)
    return letters <= 3 and any(map(str.isdigit, cell))
