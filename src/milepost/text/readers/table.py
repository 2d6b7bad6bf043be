"""Write the rows of a sheet or a CSV file as text, each cell after the name of its column.

Measured on four real tables of airports, cars, people and bacteria (136 questions such as "Which
city is NAME airport in?", the shipped model): the row was the first hit for 134 questions with
column names in each cell, and for 111 with column names only in the first row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from milepost.text.readers.builder import TextBuilder
from milepost.text.readers.grid import joined

Cells = list[str]
"""Cells of a row; empty cells are empty strings."""

Row = tuple[int, Cells]
"""The number of a row, from 1, and its cells, at least one of which has text."""

MAX_UNIT = 500
"""Characters of a unit: a longer row is written as several, so that the sentence splitter does not
cut it inside a cell. Each unit begins with the row's first cell, which names its subject."""

_MAX_KEY = 80
_MAX_LABEL = 60
_SAMPLE = 50  # rows below a row that decide whether it names the columns
_MAX_FIGURE = 40
_YEAR = re.compile(r"(?:19|20)\d\d")
_NO_LABEL = re.compile(r"[.!?]$|@|://")


def write_rows(rows: Sequence[Row], text: TextBuilder) -> None:
    """Add rows, which ascend by number and are not empty, to a text, with a mark for each."""
    labels: Cells = []
    begins = True  # a table begins at the first row of several cells, below its title if any
    last = 0
    for index, (number, row) in enumerate(rows):
        filled = sum(map(bool, row))
        begins = begins or number > last + 1
        last = number
        text.place("row", str(number))
        if begins and filled > 1 and _names_columns(rows, index, second=bool(labels)):
            labels = row
            text.add(joined(row), close=True)
        else:
            for unit in _units(row, labels):
                text.add(unit, close=True)
        begins = begins and filled == 1


def _units(row: Cells, labels: Cells) -> list[str]:
    """Format a row as one line, or a long row as several."""
    if not any(labels) and sum(map(bool, row)) > 1:
        line = joined(row)  # only its place tells to which column a cell belongs
        if len(line) <= MAX_UNIT:
            return [line]
    named = [*labels, *[""] * len(row)]
    pairs = [
        f"{label}: {cell}" if label else cell
        for label, cell in zip(named, row, strict=False)
        if cell
    ]
    key = pairs[0] if len(pairs[0]) <= _MAX_KEY else ""
    units = [pairs[0]]
    for pair in pairs[1:]:
        if len(units[-1]) + len(pair) + 3 <= MAX_UNIT:
            units[-1] += f" | {pair}"
        else:
            units.append(f"{key} | {pair}" if key else pair)
    return units


def _names_columns(rows: Sequence[Row], index: int, *, second: bool) -> bool:
    """Whether a row holds the names of the columns below it.

    Its cells must be distinct labels, none may recur in its column, and the rows below may fill few
    other columns. Any further such row of a sheet must be above figures.
    """
    last, row = rows[index]
    cells = [cell for cell in row if cell]
    if len(set(cells)) < len(cells) or not all(map(_is_label, cells)):
        return False
    if all(map(_is_figure, cells)):
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
        for cell, label in zip_longest(other, row, fillvalue=""):
            if cell and cell == label:
                return False
            inside += bool(cell and label)
            outside += bool(cell and not label)
            figures = figures or _is_figure(cell)
    return inside > 3 * outside and (figures or not second)


def _is_label(cell: str) -> bool:
    if _is_figure(cell):
        return bool(_YEAR.fullmatch(cell))
    return len(cell) <= _MAX_LABEL and not _NO_LABEL.search(cell)


def _is_figure(cell: str) -> bool:
    """Whether a cell is a number, an amount, a date or a time."""
    letters = sum(map(str.isalpha, cell)) if len(cell) <= _MAX_FIGURE else len(cell)
    return letters <= 3 and any(map(str.isdigit, cell))
