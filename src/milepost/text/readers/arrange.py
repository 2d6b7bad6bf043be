"""Order the boxes of a slide as they are read: from top to bottom, columns from left to right."""

from __future__ import annotations

from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_SLACK = 0.15  # of the lower or narrower of two boxes: they may overlap by this much


def in_order(boxes: Sequence[Box]) -> list[int]:
    """Return the indexes of boxes in reading order; boxes that overlap keep their order.

    >>> in_order([(50, 30, 90, 40), (10, 10, 40, 20), (10, 30, 40, 40)])
    [1, 2, 0]
    """
    return _cut(boxes, list(range(len(boxes))))


def _cut(boxes: Sequence[Box], chosen: list[int]) -> list[int]:
    """Cut the boxes into rows, or else into columns, and each part again."""
    if len(chosen) < 2:
        return chosen
    for start, end in ((1, 3), (0, 2)):
        parts: list[list[int]] = []
        reach = 0.0
        for k in sorted(chosen, key=lambda k: (boxes[k][start], k)):
            size = boxes[k][end] - boxes[k][start]
            if parts and boxes[k][start] < reach - _SLACK * size:
                parts[-1].append(k)
                reach = max(reach, boxes[k][end])
            else:
                parts.append([k])
                reach = boxes[k][end]
        if len(parts) > 1:
            return [k for part in parts for k in _cut(boxes, sorted(part))]
    return chosen
