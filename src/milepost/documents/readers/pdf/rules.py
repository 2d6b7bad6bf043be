"""The lines that a page draws → its ruled tables, as the edges of their rows and columns."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, starmap
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from milepost.documents.readers.pdf.bands import Rule, banded
from milepost.documents.readers.pdf.lines import turned
from milepost.documents.readers.pdf.records import Floats, Line, in_runs, rows_of

if TYPE_CHECKING:
    from milepost.documents.readers.pdf.glyphs import Display

_THIN = 2.5
"""Points that a drawn line is wide, at most."""
_NEAR = 2.0
"""Points between the ends of lines that meet, and between lines that are one, at most."""
_SHORT = 8.0
"""Points that a line is long, at least."""
_FEWEST = 2
"""Rows with words in several cells that a table has, at least."""
_FEWEST_LINES = 3
"""Lines from left to right that a table has, at least."""
_WHOLE = 0.9
"""Share of a table's height that a line between two columns has, at least."""
LONGEST_CELL = 400
"""Characters of a cell, at most: more, and the lines are around the parts of a page."""
_DIVIDED = 0.75
"""Share of the height of a table that its divided rows have, at least."""

Row = dict[int, list[Line]]
"""The printed lines of each cell of a row that has any, by the number of its column."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """A table with lines around its cells, or between its rows."""

    # the edges of its rows, ascending; a merged cell goes on over some of them
    rows: Sequence[float]
    columns: Sequence[float]  # those of its columns
    across: Sequence[Rule]  # its lines from left to right, ascending
    down: Sequence[Rule]  # its lines from top to bottom, ascending
    # width and height of the page, to place sideways lines in cells; 0 if they are not
    page: tuple[float, float] = (0.0, 0.0)
    # whether all lines are drawn, so that cells without one between them are merged
    drawn: bool = False
    is_even: bool = True  # whether the lines between its columns go through all of its rows
    _known: dict[int, tuple[int, int] | None] = field(default_factory=dict)

    def mirrored(self) -> Ruled:
        """The same table as it is read from the right."""
        across = [(place, -end, -start) for place, start, end in self.across]
        down = [(-place, start, end) for place, start, end in reversed(self.down)]
        columns = [-edge for edge in reversed(self.columns)]
        return Ruled(self.rows, columns, across, down, drawn=self.drawn)

    def overlaps(self, other: Ruled) -> bool:
        """Whether a part of the page is inside both."""
        pairs = (self.rows, other.rows), (self.columns, other.columns)
        return all(one[0] < two[-1] and one[-1] > two[0] for one, two in pairs)

    def filled(self, lines: Iterable[Line]) -> Ruled:
        """The same table without the columns in which none of some lines begins."""
        places = {id(line): self.cell(line) for line in lines}
        used = sorted({place[1] for place in places.values() if place})
        edges = [*(self.columns[column] for column in used), self.columns[-1]]
        known = {line: at and (at[0], used.index(at[1])) for line, at in places.items()}
        return replace(self, columns=edges, _known=known)

    def cut(self, lines: list[Line]) -> None:
        """Cut lines at the spaces that a line between two columns goes through; changes the list.

        The lines must have the places of their characters.
        """
        for number in reversed(range(len(lines))):
            line = lines[number]
            height, right = line.middle, line.right - _NEAR
            walls = [] if line.angle else _crossed(self.down, line.left + _NEAR, right, height)
            for wall in reversed(walls):
                at = int(np.count_nonzero(line.starts < wall[0] - _NEAR))
                at += line.text[at : at + 1] == " "  # which the line goes through
                before, after = line.starts[:at], line.starts[at:]
                if line.text[at - 1 : at] == " " and len(after) and before.max() < after.min():
                    lines.insert(number + 1, line.cut(at))

    def cell(self, line: Line) -> tuple[int, int] | None:
        """The row and column in which the cell of a line begins; None if it is in no one cell."""
        if id(line) not in self._known:
            self._known[id(line)] = self._cell(line)
        return self._known[id(line)]

    def _cell(self, line: Line) -> tuple[int, int] | None:
        middle, left, right = line.middle, line.left + _NEAR, line.right - _NEAR
        if line.angle:  # its place is that on the turned page
            (width, height), along = self.page, (line.left + line.right) / 2
            if not width or line.angle not in (90, 270):
                return None
            left = right = middle if line.angle == 270 else width - middle
            middle = along if line.angle == 90 else height - along
        row, column = bisect_right(self.rows, middle) - 1, bisect_right(self.columns, left) - 1
        outside = not 0 <= row < len(self.rows) - 1 or column < 0 or right > self.columns[-1]
        if outside or _crossed(self.down, left, right, middle):
            return None
        while row and not _lies_at(self.across, self.rows[row], left):
            row -= 1
        while self.drawn and column and not _lies_at(self.down, self.columns[column], middle):
            column -= 1
        return row, column

    def is_open(self, row: int) -> bool:
        """Whether no line is drawn above the first cell of a row."""
        middle = (self.columns[0] + self.columns[1]) / 2
        return not _lies_at(self.across, self.rows[row], middle)

    def is_of_words(self, rows: Sequence[Row]) -> bool:
        """Whether it has words in several columns, or a label of several rows."""
        firsts = ([cell[0] for cell in row.values()] for row in rows)
        return self.has_shared_label(rows) or _are_of_words(firsts)

    def has_shared_label(self, rows: Iterable[Row]) -> bool:
        """Whether the first cell of a row goes on over the next, which has figures of its own."""
        firsts = (row[min(row)][0] for row in rows if len(row) > 1 and 0 not in row)
        return self.drawn and any(self.is_open(place[0]) for x in firsts if (place := self.cell(x)))

    def is_crossed(self, lines: Iterable[Line]) -> bool:
        """Whether one of some lines is inside, but in no one cell."""
        left, right = self.columns[0] + _NEAR, self.columns[-1] - _NEAR
        beside = (x for x in lines if not x.angle and x.left < right and x.right > left)
        inside = (x for x in beside if self.rows[0] < x.middle < self.rows[-1])
        return any(self.cell(line) is None for line in inside)

    def is_clear(self, lines: Iterable[Line]) -> bool:
        """Whether most rows have several cells, of lines that are below each other and not many."""
        rows = replace(self, _known={}).in_rows(lines)
        cells = [cell for row in rows for cell in row.values()]
        below = (b.base - a.base > 0.5 * b.size for cell in cells for a, b in pairwise(cell))
        short = all(sum(len(line.text) for line in cell) <= LONGEST_CELL for cell in cells)
        return short and 2 * sum(len(row) > 1 for row in rows) > len(rows) and all(below)

    def in_rows(self, lines: Iterable[Line]) -> list[Row]:
        """Put lines into their rows, columns and order; those in no cell are left out."""
        rows: dict[int, Row] = {}
        for line in sorted(lines, key=lambda line: (line.left, line.base)):
            place = self.cell(line)
            if place is not None:
                rows.setdefault(place[0], {}).setdefault(place[1], []).append(line)
        return [
            {column: sorted(row[column], key=lambda line: line.base) for column in sorted(row)}
            for _, row in sorted(rows.items())
        ]

    def bars(self, line: Line, before: Line | None = None) -> str:
        """What stands in a row before a cell that begins with ``line``; see ``grid.joined``."""
        places = [self.cell(each) or (0, 0) for each in (line, before or line)]
        edges = places[0][1] - (places[1][1] if before else 0)
        return " " * bool(before) + "| " * edges


def drawn_lines(display: Display, angle: int) -> tuple[list[Rule], list[Rule]]:
    """Find the lines that an open page draws, across and down; the lock must be held.

    They are in the frame of writing in the direction ``angle``. A line across that others down
    stand on is one for each of the cells between them.
    """
    across: list[Rule] = []
    down: list[Rule] = []
    _, boxes = display.paths
    if angle:
        size = display.width, display.height
        ends = turned(boxes[:, :2], angle, *size), turned(boxes[:, 2:], angle, *size)
        boxes = np.hstack([np.minimum(*ends), np.maximum(*ends)])
    for x0, y0, x1, y1 in boxes.tolist():
        if y1 - y0 <= _THIN:
            across += [((y0 + y1) / 2, x0, x1)] if x1 - x0 >= _SHORT else []
        elif x1 - x0 <= _THIN:
            down += [((x0 + x1) / 2, y0, y1)] if y1 - y0 >= _SHORT else []
        else:  # the frame of a cell
            across += [(y0, x0, x1), (y1, x0, x1)]
            down += [(x0, y0, y1), (x1, y0, y1)]
    return across, down


def below_cells(across: Floats, down: Floats, top: float, low: float) -> list[Rule]:
    """The lines across between two heights; those that others down stand on are cut there.

    ``across`` and ``down`` are ``(n, 3)``, see ``Page.drawn``.
    """
    cut: list[Rule] = []
    near = across[(across[:, 0] > top) & (across[:, 0] < low)]
    if not len(near):
        return []
    beside = down[(down[:, 1] < low) & (down[:, 2] > top)]
    for at, start, end in near.tolist():
        on = beside[(beside[:, 1] < at - _NEAR) & (beside[:, 2] >= at - _NEAR), 0]
        edges = [start, *_apart(on[(on > start + _NEAR) & (on < end - _NEAR)].tolist()), end]
        cut += [(at, *part) for part in pairwise(edges)]
    return cut


def ruled_tables(
    across: Sequence[Rule], down: Sequence[Rule], lines: list[Line], page: tuple[float, float]
) -> list[Ruled]:
    """Find the ruled tables of a page with words in them, by the lines that it draws.

    Those of figures are left out unless one label is that of several rows.
    ``lines`` that go on from one cell to the next are cut: it changes the list. For ``page`` see
    ``Ruled``.
    """
    rows = rows_of(lines) if len(across) >= _FEWEST_LINES else []
    if sum(len(row) > 1 for row in rows) < _FEWEST:
        return []
    across, down = _joined(across), _joined(down)
    # A table keeps the cells of lines, so its page is known before it is asked for any.
    found = [
        replace(table, page=page)
        for table in _tables(across, down)
        if table.is_even or table.is_clear(lines)
    ]
    for table in found:
        table.cut(lines)
    if not _are_of_words(rows_of(lines) if found else rows):
        found = [table for table in found if table.is_of_words(table.in_rows(lines))]
    else:
        for table in starmap(partial(Ruled, page=page), banded(across, lines)):
            found += [table] if not any(map(table.overlaps, found)) else []
    return found


def _are_of_words(rows: Iterable[Iterable[Line]]) -> bool:
    """Whether several rows have letters in several of their lines."""
    letters = (sum(any(map(str.isalpha, line.text)) for line in row) for row in rows)
    return sum(count > 1 for count in letters) >= _FEWEST


def _crossed(rules: Sequence[Rule], low: float, high: float, along: float) -> list[Rule]:
    """The lines, which ascend, between two places that reach over a point along them."""
    first, end = bisect_right(rules, (low, inf)), bisect_left(rules, (high,))
    return [rule for rule in rules[first:end] if rule[1] <= along <= rule[2]]


def _lies_at(rules: Sequence[Rule], place: float, along: float) -> bool:
    return bool(_crossed(rules, place - _NEAR, place + _NEAR, along))


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Make one of lines that go on in each other, or lie on each other."""
    whole: list[Rule] = []
    for at, start, end in sorted(rules):
        for number in range(len(whole) - 1, -1, -1):
            place, first, last = whole[number]
            if at - place > _NEAR:
                whole.append((at, start, end))
                break
            if start <= last + _NEAR and end >= first - _NEAR:
                whole[number] = place, min(first, start), max(last, end)
                break
        else:
            whole.append((at, start, end))
    return whole


def _tables(across: Sequence[Rule], down: Sequence[Rule]) -> Iterator[Ruled]:
    rest, left = {*across}, [*down]
    while left:
        group, reached = [left.pop()], list[Rule]()
        for rule in group:  # it grows by the lines that stand on the same ones across
            met = [each for each in rest if _meet(rule, each)]
            reached += met
            rest.difference_update(met)
            beside = [each for each in left if any(_meet(each, other) for other in met)]
            group += beside
            left = [each for each in left if each not in beside]
        if table := _table(reached, group):
            yield table


def _meet(one: Rule, other: Rule) -> bool:
    """Whether a line across and one down touch each other."""
    return (
        one[1] - _NEAR <= other[0] <= one[2] + _NEAR
        and other[1] - _NEAR <= one[0] <= other[2] + _NEAR
    )


def _table(across: Sequence[Rule], down: Sequence[Rule]) -> Ruled | None:
    """The table of lines that touch each other; None if its columns do not go through."""
    if len(across) < _FEWEST_LINES:
        return None
    rows = _apart(place for place, _, _ in across)
    ends = [end for _, *both in across for end in both]
    columns = _apart([*(place for place, _, _ in down), min(ends), max(ends)])
    if min(len(rows), len(columns)) < 3:
        return None
    inner = [rule for rule in down if columns[0] + _NEAR < rule[0] < columns[-1] - _NEAR]
    # A row that is one cell from left to right, such as the title of a part, has none of them.
    divided = [b - a for a, b in pairwise(rows) if any(x[1] < (a + b) / 2 < x[2] for x in inner)]
    least = _WHOLE * max(sum(divided), _DIVIDED * (rows[-1] - rows[0]))
    lengths = [
        sum(end - start for place, start, end in inner if abs(place - edge) <= _NEAR)
        for edge in columns[1:-1]
    ]
    if min(lengths) < least:
        return None
    even = min(lengths) >= _WHOLE * (rows[-1] - rows[0])
    return Ruled(rows, columns, sorted(across), sorted(down), drawn=True, is_even=even)


def _apart(places: Iterable[float]) -> list[float]:
    """Places that are not near each other, ascending."""
    runs = in_runs(sorted(places), lambda run, place: place - run[0] <= _NEAR)
    return [run[0] for run in runs]
