"""What stands above the columns of figures of a table → the names of the columns.

A name may span several columns: a line drawn below it says which, as printers set such names.
Elsewhere it stands above the middle of its columns.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, product
from operator import itemgetter
from statistics import median
from typing import NamedTuple

from milepost.documents.readers.pdf.bands import Rule
from milepost.documents.readers.pdf.cells import YEAR, Unit
from milepost.documents.readers.pdf.records import Line, aligned, in_runs

NEAR = 8.0
"""Points between the edges or middles of figures of one column, at most."""
_LONE = 40.0
"""Points to the left of the only column of figures in which its name may stand."""
SAME_LINE = 0.4
"""Distance of two baselines of one line, in font sizes, at most."""
_TOUCHES = 0.3
"""Font sizes between a name and the mark of its note, at most..."""
_MARK = 3
"""...and letters of a word that is no such mark, at least."""
_FAR = 2.5
"""Font sizes from a title to the names below it, at least."""
_BESIDE = 2.0
"""Points that a line drawn below a name may be shorter than it, or off the middle of a column."""
# In distances of columns:
_CENTRED = 0.15  # of their width: a name this close to the middle of columns is that of all
_SURE = 3.0  # times that names of some columns are nearer to their middle than those of all
_OFF = 0.75  # a name this far from a place does not stand there
_UNNAMED = 0.1  # how much further off a name may be if that leaves no column without one

_OF_ALL = re.compile(r"\(.*\b(?:thousands|millions|billions|unaudited)\b.*\)", re.I)
"""What belongs to all figures, wherever it stands."""
_NO_NAME = re.compile(r"\b(?:19|20)\d\d (?:19|20)\d\d\b|.{30}:$")
"""Years of two columns in one, a sentence before the table."""
_NO_LABEL = re.compile(
    r"\d[\d.,]|[$€£¥%]|^\(|[:,]$|^[A-Z]{3}m?$"
    r"|(?i:\b(?:thousands|millions|billions|unaudited|months?|years? ended)\b)"
)
"""What belongs to the columns of figures, or is a row, and does not name their labels."""
_AMOUNT = re.compile(
    r"[-–−(]?(?:[$€£¥]\s?\(?(?!0?00\b)\d[\d,.]*|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+[,.]\d+)\)?"
)
"""A figure that is neither a date nor the number of a column, nor a unit such as £000."""
_CAPTION = 200
"""Characters of a caption of several units, at most; further up, only what leads to it."""
_LONGEST = 200
"""Characters of the name of a column, at most: more, and it is something else."""


@dataclass(slots=True)
class Column:
    """A column of figures: its edges, its rows, its name, and where the space beside it begins."""

    left: float
    right: float
    rows: int = 1
    name: str = ""
    band: float = 0.0

    def holds(self, cell: Line) -> bool:
        """Whether a figure stands in this column: by its right or left edge, or in the middle."""
        return aligned(self, cell) <= NEAR

    @property
    def middle(self) -> float:
        """The middle of its figures."""
        return (self.left + self.right) / 2


class Header(NamedTuple):
    """What stands above a table: units before it, units before its rows, and its words."""

    start: int
    length: int
    caption: str  # the words above and beside the names of the columns
    label: str  # what names the labels of the rows, left of the names of the columns


def columns_of(rows: Sequence[Unit]) -> list[Column]:
    """The columns of figures, from left to right; those of few rows among many are dropped."""
    columns: list[Column] = []
    for row in rows:
        for cell in row.figures:
            column = next((c for c in columns if c.holds(cell)), None)
            if column is None:
                columns.append(Column(cell.left, cell.right))
            else:
                column.left = min(column.left, cell.left)
                column.right = max(column.right, cell.right)
                column.rows += 1
    columns = _merged(columns)
    fewest = 1 if len(rows) < 4 else max(2, len(rows) // 8)
    columns = sorted((c for c in columns if c.rows >= fewest), key=lambda column: column.right)
    steps = [b.right - a.right for a, b in pairwise(columns)]
    edge = columns[0].right - median(steps) if steps else columns[0].left - _LONE if columns else 0
    for column in columns:
        column.band, edge = min(edge, column.left), column.right
    return columns


def _merged(columns: Sequence[Column]) -> list[Column]:
    """Make one of columns that overlap: their figures are aligned in other ways."""
    whole: list[Column] = []
    for column in sorted(columns, key=lambda column: column.left):
        last = whole[-1] if whole else column
        shared = min(last.right, column.right) - column.left
        if last is not column and shared > 0.5 * min(
            last.right - last.left, column.right - column.left
        ):
            last.right = max(last.right, column.right)
            last.rows += column.rows
        else:
            whole.append(column)
    return whole


def add_names(columns: Sequence[Column], header: Sequence[Unit], rules: Sequence[Rule]) -> Header:
    """Give the columns their names; ``rules`` are drawn from left to right, above the rows."""
    words: list[tuple[int, str]] = []
    named, label = 0, ""
    cells = [(cell, number) for number, unit in enumerate(header, 1) for cell in unit.cells]
    lines = [*_lines(cells)]
    names = _Names(columns, [cell for line in lines for cell, _ in line], rules)
    low = 0.0
    for line in reversed(lines):
        above = [c for c, _ in line if columns and _middle(c) > columns[0].band]
        if 2 * sum(_AMOUNT.fullmatch(cell.text) is not None for cell in above) >= len(above) > 0:
            continue  # a row that ends in words, or the axis of a chart
        notes = {id(cell) for cell in above if _OF_ALL.fullmatch(cell.text)}
        above = [c for c in above if id(c) not in notes and not _NO_NAME.search(c.text)]
        is_title = len(above) == 1 and low - line[0][0].base > _FAR * line[0][0].size
        placed = names.placed(above, is_title=is_title) if above else {}
        if (placed or notes) and not named:
            words.clear()  # what stands below the names is the name of a section
        if placed and not any(column.name for column in columns):
            at = next(k for k, (cell, _) in enumerate(line) if id(cell) in placed)
            left = " ".join(cell.text for cell, _ in line[:at])
            if not _NO_LABEL.search(left):
                label, line = left, line[at:]
        for cell, number in reversed(line):
            if id(cell) in placed or id(cell) in notes:
                named, low = max(named, number), cell.base
            if id(cell) not in placed:
                words.append((number, cell.text))
            for column in placed.get(id(cell), ()):
                column.name = f"{cell.text} {column.name}".strip()
    for column in columns:
        column.name = column.name if len(column.name) <= _LONGEST else ""
    start, kept = 0, ""
    for number, unit in groupby(words, key=itemgetter(0)):
        text = " ".join([text for _, text in unit][::-1])
        if kept and len(text) + len(kept) > _CAPTION and not text.endswith((":", ")")):
            start = number
            break
        kept = f"{text} {kept}".rstrip()
    return Header(start, named or len(header), kept, label)


def _lines(cells: Sequence[tuple[Line, int]]) -> Iterator[list[tuple[Line, int]]]:
    """Yield the cells of each line, from the top and from the left."""
    by_height = sorted(cells, key=lambda each: each[0].base)
    lines = in_runs(
        by_height, lambda line, each: each[0].base - line[0][0].base <= SAME_LINE * each[0].size
    )
    for line in lines:
        joined: list[tuple[Line, int]] = []
        for cell, number in sorted(line, key=lambda each: each[0].left):
            last = joined[-1][0] if joined else cell
            is_mark = sum(map(str.isalpha, cell.text)) < _MARK
            if joined and is_mark and cell.left - last.right < _TOUCHES * last.size:
                both = replace(last, text=f"{last.text} {cell.text}", right=cell.right)
                joined[-1] = both, number
            else:
                joined.append((cell, number))
        yield joined


def _middle(cell: Line) -> float:
    return (cell.left + cell.right) / 2


class _Names:
    """Where the names of the columns stand."""

    def __init__(
        self, columns: Sequence[Column], cells: Sequence[Line], rules: Sequence[Rule]
    ) -> None:
        self.columns = columns
        self.cells = cells
        self.rules = sorted(rules)
        steps = [b.right - a.right for a, b in pairwise(columns)] if columns else []
        self.step = median(steps) if steps else columns[0].right - columns[0].band if columns else 0

    def placed(
        self, cells: Sequence[Line], *, is_title: bool = False
    ) -> dict[int, Sequence[Column]]:
        """The columns that each of the names in one line stands above, by its id.

        A title is a name only if a line drawn below it says so.
        """
        columns, step = self.columns, self.step
        spans = [self._spans(cell) for cell in cells]
        if is_title and not spans[0]:
            return {}
        if not any(b > a for span in spans for a, b in span) and self._are_even(cells):
            each = len(columns) // len(cells)
            parts = [columns[at : at + each] for at in range(0, len(columns), each)]
            return {id(cell): part for cell, part in zip(cells, parts, strict=True)}
        # Cheapest way to place the names so far in so many columns from the left.
        ways: dict[int, tuple[float, dict[int, Sequence[Column]]]] = {0: (0.0, {})}
        for cell, span in zip(cells, spans, strict=True):
            found = {at: (cost + _OFF * step, placed) for at, (cost, placed) in ways.items()}
            drawn = [(*each, 0.0) for each in span]
            for first, last, off in drawn or self._places(cell, cells):
                for at, (cost, placed) in ways.items():
                    total = cost + off + _UNNAMED * step * (first - at)
                    if at <= first and total < found.get(last + 1, (float("inf"),))[0]:
                        found[last + 1] = total, {**placed, id(cell): columns[first : last + 1]}
            ways = found
        rest = _UNNAMED * step
        return min(ways.items(), key=lambda way: way[1][0] + rest * (len(columns) - way[0]))[1][1]

    def _are_even(self, cells: Sequence[Line]) -> bool:
        """Whether each of several names stands above as many columns as the others."""
        each, left_over = divmod(len(self.columns), len(cells))
        if left_over or not each:
            return False
        if each == 1:
            pairs = zip(self.columns, cells, strict=True)
            return all(abs(column.middle - _middle(cell)) < self.step / 2 for column, cell in pairs)
        if len(cells) > 1 and all(YEAR.fullmatch(cell.text) for cell in cells):
            return True
        for number, cell in enumerate(cells):
            group = self.columns[number * each : (number + 1) * each]
            left, right = group[0].band, group[-1].right
            if abs(_middle(cell) - (left + right) / 2) > _CENTRED * (right - left):
                return False
            # It may be the name of the middle column, unless the names below it recur beside it.
            inside = {column.name for column in group if column.name}
            others = {column.name for column in self.columns if column not in group}
            if cell.width < self.step and each % 2 and not inside & others:
                return False
        return len(cells) > 1

    def _spans(self, cell: Line) -> set[tuple[int, int]]:
        """First and last columns above what is drawn below a name.

        A line may be drawn in parts, one for each column; one above several columns is sure.
        """
        below = [rule for rule in self.rules if rule[0] > cell.base - 0.2 * cell.size]
        for _, parts in groupby(below, key=lambda rule: round(rule[0] / _BESIDE)):
            edges = [*parts]
            whole = self._above(cell, edges, {edge[1:] for edge in edges}, centred=False)
            widest = max(whole, key=lambda span: span[1] - span[0], default=(0, 0))
            if widest[1] > widest[0]:
                return {widest}
            starts = {edge[1] for edge in edges if edge[1] <= cell.left + _BESIDE}
            ends = {edge[2] for edge in edges if edge[2] >= cell.right - _BESIDE}
            if found := self._above(cell, edges, {*product(starts, ends)}):
                return found
        return set()

    def _above(
        self,
        cell: Line,
        edges: Sequence[Rule],
        parts: Set[tuple[float, float]],
        *,
        centred: bool = True,
    ) -> set[tuple[int, int]]:
        """First and last columns above those parts of a line that a name is in the middle of.

        Unless it must be centred, it may also begin or end where the part does.
        """
        found: set[tuple[int, int]] = set()
        for start, end in parts:
            left, right = cell.left - start, end - cell.right
            off = abs(left - right) / 2
            if not centred and start > self.columns[0].band - NEAR:
                off = min(off, left, right)
            if min(left, right) < -_BESIDE or off > NEAR / 2:
                continue
            inside = [k for k, c in enumerate(self.columns) if start < c.middle < end]
            if inside and self._is_alone(cell, start, end, edges[0][0]):
                found.add((inside[0], inside[-1]))
        return found

    def _is_alone(self, cell: Line, left: float, right: float, low: float) -> bool:
        """Whether only lines of the same name stand above a drawn line."""
        above = reversed(self.rules[: bisect_left(self.rules, (cell.base - 0.5 * cell.size,))])
        top = next((y for y, a, b in above if a < right and b > left), 0.0)
        near = [x for x in self.cells if max(top, cell.base - 1.5 * cell.size) < x.base < low]
        inside = [_middle(x) for x in near if left < _middle(x) < right]
        return all(abs(middle - _middle(cell)) <= NEAR / 2 for middle in inside)

    def _places(self, cell: Line, cells: Sequence[Line]) -> Iterator[tuple[int, int, float]]:
        """Yield where a name may stand: the first and last column, and how far it is off them."""
        middle, most = _middle(cell), _OFF * self.step
        below = [k for k, c in enumerate(self.columns) if cell.left < c.middle < cell.right]
        for first in range(below[0] + 1 if below else len(self.columns)):
            for last in range(max([first, *below]), len(self.columns)):
                one, other = self.columns[first], self.columns[last]
                off = abs(middle - ((one.left + one.band) / 2 + other.right) / 2)
                if first == last:
                    off = min(off, abs(cell.left - one.left), abs(cell.right - one.right))
                elif len(cells) > 1 or last - first + 1 < len(self.columns):
                    off *= _SURE
                    if cell.width < self.step and (last - first) % 2 == 0:
                        off += _UNNAMED * self.step * (last - first + 0.1)
                if off < most:
                    yield first, last, off
