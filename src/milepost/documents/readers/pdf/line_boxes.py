"""Boxes of lines as marks, for documents whose pages were read from pictures.

Their lines cannot be found in the file again without recognising its text once more, so the box of
each line is kept: in a mark of kind ``line``, which says page, left, top, right and bottom in
points.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from milepost.types import Box, Mark, Span


def line_mark(offset: int, box: Box) -> Mark:
    """Mark the line that begins at an offset with its box."""
    sides = (box.left, box.top, box.right, box.bottom)
    return Mark(offset, "line", f"{box.page} " + " ".join(f"{side:.1f}" for side in sides))


def locator(text: str, marks: Sequence[Mark]) -> Callable[[int, int], list[Box]] | None:
    """Make a ``Document.locator`` of the marks of lines; None if there are none.

    Of a line that is in the span in part, the box is cut at the share of its characters.
    """
    lines = [mark for mark in marks if mark.kind == "line"]
    if not lines:
        return None
    starts = [*(mark.offset for mark in lines), len(text)]

    def locate(start: int, end: int) -> list[Box]:
        boxes = []
        first = max(0, bisect_right(starts, start) - 1)
        for number in range(first, bisect_left(starts, end, hi=len(lines))):
            at, after = starts[number : number + 2]
            length = len(text[at:after].rstrip())
            low, high = max(start - at, 0), min(end - at, length)
            if low < high:
                boxes.append(_part(lines[number].value, low / length, high / length))
        return boxes

    return locate


def lines_between(marks: Sequence[Mark], start: int, end: int) -> list[tuple[Span, Box]]:
    """Span and box of each marked line of a part of the text."""
    lines = [mark for mark in marks if mark.kind == "line" and start <= mark.offset < end]
    ends = [*(mark.offset for mark in lines), end][1:]
    return [
        ((line.offset, after), _part(line.value, 0.0, 1.0))
        for line, after in zip(lines, ends, strict=True)
    ]


def _part(value: str, low: float, high: float) -> Box:
    page, *sides = value.split()
    left, top, right, bottom = map(float, sides)
    width, height = right - left, bottom - top
    if height > 1.5 * width:  # a column, which runs from top to bottom
        return Box(int(page), left, top + low * height, right, top + high * height)
    return Box(int(page), left + low * width, top, left + high * width, bottom)
