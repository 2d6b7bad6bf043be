"""Find a span of the text on the pages, by reading the file again.

A document keeps its text and where each page begins in it, not its printed lines. The text of a
page is the characters of its lines in some order; so the lines are laid along it again, without
white space, hyphens and borders of cells, which joining the lines has changed. What does not fit
(text that was moved over a page break, a dash alone) has no box. A file that is damaged or needs a
password raises UnreadableFile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, starmap, takewhile
from operator import itemgetter
from typing import Any

import numpy as np

from milepost.documents.again import stored_bytes
from milepost.documents.readers.pdf.file import open_pdf
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.documents.readers.pdf.join import Printed
from milepost.documents.readers.pdf.line_joiner import HYPHENS
from milepost.documents.readers.pdf.page import Page, load_page
from milepost.documents.readers.pdf.records import Floats, Integers, Line
from milepost.errors import InputError
from milepost.types import Box, Document, Span


def boxes_of_lines(
    printed: Sequence[Printed], pages: Sequence[Page], document: Any, *, keep_hidden: bool
) -> list[tuple[int, Box]]:
    """Offset and box of each printed line, in text order; the lock must be held.

    Lines that were read from a picture have their boxes, others are looked up in the file.
    """
    pictures = {page.number: page.boxes for page in pages}
    of_page = itemgetter(2)
    found: list[tuple[int, Box]] = []
    for number, rows in groupby(sorted(printed, key=of_page), of_page):
        if (boxes := pictures[number]) is not None:
            found += [(start, boxes[place]) for start, _, _, place in rows]
            continue
        page, glyphs = load_page(document, number - 1, keep_hidden=keep_hidden, ink=True)
        assert glyphs.ink is not None
        for start, end, _, place in rows:
            line = page.frame.lines[place]
            if box := _box_of(line.source[: end - start], glyphs.ink, line, number):
                found.append((start, box))
    return sorted(found, key=itemgetter(0))


def _box_of(part: Integers, ink: Floats, line: Line, page: int) -> Box | None:
    """Box around some glyphs of a line; None for spaces (-1) alone.

    A glyph far from the line (a broken font) is ignored.
    """
    wanted = np.unique(part[part >= 0])
    if not len(wanted):
        return None
    spots = ink[wanted]
    across = 0 if line.angle % 180 in range(45, 135) else 1
    middle = (spots[:, across] + spots[:, across + 2]) / 2
    usual = np.argsort(middle)[len(middle) // 2]
    high = spots[usual, across + 2] - spots[usual, across]  # a font may have the wrong size
    level = np.abs(middle - middle[usual]) < 1.2 * max(line.largest, high)
    left, top = spots[level, :2].min(axis=0).tolist()
    right, bottom = spots[level, 2:].max(axis=0).tolist()
    return Box(page, left, top, right, bottom)


_CERTAIN = 8
"""Characters of a line from which it is looked for further on, where the text goes astray."""


def boxes_of_span(
    document: Document, data: bytes | None, keep_hidden: bool, start: int, end: int
) -> list[Box]:
    """Find a span of a document's text on its pages, one box a printed line.

    Args:
        document: the document, as it was read or as it is stored.
        data: the bytes that it was read from; None to read its file again.
        keep_hidden: whether hidden text was kept when the text was read.
        start: offset in the text.
        end: offset after the span.
    """
    data, text = data or stored_bytes(document), document.text
    starts = [(mark.offset, int(mark.value)) for mark in document.marks if mark.kind == "page"]
    ends = [offset for offset, _ in starts[1:]] + [len(text)]
    boxes: list[Box] = []
    with PDFIUM, open_pdf(data, document.name) as pages:
        for (first, number), last in zip(starts, ends, strict=True):
            low, high = max(first, start), min(last, end)
            if text[low:high].strip():
                page = text[first:last]
                found = _on_page(pages, number, page, low - first, high - first, keep_hidden)
                boxes += (box for _, box in found)
    return boxes


def lines_of_page(
    data: bytes, name: str, number: int, text: str, *, keep_hidden: bool = False
) -> list[tuple[Span, Box]]:
    """Lay the printed lines of a page along its text: span and box of each, in text order.

    Lines that the text does not have, such as running heads, are left out. ``number`` counts from
    1, ``text`` is that of the page, and spans count from its beginning.
    """
    with PDFIUM, open_pdf(data, name) as document:
        if not 1 <= number <= len(document):
            raise InputError(f"{name} has no page {number}", f"1 to {len(document)}")
        return list(_on_page(document, number, text, 0, len(text), keep_hidden))


def _on_page(
    document: Any, number: int, text: str, start: int, end: int, keep_hidden: bool
) -> Iterator[tuple[Span, Box]]:
    """Lines of a span of a page's text, where they fit the text: span and box of each."""
    page, glyphs = load_page(document, number - 1, keep_hidden=keep_hidden, ink=True)
    page.arrange()
    assert glyphs.ink is not None
    letters, places = _squeezed(text)
    low, high = bisect_left(places, start), bisect_left(places, end)
    for first, line, own in _laid(letters, list(page.lines())):
        if first + len(own) <= low or first >= high:
            continue
        from_, to = max(low, first), min(high, first + len(own))
        start_at, end_at = own[from_ - first], own[to - first - 1] + 1
        # Hyphens at both ends, where the text has them too.
        before = zip(line.text[:start_at][::-1], text[start : places[from_]][::-1], strict=False)
        after = zip(line.text[end_at:], text[places[to - 1] + 1 : end], strict=False)
        start_at -= sum(takewhile(bool, starmap(_left_out, before)))
        end_at += sum(takewhile(bool, starmap(_left_out, after)))
        if box := _box_of(line.source[start_at:end_at], glyphs.ink, line, number):
            yield (places[from_], places[to - 1] + 1), box


def _left_out(one: str, other: str) -> bool:
    """Whether both characters were left out of the comparison as the same kind."""
    return (one in HYPHENS and other in HYPHENS) or (one.isspace() and other.isspace())


def _laid(letters: str, lines: Sequence[Line]) -> list[tuple[int, Line, list[int]]]:
    """Lines along the letters of their page: where each begins, and its own places."""
    keys = [_squeezed(line.text) for line in lines]
    unused = {number: key for number, (key, _) in enumerate(keys) if key}
    laid: list[tuple[int, Line, list[int]]] = []
    at, following = 0, 0
    while at < len(letters) and unused:
        fitting = [number for number, key in unused.items() if letters.startswith(key, at)]
        if not fitting:
            later = [letters.find(key, at) for key in unused.values() if len(key) >= _CERTAIN]
            at = min((place for place in later if place > at), default=len(letters))
            continue
        # The next line in reading order, else the longest: short ones fit in many places.
        longest = max(fitting, key=lambda number: len(unused[number]))
        chosen = following if following in fitting else longest
        laid.append((at, lines[chosen], keys[chosen][1]))
        at += len(unused.pop(chosen))
        following = chosen + 1
    return laid


def _squeezed(text: str) -> tuple[str, list[int]]:
    """A text without white space, hyphens and borders of cells; where each character was."""
    places = [
        at for at, each in enumerate(text) if not (each.isspace() or each in HYPHENS or each == "|")
    ]
    return "".join(text[at] for at in places), places


def page_sizes(data: bytes, name: str, numbers: Iterable[int]) -> dict[int, tuple[float, float]]:
    """Width and height of pages as a reader shows them, in points; numbers count from 1."""
    with PDFIUM, open_pdf(data, name) as document:
        known = (number for number in {*numbers} if 0 < number <= len(document))
        return {number: document.get_page_size(number - 1) for number in known}
