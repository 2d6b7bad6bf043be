"""Rows of tables: their cells, and the text by which search knows a row.

A table is stored as marks over the text (see ``types.Mark``): where it is, its caption and the
names of its columns. Its rows are the lines of the text, their cells are between bars.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from milepost.types import Mark, Span, Table, TableRow

BAR = re.compile(r"(?:^| )\|(?= |$)")
"""What parts the cells of a row."""
_FIGURE = re.compile(
    r"(?<!\S)(?:[$€£¥]\s?)?[(\-–—−]?(?:[$€£¥]\s?)?\d[\d.,]*(?:\s?[)%]{1,2})?(?!\S)|(?<!\S)[–—−-](?!\S)"
)
_YEAR = re.compile(r"(?:19|20)\d\d$")
NOTES = re.compile(r"notes?|ref\.?", re.IGNORECASE)
"""The name of the column of numbers of notes."""
_NOTE_NUMBERS = re.compile(r"(?<=\s)\d{1,2}(?:,\s?\d{1,2})*$")
_MARKDOWN_ROW = re.compile(r"[ \t>]*(\|.*\|)\s*$")
_MARKDOWN_BAR = re.compile(r"(?<!\\)\|")
_LINE = re.compile(r"[^\n]+")
_MAX_KEY = 80
"""Maximum characters of a first cell that is repeated for a later part of its row, of a heading and
of the name of a section."""
_MAX_NAMES = 200
"""Maximum characters of a caption and of the names of columns among the words of a row."""
_MAX_ROW = 4_000
"""Characters on each side of a part of a row in which its other cells are looked for."""
_SECTION_WITHIN = 2_000  # characters above a row in which the name of its section is looked for


class Tables:
    """The tables of one document, whose marks are sorted by offset."""

    def __init__(self, text: str, marks: Sequence[Mark]) -> None:
        self._text = text
        self._tables = list(tables(marks))
        self._headings = [mark for mark in marks if mark.kind == "heading"]

    def row(self, start: int, end: int) -> str | None:
        """Return what the model and the index read for (a part of) a row, if that is not its text.

        Each cell stands after the name of its column, a later part of the row after its first cell.
        """
        table = self._around(start)
        if table is None:
            return None
        line = max(table.body, self._text.rfind("\n", 0, start) + 1)
        stop = self._text.find("\n", start, table.end)
        last = table.end if stop < 0 else stop
        return _labelled(self._text, line, last, (start, end), table.columns)

    def words(self, start: int, end: int) -> str:
        """Return the text whose words find ``text[start:end]``.

        A row of a table is found by the heading above the table, its caption, the names of its
        columns and of the section that it stands in, too.
        """
        table, text = self._around(start), self._text[start:end]
        if table is None or not any(map(str.isalnum, text)):
            return text
        number = bisect_right(self._headings, start, key=attrgetter("offset")) - 1
        heading = self._headings[number].value if number >= 0 else ""
        row = self.row(start, end)
        if row is None:  # no cells between bars, as in PDFs
            names = " ".join(dict.fromkeys(name for name in table.columns if name))
            row = f"{names[:_MAX_NAMES]} {self._section(table, start)} {text}"
        return f"{heading[:_MAX_KEY]} {(table.caption or '')[-_MAX_NAMES:]} {row}"

    def _around(self, start: int) -> TablePlace | None:
        number = bisect_right(self._tables, start, key=attrgetter("start")) - 1
        table = self._tables[number] if number >= 0 else None
        return table if table is not None and table.body <= start < table.end else None

    def _section(self, table: TablePlace, start: int) -> str:
        """The nearest line above a row that has words and no figures."""
        above = self._text[max(table.body, start - _SECTION_WITHIN) : start].split("\n")
        lines = (line for line in reversed(above) if any(map(str.isalpha, line)))
        return next((line for line in lines if not any(map(str.isdigit, line))), "")[:_MAX_KEY]


def _labelled(text: str, first: int, last: int, part: Span, columns: Sequence[str]) -> str | None:
    start, end = part
    cells = cells_of(text, first, last)
    if len(cells) < 2:
        return None
    names = _known(columns)
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


def _known(columns: Sequence[str]) -> set[str]:
    """What stands before the first colon of a cell that is written after its column's name."""
    return {name.partition(": ")[0] for name in columns if name}


def _in_columns(text: str, cells: list[Span], columns: Sequence[str]) -> list[Span]:
    """Put cells that stand after the names of their columns, as in sheets, into their columns."""
    placed = [(0, 0)] * max(len(columns), len(cells))
    column = 0
    for a, b in cells:
        places = (column, *range(len(columns)))  # nearly always the next one
        beginnings = ((k, name) for k in places for name in columns[k : k + 1] if name)
        named = next((k for k, name in beginnings if text.startswith(f"{name}: ", a, b)), None)
        column = column if named is None else named
        if column < len(placed):
            placed[column] = (a, b) if named is None else (a + len(columns[named]) + 2, b)
        column += 1
    return placed


def _within(text: str, cells: Sequence[Span], inside: Span) -> tuple[str, ...]:
    """What a part holds of the cells of a row, and its other cells; "…" for long ones."""
    start, end = inside
    found = []
    for a, b in cells:
        cell = text[max(a, start) : max(a, min(b, end))].strip()
        if not cell and a < b:
            cell = text[a:b] if b - a <= _MAX_KEY else "…"
        found.append(cell)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where a table is, where the rows below its header begin, and its names.

    Attributes:
        unsplit: offsets of rows whose figures the text alone would put into wrong columns.
    """

    start: int
    body: int
    end: int
    caption: str | None
    columns: tuple[str, ...]
    unsplit: frozenset[int]

    def around(self, start: int, end: int) -> Span:
        """Where the whole rows are of which ``text[start:end]`` may hold pieces."""
        return max(self.start, start - _MAX_ROW), min(self.end, end + _MAX_ROW)

    def rows(self, text: str, start: int, spans: Sequence[Span], part: Span) -> Table:
        """Return the rows in a part of a document.

        A row that the part holds a piece of has the cells of the piece and its short cells, in
        their columns. ``text``, of ``around`` the part, begins at ``start``; the rows of ``spans``
        are wanted.
        """
        rows: list[TableRow] = []
        inside = part[0] - start, part[1] - start
        low = max(0, self.body - start)
        for match in _LINE.finditer(text, low, min(len(text), self.end - start)):
            line = max(match.start() + start, part[0]), min(match.end() + start, part[1])
            if any(max(left, line[0]) < min(right, line[1]) for left, right in spans):
                cells = _in_columns(text, self._cells(text, start, match.span()), self.columns)
                rows.append(TableRow(*line, _within(text, cells, inside)))
        return Table(self.caption, self.columns, tuple(rows))

    def lines(self, text: str, start: int, begins: Collection[int]) -> list[list[Span]]:
        """Return the lines of each row in a part of the document; a long row of a sheet has many.

        ``text``, of the part, begins at ``start``; a line that it holds a piece of is left out.
        ``begins`` are offsets of rows that the document marks, as those of sheets are.
        """
        low, high = max(0, self.start - start), min(len(text), self.end - start)
        lines = [match.span() for match in _LINE.finditer(text, low, high)]
        is_sheet = self.start in begins
        rows: list[list[Span]] = []
        for line in lines[start > self.start : len(lines) - (start + high < self.end)]:
            if is_sheet and rows and line[0] + start not in begins:
                rows[-1].append(line)
            elif text[slice(*line)].strip("|-:=+ "):  # no line that is drawn in Markdown
                rows.append([line])
        return rows

    def cells(
        self, text: str, start: int, lines: Sequence[Span], begins: Collection[int]
    ) -> list[Span | None]:
        """Return the cells of one of the ``lines``, in their columns.

        None stands where it is not known how many columns are between two cells.
        """
        cells = self._cells(text, start, lines[0])
        for line in lines[1:]:  # which begin with the first cell again
            more = self._cells(text, start, line)
            cells += more[text[slice(*more[0])] == text[slice(*cells[0])] :]
        in_body = self.start in begins and lines[0][0] + start >= self.body
        if in_body and not self._has_places(text, cells, is_long=len(lines) > 1):
            return [each for cell in cells for each in (cell, None)][:-1]
        return [*_in_columns(text, cells, self.columns)]

    def _has_places(self, text: str, cells: Sequence[Span], *, is_long: bool) -> bool:
        """Whether it is known in which columns the cells of a row of a sheet are."""
        names = _known(self.columns)
        if not names:
            return not is_long  # empty cells leave their place unless the row is long
        first = self.columns[:1] == ("",) and all(self.columns[1:2])
        return all(text[a:b].partition(": ")[0] in names for a, b in cells[first:])

    def _cells(self, text: str, start: int, line: Span) -> list[Span]:
        """The cells of a row between bars, or its label and figures as PDFs have them."""
        cells = cells_of(text, *line)
        if len(cells) > 1 or line[0] + start in self.unsplit:
            return cells
        row, count = text[slice(*line)], len(self.columns) - 1
        found = figure_cells(row, count)
        if not found and count > 1 and NOTES.fullmatch(self.columns[1]):
            found = _without_note(row, count - 1)
        return [(line[0] + low, line[0] + high) for low, high in found] or cells


def tables(marks: Sequence[Mark]) -> Iterator[TablePlace]:
    """Yield where the tables of a document are, by its marks, in order."""
    for number, mark in enumerate(marks):
        if mark.kind == "table":
            length, header, *unsplit = map(int, mark.value.split())
            behind = marks[number + 1 : number + 3]
            names = {each.kind: each.value for each in behind if each.offset == mark.offset}
            yield TablePlace(
                mark.offset,
                mark.offset + header,
                mark.offset + length,
                names.get("caption"),
                tuple(names["columns"].split(" | ")) if "columns" in names else (),
                frozenset(mark.offset + offset for offset in unsplit),
            )


def figure_cells(row: str, count: int) -> list[Span]:
    """Return the spans of a label (it may end in a year, or be one) and ``count`` figures, or none.

    >>> [
    ...     "Net income $ 1,386 (13) 5.2%"[a:b]
    ...     for a, b in figure_cells("Net income $ 1,386 (13) 5.2%", 3)
    ... ]
    ['Net income', '$ 1,386', '(13)', '5.2%']
    """
    ends = [match.span() for match in _FIGURE.finditer(row)]
    tail = len(ends)
    while tail and not row[ends[tail - 1][1] : ends[tail][0] if tail < len(ends) else None].strip():
        tail -= 1
    if count < 1 or len(ends) - tail < count:
        return []
    of_label, figures = ends[tail:-count], ends[-count:]
    label = row[: figures[0][0]].rstrip()
    is_dated = _YEAR.search(label) is not None
    has_words = any(map(str.isalpha, label)) and not of_label
    return [(0, len(label)), *figures] if is_dated or has_words else []


def _without_note(row: str, count: int) -> list[Span]:
    """The label of a row, its notes, of which it has none or several, and ``count`` figures.

    >>> row = "Cash and deposits 13, 14 1,386 902"
    >>> [row[a:b] for a, b in _without_note(row, 2)]
    ['Cash and deposits', '13, 14', '1,386', '902']
    """
    figures = [match.span() for match in _FIGURE.finditer(row)][-count:]
    label = row[: figures[0][0]].rstrip() if figures else ""
    notes = _NOTE_NUMBERS.search(label)
    words = label[: notes.start()].rstrip() if notes else label
    found = figure_cells(words.ljust(figures[0][0]) + row[figures[0][0] :], count) if words else []
    return [found[0], notes.span() if notes else (len(words),) * 2, *found[1:]] if found else []


def cells_of(text: str, start: int, end: int) -> list[Span]:
    """Return the spans of the cells of a row without white space around them.

    >>> [text[a:b] for text in ["Cost | | 55"] for a, b in cells_of(text, 0, 11)]
    ['Cost', '', '55']
    """
    if row := _MARKDOWN_ROW.match(text, start, end):
        start = row.start(1)
    line = text[start:end].rstrip()
    if row:
        bars = [match.span() for match in _MARKDOWN_BAR.finditer(line)][1:-1]
        line, first = line[:-1], 1
    else:
        bars, first = [match.span() for match in BAR.finditer(line)], 0
    edges = [first, *(edge for bar in bars for edge in bar), len(line)]
    cells = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        cell = line[low:high]
        low += len(cell) - len(cell.lstrip())
        cells.append((start + low, max(start + low, start + low + len(cell.strip()))))
    return cells
