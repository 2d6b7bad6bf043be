"""Find spans of a stored text on the pages of its file, by reading only these pages.

A stored document keeps its text and where each page begins in it, not its printed lines. The text
of a page is the characters of its lines in some order; so the lines are laid along it again,
without white space and hyphens, which joining the lines has changed. Where they do not fit (text
that was moved over a page break, lines out of order), nothing is returned and the whole file must
be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from milepost.documents.readers.pdf.boxes import box_of
from milepost.documents.readers.pdf.file import open_pdf
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.documents.readers.pdf.line_joiner import HYPHENS
from milepost.documents.readers.pdf.page import load_page
from milepost.documents.readers.pdf.records import Line
from milepost.errors import InputError
from milepost.types import Box, Mark, Span

_CERTAIN = 8
"""Characters of a line from which it is looked for further on, where the text goes astray."""


def boxes_of_span(
    data: bytes,
    name: str,
    text: str,
    marks: Sequence[Mark],
    span: Span,
    *,
    keep_hidden: bool = False,
) -> list[Box] | None:
    """Find a span of a text on its pages, one box a printed line.

    Args:
        data: the file that the text was read from.
        name: of the document, for messages.
        text: the whole text, of which ``span`` is a part.
        marks: its pages.
        span: start and end in the text.
        keep_hidden: whether hidden text was kept when the text was read.

    Returns:
        The boxes; None where the lines of the pages do not fit the text.

    Raises:
        UnreadableFile: the file is damaged or needs a password.
    """
    starts = [(mark.offset, int(mark.value)) for mark in marks if mark.kind == "page"]
    ends = [offset for offset, _ in starts[1:]] + [len(text)]
    boxes: list[Box] = []
    with PDFIUM, open_pdf(data, name) as document:
        for (first, number), last in zip(starts, ends, strict=True):
            low, high = max(first, span[0]), min(last, span[1])
            if not text[low:high].strip():
                continue
            part = (low - first, high - first)
            found = _on_page(document, number, text[first:last], part, keep_hidden)
            if found is None:
                return None
            boxes += found
    return boxes


def lines_of_page(
    data: bytes, name: str, number: int, text: str, *, keep_hidden: bool = False
) -> list[tuple[Span, Box]]:
    """Lay the printed lines of a page along its text: span and box of each, in text order.

    Lines that the text does not have, such as running heads, are left out.

    Args:
        data: the file.
        name: of the document, for messages.
        number: of the page, from 1.
        text: of the page; spans count from its beginning.
        keep_hidden: whether hidden text was kept when the text was read.

    Raises:
        UnreadableFile: the file is damaged or needs a password.
        InputError: there is no such page.
    """
    letters, places = _squeezed(text)
    with PDFIUM, open_pdf(data, name) as document:
        if not 1 <= number <= len(document):
            raise InputError(f"{name} has no page {number}", f"1 to {len(document)}")
        lines, ink = _lines(document, number, keep_hidden)
    found = []
    for first, line, own in _laid(letters, lines):
        if box := box_of(line.source, ink, line, number):
            found.append(((places[first], places[first + len(own) - 1] + 1), box))
    return found


def _lines(document: Any, number: int, keep_hidden: bool) -> tuple[list[Line], NDArray[np.float64]]:
    """The lines of a page in reading order, and the boxes of its glyphs."""
    page, glyphs = load_page(document, number - 1, keep_hidden=keep_hidden, ink=True)
    page.arrange()
    assert glyphs.ink is not None
    return list(page.lines()), glyphs.ink


def _on_page(
    document: Any, number: int, text: str, span: Span, keep_hidden: bool
) -> list[Box] | None:
    """Boxes of a span of a page's text; None where its lines do not cover it."""
    lines, ink = _lines(document, number, keep_hidden)
    letters, places = _squeezed(text)
    inside = [at for at, place in enumerate(places) if span[0] <= place < span[1]]
    if not inside:  # hyphens alone are not found in this way
        return None if any(sign in text[slice(*span)] for sign in HYPHENS) else []
    low, high = inside[0], inside[-1] + 1
    boxes: list[Box] = []
    covered = low
    for first, line, own in _laid(letters, lines):
        last = first + len(own)
        if last <= low or first >= high:
            continue
        if first > covered:
            return None
        covered = max(covered, last)
        start, end = max(low, first), min(high, last)
        start_at, end_at = own[start - first], own[end - first - 1] + 1
        # Hyphens at both ends, where the text has them too.
        place = places[start] - 1
        while start_at and place >= span[0] and _left_out(line.text[start_at - 1], text[place]):
            start_at, place = start_at - 1, place - 1
        place = places[end - 1] + 1
        while (
            end_at < len(line.text)
            and place < span[1]
            and _left_out(line.text[end_at], text[place])
        ):
            end_at, place = end_at + 1, place + 1
        if box := box_of(line.source[start_at:end_at], ink, line, number):
            boxes.append(box)
    return boxes if covered >= high else None


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
    """A text without white space and hyphens, and where each character was."""
    places = [at for at, each in enumerate(text) if not (each.isspace() or each in HYPHENS)]
    return "".join(text[at] for at in places), places


def page_sizes(data: bytes, name: str, numbers: Iterable[int]) -> dict[int, tuple[float, float]]:
    """Width and height of pages as a reader shows them, in points; numbers count from 1.

    Raises:
        UnreadableFile: the file is damaged or needs a password.
    """
    sizes = {}
    with PDFIUM, open_pdf(data, name) as document:
        for number in dict.fromkeys(numbers):
            size = pdfium.FS_SIZEF()
            if pdfium.FPDF_GetPageSizeByIndexF(document.raw, number - 1, size):
                sizes[number] = (size.width, size.height)
    return sizes
