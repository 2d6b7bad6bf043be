"""Find the shapes of a slide, and order them as they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from xml.etree.ElementTree import Element

from milepost.documents.readers.archive import every, local

TITLES = {"ctrTitle": 1, "title": 2}
"""Heading level of each title placeholder: of the deck, of a slide."""

Move = tuple[float, float, float, float]
UNMOVED: Move = (0.0, 0.0, 1.0, 1.0)
"""What the places in a group are moved by and multiplied with, in both directions."""


def ordered(
    slide: Element, layout: dict[tuple[str, str], Box], move: Move = UNMOVED
) -> list[Element]:
    """List the shapes of a slide in reading order, those of a group together.

    A shape without a place comes first.
    """
    found = list(shapes(slide, move, grouped=True))
    listed: list[Element] = []
    for k in in_order([box or layout.get(_role(shape), around([])) for shape, box in found]):
        node = found[k][0]
        is_group = local(node) == "grpSp"
        listed += ordered(node, layout, _moved(node, move)) if is_group else [node]
    return listed


def places(layout: Element) -> dict[tuple[str, str], Box]:
    """Map the placeholders of a layout to their places."""
    return {_role(shape): box for shape, box in shapes(layout) if box is not None}


def list_styles(shape: Element, above: Sequence[Element]) -> list[Element]:
    """List what the layout and the master, in this order, say of the lists of a placeholder.

    A master has one placeholder for the bodies of all layouts.
    """
    role = _role(shape)
    if role[0] or not role[1]:
        return []
    alike = (each for root in above[:1] for each, _ in shapes(root) if _role(each) == role)
    styles = [every(each, "lstStyle") for each in alike]
    for master in above[1:]:
        for each, _ in shapes(master):
            if any(node.get("type") == "body" for node in every(each, "ph")):
                styles.append(every(each, "lstStyle"))
        styles.append(every(master, "bodyStyle"))
    return [*chain(*styles)]


def _role(shape: Element) -> tuple[str, str]:
    """Return the type and the number of a placeholder, by which the layout knows it."""
    found = every(shape, "ph")
    if not found:
        return "", ""
    return ("title", "") if found[0].get("type") in TITLES else ("", found[0].get("idx", "0"))


def shapes(
    slide: Element, move: Move = UNMOVED, *, grouped: bool = False
) -> Iterator[tuple[Element, Box | None]]:
    """Yield the shapes of a slide and their places; hidden ones are not.

    Those in a group are yielded one by one, or the group in their place if ``grouped``.
    """
    for node in slide:
        tag = local(node)
        if is_hidden(node):
            continue
        inside = _moved(node, move) if tag == "grpSp" else move
        if tag in ("sp", "graphicFrame") or (tag == "cxnSp" and every(node, "t")):
            yield node, _box(node, move)
        elif tag == "grpSp" and grouped:
            yield node, around([box for _, box in shapes(node, inside) if box is not None])
        else:
            yield from shapes(node, inside, grouped=grouped)


def is_hidden(drawing: Element) -> bool:
    """Whether the properties in front of a drawing, or it alone in them, hide it, or its style."""
    if re.search(r"visibility:\s*hidden", drawing.get("style") or ""):
        return True
    properties = (each for part in [*drawing[:1], drawing] for each in part)
    return any(
        local(each) in ("cNvPr", "docPr") and each.get("hidden") in ("1", "true")
        for each in properties
    )


def _frame_of(shape: Element) -> Element | None:
    for node in shape:
        if local(node) == "xfrm":
            return node
        if local(node) in ("spPr", "grpSpPr"):
            return next((each for each in node if local(each) == "xfrm"), None)
    return None


def _sides(frame: Element | None, place: str, size: str) -> Box | None:
    parts = {local(node): node for node in frame} if frame is not None else {}
    if place not in parts or size not in parts:
        return None
    try:
        left, top = (float(parts[place].get(key, "")) for key in ("x", "y"))
        wide, high = (float(parts[size].get(key, "")) for key in ("cx", "cy"))
    except ValueError:
        return None
    return left, top, wide, high


def _box(shape: Element, move: Move) -> Box | None:
    sides = _sides(_frame_of(shape), "off", "ext")
    if sides is None:
        return None
    left, top, wide, high = sides
    x, y = move[0] + move[2] * left, move[1] + move[3] * top
    return x, y, x + move[2] * wide, y + move[3] * high


def _moved(group: Element, move: Move) -> Move:
    """Return how the places in a group become places on the slide."""
    frame = _frame_of(group)
    outer, inner = _sides(frame, "off", "ext"), _sides(frame, "chOff", "chExt")
    if outer is None or inner is None:
        return move
    wide, high = (outer[k] / inner[k] if inner[k] else 1.0 for k in (2, 3))
    x, y = outer[0] - wide * inner[0], outer[1] - high * inner[1]
    return move[0] + move[2] * x, move[1] + move[3] * y, move[2] * wide, move[3] * high


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_MANY = 12  # rows among which columns are looked for
_SLACK = 0.15  # of the lower or narrower of two boxes: they may overlap by this much


def around(boxes: Sequence[Box]) -> Box:
    """Return the box around others; that of none is empty."""
    if not boxes:
        return 0.0, 0.0, 0.0, 0.0
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def in_order(boxes: Sequence[Box]) -> list[int]:
    """Return the indexes of boxes in reading order; boxes that overlap keep their order.

    Rows come before columns, unless the file has the boxes of as many rows as possible column by
    column, as two heads with a list below each.

    >>> in_order([(50, 30, 90, 40), (10, 10, 40, 20), (10, 30, 40, 40)])
    [1, 2, 0]
    >>> in_order([(0, 0, 9, 5), (0, 6, 3, 9), (0, 10, 3, 90), (4, 6, 9, 9), (4, 10, 9, 90)])
    [0, 1, 2, 3, 4]
    >>> in_order([(x, y, x + 40, y + 5) for x in (0, 50) for y in (10, 20, 30)])
    [0, 1, 2, 3, 4, 5]
    """
    return _cut(boxes, list(range(len(boxes))))


def _cut(boxes: Sequence[Box], chosen: list[int]) -> list[int]:
    """Cut the boxes into rows, or else into columns, and each part again."""
    if len(chosen) < 2:
        return chosen
    rows = _parts(boxes, chosen, 1, 3)
    most = len(rows) if len(rows) <= _MANY else 1  # rows that may be columns
    parts: list[list[int]] = []
    while rows:
        ranges = range(min(most, len(rows)), 1, -1)
        last = next((n for n in ranges if _is_listed(boxes, rows[:n])), 1)
        parts.append(sorted(chain(*rows[:last])))
        del rows[:last]
    if len(parts) == 1:
        parts = _parts(boxes, chosen, 0, 2)
    return [k for part in parts for k in _cut(boxes, part)] if len(parts) > 1 else chosen


def _is_listed(boxes: Sequence[Box], rows: list[list[int]]) -> bool:
    """Whether the file has the boxes of some rows, not one in each, column by column."""
    held = sorted(chain(*rows))
    columns = _parts(boxes, held, 0, 2)
    return len(held) > len(rows) and len(columns) > 1 and [*chain(*columns)] == held


def _parts(boxes: Sequence[Box], chosen: list[int], start: int, end: int) -> list[list[int]]:
    """Cut the boxes where no box is; each part is in the order of the file."""
    parts: list[list[int]] = []
    reach = 0.0
    for k in sorted(chosen, key=lambda k: (boxes[k][start], k)):
        begin, size = boxes[k][start], boxes[k][end] - boxes[k][start]
        if parts and (begin < reach - _SLACK * size or begin == boxes[parts[-1][0]][start]):
            parts[-1].append(k)
            reach = max(reach, boxes[k][end])
        else:
            parts.append([k])
            reach = boxes[k][end]
    return [sorted(part) for part in parts]
