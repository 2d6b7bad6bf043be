"""Rows of tables: their cells, and the text by which search knows a row.

A table is stored as marks over the text (see ``types.Mark``): where it is, its caption and the
names of its columns. Its rows are the lines of the text, their cells are between bars.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from milepost.types import Mark, Span, Table, TableRow

_BAR = re.compile(r"(?:^| )\|(?= |$)")
_MARKDOWN_BAR = re.compile(r"(?<!\\)\|")
_MAX_KEY = 80
"""Maximum characters of a first cell that is repeated for a later part of its row."""


class Tables:
    """The tables of one document.

    Args:
        text: the document's text.
        marks: its marks, sorted by offset.
    """

    def __init__(self, text: str, marks: Sequence[Mark]) -> None:
        self._text = text
        self._tables = list(_tables(marks))
        self._starts = [table.start for table in self._tables]

    def row(self, start: int, end: int) -> str | None:
        """Return what the model and the index read for a row, or a part of one.

        Each cell stands after the name of its column, a later part of the row after its first cell.

        Returns:
            None if ``text[start:end]`` is not in a table, or is read as it is.
        """
        number = bisect_right(self._starts, start) - 1
        if number < 0:
            return None
        table = self._tables[number]
        if not table.body <= start < table.end:
            return None
        line = max(table.body, self._text.rfind("\n", 0, start) + 1)
        stop = self._text.find("\n", start, table.end)
        last = table.end if stop < 0 else stop
        return _labelled(self._text, line, last, (start, end), table.columns)


def _labelled(text: str, first: int, last: int, part: Span, columns: Sequence[str]) -> str | None:
    start, end = part
    cells = cells_of(text, first, last)
    if len(cells) < 2:
        return None
    names = {name.partition(": ")[0] for name in columns if name}
    words: list[str] = []
    a, b = cells[0]
    if start >= b > a and b - a <= _MAX_KEY:
        words.append(text[a:b])
    for number, (low, high) in enumerate(cells):
        cell = text[max(low, start) : min(high, end)].strip()
        if not cell:
            continue
        name = columns[number] if number < len(columns) else ""
        has_name = cell.partition(": ")[0] in names  # rows of sheets are written so
        words.append(f"{name}: {cell}" if name and not has_name else cell)
    return " | ".join(words)


def table_at(marks: Sequence[Mark], text: str, start: int, spans: Sequence[Span]) -> Table | None:
    """Return the rows of a table in a part of a document.

    Args:
        marks: the document's marks.
        text: the part.
        start: its offset in the document.
        spans: the sentences whose rows are wanted; the first one decides which table.
    """
    at = spans[0][0]
    table = next((table for table in _tables(marks) if table.start <= at < table.end), None)
    if table is None:
        return None
    rows: list[TableRow] = []
    low = max(0, table.body - start)
    high = min(len(text), table.end - start)
    while low < high:
        stop = text.find("\n", low, high)
        stop = high if stop < 0 else stop
        line = low + start, stop + start
        if low < stop and any(left < line[1] and right > line[0] for left, right in spans):
            cells = [text[a:b] for a, b in cells_of(text, low, stop)]
            rows.append(TableRow(*line, _in_columns(cells, table.columns)))
        low = stop + 1
    return Table(table.caption, table.columns, tuple(rows))


def _in_columns(cells: list[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Put cells that stand after the names of their columns, as in sheets, into their columns."""
    placed = [""] * max(len(columns), len(cells))
    column = 0
    for cell in cells:
        named = [k for k, name in enumerate(columns) if name and cell.startswith(f"{name}: ")]
        column = named[0] if named else column
        if column < len(placed):
            placed[column] = cell[len(columns[column]) + 2 :] if named else cell
        column += 1
    return tuple(placed)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a table is, where the rows below its header begin, and its names."""

    start: int
    body: int
    end: int
    caption: str | None
    columns: tuple[str, ...]


def _tables(marks: Sequence[Mark]) -> Iterator[_Place]:
    for number, mark in enumerate(marks):
        if mark.kind == "table":
            length, header = map(int, mark.value.split())
            names = {each.kind: each.value for each in marks[number + 1 : number + 3]}
            yield _Place(
                mark.offset,
                mark.offset + header,
                mark.offset + length,
                names.get("caption"),
                tuple(names["columns"].split(" | ")) if "columns" in names else (),
            )


def cells_of(text: str, start: int, end: int) -> list[Span]:
    """Return the spans of the cells of a row without white space around them.

    >>> [text[a:b] for text in ["Cost | | 55"] for a, b in cells_of(text, 0, 11)]
    ['Cost', '', '55']
    """
    line = text[start:end].rstrip()
    if line[:1] == "|" and line[-1:] == "|" and len(line) > 1:  # Markdown
        bars = [match.span() for match in _MARKDOWN_BAR.finditer(line)][1:-1]
        line, first = line[:-1], 1
    else:
        bars, first = [match.span() for match in _BAR.finditer(line)], 0
    edges = [first, *(edge for bar in bars for edge in bar), len(line)]
    cells = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        cell = line[low:high]
        low += len(cell) - len(cell.lstrip())
        cells.append((start + low, max(start + low, start + low + len(cell.strip()))))
    return cells
