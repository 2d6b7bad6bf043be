"""Lines that are dropped although they do not repeat over pages, and those that repeat and stay.

The first are the numbers that count the lines of a page; the others are rows of tables, because
names of columns stand on each page.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from milepost.documents.readers.pdf.page import Page
from milepost.documents.readers.pdf.records import Line, aligned, rows_of

_DIGITS_MOST = 4  # digits of the number of a line
_LEAST = 3  # numbers on a page
_LEVEL = 0.3  # of the size: baselines this near are one
_BY_NUMBER = 2  # lines for each that is counted, at most: sections have more
_RUNNING = 0.4  # share of the lines that begin inside of a sentence: fewer are items of a list


def drop_line_numbers(page: Page) -> None:
    """Drop the numbers that count the lines of a page, each or every fifth.

    They stand in one column, left or right of all text, count by one step, and the lines beside
    them are running text, not the rows of a table, the items of a list or the titles of sections.
    """
    numbers = [x for x in page.frame.lines if len(x.text) <= _DIGITS_MOST and x.text.isdecimal()]
    if len(numbers) < _LEAST:
        return
    columns: dict[tuple[str, int], list[Line]] = defaultdict(list)
    for line in numbers:
        columns["left", round(line.left / 3)].append(line)
        columns["right", round(line.right / 3)].append(line)
    for column in sorted(columns.values(), key=len, reverse=True):
        own = [line for line in column if not line.dropped]
        if len(own) >= _LEAST and _counts(own) and _beside_text(page, own):
            for line in own:
                line.dropped = True


def _counts(column: list[Line]) -> bool:
    column.sort(key=lambda line: line.base)
    steps = {int(b.text) - int(a.text) for a, b in pairwise(column)}
    return len(steps) == 1 and 0 < next(iter(steps)) <= 10


def _beside_text(page: Page, column: list[Line]) -> bool:
    own = set(map(id, column))
    rest = [
        line
        for line in page.frame.lines
        if id(line) not in own
        and line.angle == column[0].angle
        and any(map(str.isalpha, line.text))
    ]
    rows = [[x for x in rest if abs(x.base - n.base) < _LEVEL * x.size] for n in column]
    if sum(len(row) == 1 for row in rows) < 0.9 * len(rows):
        return False
    top, bottom = column[0].base, column[-1].base
    between = [x for x in rest if top <= x.base <= bottom]
    counted = int(column[-1].text) - int(column[0].text)
    running = sum(x.text[0].islower() for x in between)
    few = len(rows_of(between)) <= _BY_NUMBER * counted + 1
    return few and running >= _RUNNING * max(1, len(between) - 1)


_ALIGNED = 4.0  # points that the cells of one column are off each other, at most
_NEXT = 4.0  # font sizes from a row to the next, at most
_FEWEST = 3  # cells in columns: the two ends of a running head are at the margins, too


def restore_cells(page: Page) -> None:
    """Take back rows of a table that goes on below them."""
    dropped = [line for line in page.frame.lines if line.dropped]
    for table in (each for each in page.ruled if any(map(each.cell, dropped))):
        rows = [row for row in table.in_rows(page.frame.lines) if len(row) > 1]
        lines = [line for row in rows for cell in row.values() for line in cell]
        if not all(line.dropped for line in lines):
            for line in lines:
                line.dropped &= not table.drawn and sum(in_row(line, y) for y in lines) < 2
    upright = (line for line in page.frame.lines if line.angle == page.frame.lines[0].angle)
    for below, row in pairwise(reversed(rows_of(upright) if dropped else [])):
        near = below[0].base - row[0].base < _NEXT * row[0].size
        if near and all(x.dropped for x in row) and not all(x.dropped for x in below):
            inside = sum(any(aligned(name, cell) < _ALIGNED for cell in below) for name in row)
            for line in [*row, *below]:
                line.dropped &= inside < _FEWEST


def in_row(line: Line, other: Line) -> bool:
    """Whether a line stands at the height of another."""
    return line.angle == other.angle and abs(line.base - other.base) < 0.4 * other.size
