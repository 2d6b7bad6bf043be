"""Write the rows of a sheet or a CSV file as text, each cell after the name of its column.

Measured on four real tables of airports, cars, people and bacteria (136 questions such as "Which
city is NAME airport in?", the shipped model): the row was the first hit for 134 questions with
column names in each cell, and for 111 with column names only in the first row.
"""

from __future__ import annotations

from collections.abc import Sequence

from milepost.text.readers.builder import TextBuilder
from milepost.text.readers.grid import joined
from milepost.text.readers.headers import Cells, names_columns
from milepost.text.readers.headers import Row as Row

MAX_UNIT = 500
"""Characters of a unit: a longer row is written as several, so that the sentence splitter does not
cut it inside a cell. Each unit begins with the row's first cell, which names its subject."""

_MAX_KEY = 80


def write_rows(rows: Sequence[Row], text: TextBuilder) -> None:
    """Add rows, which ascend by number and are not empty, to a text, with a mark for each.

    A table begins at the first row of several cells and after each empty row; the title above it,
    alone in its row, is its caption.
    """
    labels: Cells = []
    begins = True  # a table begins at the first row of several cells, below its title if any
    last = 0
    title = ""
    for index, (number, row) in enumerate(rows):
        filled = sum(map(bool, row))
        begins = begins or number > last + 1
        last = number
        names = begins and filled > 1 and names_columns(rows, index, second=bool(labels))
        if names:
            labels = row
        if begins:
            text.end_table()
        if begins and filled > 1:
            text.begin_table(labels, title, header_rows=int(names))
        title = " ".join(filter(None, row)) if begins and filled == 1 else ""
        text.place("row", str(number))
        if names:
            text.add(joined(row), close=True)
        else:
            for unit in _units(row, labels):
                text.add(unit, close=True)
        begins = begins and filled == 1
    text.end_table()


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
