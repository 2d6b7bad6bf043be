"""Lines between rows alone → tables whose columns are where no row has words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from operator import attrgetter

from milepost.documents.readers.pdf.records import Line, rows_of

Rule = tuple[float, float, float]
"""Where a drawn line is, and where it begins and ends along itself."""

Drawn = tuple[list[float], list[float], list[Rule], list[Rule]]
"""The edges of the rows of a table, those of its columns, its lines across, and those down."""

_Rows = list[list[Line]]
"""Printed lines in rows, from the top."""

# In points:
_ALIGNED = 8.0  # between the ends of the lines of one table, at most
_SHORTEST = 100.0  # length of the lines of a table, at least
_NEAR = 2.0  # between lines that are one, at most
_WHITE = 3.0  # between two columns, at least
_PARTS = 9.0  # between the parts of a line that is drawn column by column, at most
_EMPTY = 30.0  # of a table without words, at most
_PROSE = 0.7  # of the width: a line that stands alone and is as wide is running text
_FAR = 1.5  # times the least distance of lines: from there on, another row begins
_BELOW = 0.4  # font sizes from the base of words to a line that underlines them, at most
_NEXT = 1.5  # font sizes from the outermost line of a table to a row beyond it, at most
_FEWEST = 3  # rows of a table
_ACROSS = 0.25  # of the rows, at most, have words that go over several columns
# A part without lines inside has rows of one printed line each if more than _FEW, and _FULL of all,
# have words in _MOST of the columns.
_FEW, _FULL, _MOST = 3, 0.6, 0.7


def banded(across: Iterable[Rule], lines: Iterable[Line]) -> Iterator[Drawn]:
    """Yield the tables whose lines go from left to right alone."""
    upright = sorted((line for line in lines if not line.angle), key=attrgetter("base"))
    reach = _BELOW * max((line.size for line in upright), default=0.0)
    across = [rule for rule in across if not _underlines(rule, upright, reach)]
    stacks = _stacks(across)
    for stack in stacks:
        left, right = min(rule[1] for rule in stack), max(rule[2] for rule in stack)
        wider = [rule[0] for other in stacks for rule in other if _is_beyond(rule, left, right)]
        parts = [  # between rows in more than half of the columns, but not in all
            (at, start, end)
            for at, start, end in across
            if left < start and end < right + _ALIGNED and 2 * (end - start) > right - left
        ]
        rows = rows_of(line for line in upright if line.left < right and line.right > left)
        edges: list[float] = []
        for rule in [*stack, (float("inf"), left, right)]:
            band = [row for row in rows if edges and edges[-1] < row[0].middle <= rule[0]]
            is_empty = not band and bool(edges) and rule[0] - edges[-1] > _EMPTY
            if edges and (is_empty or _is_text(band, left, right)):
                if not any(edges[0] < at < edges[-1] for at in wider):
                    yield from _table(edges, rows, parts, left, right)
                edges = []
            if edges and not band:
                edges[-1] = rule[0]
            else:
                edges.append(rule[0])


def _is_beyond(rule: Rule, left: float, right: float) -> bool:
    """Whether a line across goes on beyond a table."""
    outside = rule[1] < left - _ALIGNED or rule[2] > right + _ALIGNED
    return outside and rule[1] < right and rule[2] > left


def _stacks(across: Iterable[Rule]) -> list[list[Rule]]:
    """Lines of the same width above each other."""
    whole: list[Rule] = []
    for at, start, end in sorted(across):
        if whole and at - whole[-1][0] <= _NEAR and -_NEAR <= start - whole[-1][2] <= _PARTS:
            whole[-1] = whole[-1][0], whole[-1][1], end
        else:
            whole.append((at, start, end))
    stacks: list[list[Rule]] = []
    for rule in whole:
        if rule[2] - rule[1] < _SHORTEST:
            continue
        for stack in stacks:
            if max(abs(rule[1] - stack[-1][1]), abs(rule[2] - stack[-1][2])) <= _ALIGNED:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    return [stack for stack in stacks if len(stack) > 1]


def _underlines(rule: Rule, lines: Sequence[Line], reach: float) -> bool:
    """Whether a drawn line stands below the words of one of the lines, which are sorted by base."""
    end = bisect_left(lines, rule[0], key=attrgetter("base"))
    start = bisect_left(lines, rule[0] - reach, hi=end, key=attrgetter("base"))
    return any(
        line.left - _WHITE < rule[1]
        and rule[2] < line.right + _WHITE
        and rule[0] - line.base < _BELOW * line.size
        for line in lines[start:end]
    )


def _is_text(rows: _Rows, left: float, right: float) -> bool:
    """Whether lines go beyond a table, or several of them are lines of running text."""
    if any(x.left < left - _ALIGNED or x.right > right + _ALIGNED for row in rows for x in row):
        return True
    lone = [row[0] for row in rows if len(row) == 1 and row[0].left < left + 2 * _ALIGNED]
    if sum(line.width > _PROSE * (right - left) for line in lone) > 1:
        return True
    apart = any(b.base - a.base > _NEXT * b.size for a, b in pairwise(lone))
    return len(lone) == len(rows) and (apart or len(rows) > _FEW)


def _table(
    edges: list[float], rows: _Rows, parts: Sequence[Rule], left: float, right: float
) -> Iterator[Drawn]:
    bands = [[r for r in rows if top < r[0].middle <= end] for top, end in pairwise(edges)]
    places = _gaps([*chain(*bands)])
    if not places:
        return
    while bands and not _is_row(bands[-1], places):
        del bands[-1], edges[-1]
    while bands and not _is_row(bands[0], places):
        del bands[0], edges[0]
    if len(bands) < 2:
        return
    for row, after in pairwise(bands[0]):  # a title
        if len(row) == 1 and _crosses(row, places):
            edges[0] = _top(after)
        else:
            break
    parts = [rule for rule in parts if edges[1] < rule[0] < edges[-1]]
    starts = [
        _starts(band, places, 1 if len(bands) <= _FEW else _FEW)
        for band, (top, end) in zip(bands, pairwise(edges), strict=True)
        if not any(top < part[0] < end for part in parts)
    ]
    # A row of names may stand above the first line, and one without a fill below the last.
    above = [row for row in rows if row[0].middle <= edges[0]][-1:]
    if above and _fits(above[0], edges[0] - above[0][0].base, left, right, places):
        edges = [_top(above[0]), *edges]
    below = [row for row in rows if row[0].middle > edges[-1]][:1]
    if below and _fits(below[0], _top(below[0]) - edges[-1], left, right, places):
        edges = [*edges, below[0][0].base + 0.5 * below[0][0].size]
    edges = sorted([*edges, *chain(*starts)])
    inside = [row for row in rows if edges[0] < row[0].middle < edges[-1]]
    if len(edges) <= _FEWEST or sum(_crosses(x, places) for x in inside) > _ACROSS * len(inside):
        return
    walls = []
    for place in places:
        crossed = [row[0].middle for row in inside if _crosses(row, [place])]
        walls += [
            (place, top, end)
            for top, end in pairwise(edges)
            if not any(top < y < end for y in crossed)
        ]
    lines = [line for row in inside for line in row]
    sides = min(left, *(x.left for x in lines)), max(right, *(x.right for x in lines))
    yield (
        sorted([*edges, *(part[0] for part in parts)]),
        [sides[0], *places, sides[1]],
        sorted([*((edge, *sides) for edge in edges), *parts]),
        walls,
    )


def _top(row: Sequence[Line]) -> float:
    return row[0].base - 0.9 * row[0].size


def _is_row(rows: _Rows, places: Sequence[float]) -> bool:
    """Whether there are words in several columns."""
    return len({bisect_right(places, line.left) for row in rows for line in row}) > 1


def _gaps(rows: _Rows) -> list[float]:
    """Where no row of several lines has words; a sign of money belongs to what is behind it."""
    several = [row for row in rows if len(row) > 1]
    lines = sorted((line.left, line.right, line.text) for row in several for line in row)
    gaps, reached, words = [], lines[0][1] if len(several) > 1 else float("inf"), False
    for start, end, text in lines:
        if start - reached >= _WHITE and words:
            gaps.append((reached + start) / 2)
            words = False
        words = words or any(map(str.isalnum, text))
        reached = max(reached, end)
    return gaps


def _fits(
    row: Sequence[Line], far: float, left: float, right: float, places: Sequence[float]
) -> bool:
    """Whether a row beyond a table belongs to it: it is near, and has cells in its columns."""
    inside = left - _ALIGNED <= row[0].left and max(x.right for x in row) <= right + _ALIGNED
    near = far < _NEXT * row[0].size
    return len(row) > 1 and inside and near and not _crosses(row, places)


def _crosses(row: Sequence[Line], places: Sequence[float]) -> bool:
    return any(line.left < place < line.right for line in row for place in places)


def _starts(rows: _Rows, places: Sequence[float], least: int) -> list[float]:
    """The edges between the rows of a part without lines between them."""
    steps = [b[0].base - a[0].base for a, b in pairwise(rows)]
    full = [row for row in rows if row[0].left < places[0] and len(row) > _MOST * (len(places) + 1)]
    each = len(full) > max(least, _FEW * (len(rows) > len(full)), _FULL * len(rows))
    starts = []
    for row, step in zip(rows[1:], steps, strict=True):
        far = step > max(_FAR * min(steps), _NEXT * 1.2 * row[0].size)
        if row[0].left < places[0] and not row[0].text[0].islower() and (each or far):
            starts.append(_top(row))
    return starts
