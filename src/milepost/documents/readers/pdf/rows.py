"""Lines of one flow → reading order: the order of the file, repaired where it jumps.

Most programs write text in reading order and tables cell by cell, which geometry could not decide
better. So the order of the file is kept while it is continuous. A stray piece (a head written last)
moves to its position on the page. If most of a page jumps (forms, charts, tables written column by
column), its blocks are ordered by position: left to right in a row, then from top to bottom.
"""

from __future__ import annotations

import re
from statistics import median

from milepost._numpy import np
from milepost.documents.readers.pdf.records import Line, in_runs

MAX_BLOCKS = 1000  # a page with more is a map or a drawing, without a reading order
TIGHT = 1.35  # times the font size: the distance of lines in one field
MIN_RUN_SHARE = 0.7  # of the lines, in the longest run, for the order of the file to be trusted


_TICK = re.compile(r"\[x\]|[xX]|[^\w\s]")


def order_flow(lines: list[Line]) -> list[Line]:
    """Order the lines of a flow (one column of running text, or a page without columns)."""
    typed = [line for line in lines if line.typed]
    if typed and len(typed) < len(lines):
        # What is typed into a form is the last of the file, and stands after its label; the lines
        # of a field stand together, whatever is beside it.
        ordered = order_flow([line for line in lines if not line.typed])
        fields = in_runs(sorted(typed, key=lambda line: line.order), _is_field)
        if len(fields) <= MAX_BLOCKS:
            fields = _by_place(fields)
        printed = ordered.copy()
        for field in reversed(fields):
            at = _at_label(field[0], printed, ordered)
            ordered[at:at] = field
        return ordered
    lines = sorted(lines, key=lambda line: line.order)
    runs = in_runs(lines, _goes_on)
    longest = max(runs, key=len)
    if len(longest) < MIN_RUN_SHARE * len(lines):
        blocks = [block for run in runs for block in in_runs(run, _continues)]
        if len(blocks) > MAX_BLOCKS:
            return sorted(lines, key=lambda line: (line.base // line.size, line.left))
        parts: list[list[Line]] = []
        for block in blocks:  # each cell of a column can join its row
            parts += [[line] for line in block] if _are_cells(block, lines) else [block]
        return [line for part in _by_place(parts) for line in part]
    ordered = _across(longest)
    for run in runs:
        for piece in in_runs(run, _is_near) if run is not longest else []:
            at = _place(piece[0], ordered)
            ordered[at:at] = piece
    return ordered


def _goes_on(run: list[Line], line: Line) -> bool:
    """Whether the order of the file does not jump up, unless to the next cell of a row."""
    last = run[-1]
    if abs(line.base - last.base) <= 0.5 * max(last.size, line.size):
        return line.right >= last.left  # else backwards in its own row
    if line.base > last.base:
        return True
    # Upwards: the next cell is to the right of the last one, in a row that began just before.
    beside = line.left >= last.right - 0.5 * line.size
    return beside and any(line.base >= x.base - 0.6 * x.size for x in run[-12:-1])


def _is_near(run: list[Line], line: Line) -> bool:
    """Whether a stray run does not jump down the page, as from a head to a foot."""
    return line.base - run[-1].base <= 3 * max(run[-1].size, line.size)


def _place(line: Line, ordered: list[Line]) -> int:
    """Index of a stray piece: after the left part of its row, before the lines below it."""
    for at, other in enumerate(ordered):
        if other.left > line.left if _in_row(line, other) else other.base > line.base:
            return at
    return len(ordered)


def _at_label(line: Line, printed: list[Line], ordered: list[Line]) -> int:
    """Index of what is typed: after the label to its left, wherever the file has that.

    The label of a tick may be to its right, another one above its field.
    """
    near = [other for other in printed if abs(other.base - line.base) <= 0.7 * line.size]
    labels = [other for other in near if other.left <= line.left]
    behind = [other for other in near if 0 <= other.left - line.right < 2 * line.size]
    is_before = bool(behind) and _TICK.fullmatch(line.text) is not None
    nearest: Line | None
    if is_before:
        nearest = min(behind, key=lambda other: other.left)
    elif labels:
        nearest = max(labels, key=lambda other: (_in_row(line, other), other.left))
    else:
        nearest = _label_above(line, printed)
    if nearest is None:
        return _place(line, ordered)
    return next(at for at, other in enumerate(ordered) if other is nearest) + (not is_before)


def _label_above(line: Line, printed: list[Line]) -> Line | None:
    """The label right above a field; one without a colon may be the name of a column."""
    above = [
        other
        for other in printed
        if 0 < line.base - other.base < 2.2 * line.size
        and other.left < line.right
        and line.left < other.right
    ]
    nearest = max(above, key=lambda other: other.base, default=None)
    return nearest if nearest and nearest.text.endswith(":") else None


def _in_row(line: Line, other: Line) -> bool:
    return abs(other.base - line.base) <= 0.5 * min(line.size, other.size)


def _across(run: list[Line]) -> list[Line]:
    """Order the tables of a run by rows if the file writes them column by column."""
    ordered: list[Line] = []
    columns: list[list[Line]] = []
    for block in [*in_runs(run, _continues), []]:
        if len(block) >= 3:
            columns.append(block)
            continue
        cells = [line for column in columns for line in column]
        figures = any(not any(c.isalpha() for x in column for c in x.text) for column in columns)
        if figures and len(columns) > 1 and all(_are_cells(column, cells) for column in columns):
            cells = [line for part in _by_place([[cell] for cell in cells]) for line in part]
        ordered += cells + block
        columns = []
    return ordered


def _continues(run: list[Line], line: Line) -> bool:
    last = run[-1]
    below = 0.5 * last.size < line.base - last.base < 2.0 * max(last.size, line.size)
    alike = last.bold == line.bold and 0.8 < line.size / last.size < 1.25
    shared = min(last.right, line.right) - max(last.left, line.left)
    return below and alike and shared >= 0.5 * min(last.width, line.width)


def _is_field(run: list[Line], line: Line) -> bool:
    """Whether a typed line is in the field of those before it; other fields are further away."""
    return _continues(run, line) and line.base - run[-1].base < TIGHT * line.size


def _are_cells(stack: list[Line], lines: list[Line]) -> bool:
    """Whether stacked short lines each have a partner in their row: a table by columns."""
    like = sum(" " not in line.text or any(map(str.isdigit, line.text)) for line in stack)
    if median(len(line.text.split()) for line in stack) > 3 or 2 * like < len(stack):
        return False
    figures = all(not any(map(str.isalpha, line.text)) for line in stack)
    if len(stack) < (2 if figures else 3):
        return False
    mine = {id(line) for line in stack}
    others = [line for line in lines if id(line) not in mine]
    beside = sum(any(abs(o.base - x.base) < 0.3 * x.size for o in others) for x in stack)
    return beside >= (len(stack) if len(stack) <= 5 else 0.8 * len(stack))


def _by_place(blocks: list[list[Line]]) -> list[list[Line]]:
    """Order blocks so that each follows those above it and those to its left in its rows.

    A block are lines that belong together: a paragraph, a label of several lines, one cell.
    """
    left = np.array([min(line.left for line in block) for block in blocks])
    right = np.array([max(line.right for line in block) for block in blocks])
    top = np.array([block[0].base - 0.7 * block[0].size for block in blocks])
    bottom = np.array([block[-1].base + 0.1 * block[-1].size for block in blocks])
    slack = 0.2 * np.minimum.outer(bottom - top, bottom - top)
    shared = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
    in_rows = right[:, None] <= left[None, :] + slack
    # [one, two]: one comes before two.
    before = np.where(shared <= slack, np.less.outer(top, top), in_rows)
    np.fill_diagonal(before, val=False)
    waits = before.sum(axis=0)
    from_top = np.lexsort((left, top))
    done = np.zeros(len(blocks), dtype=np.bool_)
    ordered = []
    for _ in blocks:
        ready = from_top[(waits[from_top] == 0) & ~done[from_top]]
        # Blocks that wait for each other in a cycle are released from the top.
        chosen = ready[0] if len(ready) else from_top[~done[from_top]][0]
        done[chosen] = True
        waits -= before[chosen]
        ordered.append(blocks[chosen])
    return ordered
