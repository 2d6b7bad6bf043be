"""Find a span of the text on the pages, by reading the file again.

A document stores four numbers for each printed line: its start and end in the text, its page, and
its index on that page. The boxes of characters are read from the file when they are requested, if
the file has not changed.

An index keeps the text of a document and where each page begins in it, not its printed lines. The
text of a page is the characters of its lines in some order; so the lines are laid along it again,
without white space and hyphens, which joining the lines has changed. Where they do not fit (text
that was moved over a page break, lines out of order), nothing is returned and the whole file must
be read. A file that is damaged or needs a password raises UnreadableFile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.documents.readers.pdf.file import open_pdf
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.documents.readers.pdf.join import Printed
from milepost.documents.readers.pdf.line_joiner import HYPHENS
from milepost.documents.readers.pdf.page import Page, load_page
from milepost.documents.readers.pdf.records import Floats, Integers, Line
from milepost.errors import InputError
from milepost.types import Box, Mark, Span


def locator(
    printed: Sequence[Printed], data: bytes, name: str, source: str | None, *, keep_hidden: bool
) -> Callable[[int, int], list[Box]]:
    """Make a document's ``locator`` from its printed lines; see ``Document.boxes``.

    Args:
        printed: its printed lines, in text order.
        data: the file; it is kept only if there is no ``source`` to read it from again.
        name: name of the document, for messages.
        source: path of the file.
        keep_hidden: whether hidden text was kept.
    """
    lines = np.array(printed, dtype=np.int32).reshape(-1, 4)
    digest = hashlib.sha256(data).hexdigest()
    kept = data if source is None else b""

    def locate(start: int, end: int) -> list[Box]:
        rows = lines[(lines[:, 0] < end) & (lines[:, 1] > start)]
        if not len(rows):
            return []
        again = kept if source is None else _read_again(source)
        if hashlib.sha256(again).hexdigest() != digest:
            raise InputError(f"{name} has changed since it was read", "read or index it again")
        with PDFIUM, open_pdf(again, name) as document:
            return [box for _, box in _boxes(rows, start, end, document, keep_hidden=keep_hidden)]

    return locate


def boxes_of_lines(
    printed: Sequence[Printed], pages: Sequence[Page], document: Any, *, keep_hidden: bool
) -> list[tuple[int, Box]]:
    """Offset and box of each printed line, in text order; the lock must be held.

    Lines that were read from a picture have their boxes, others are looked up in the file.
    """
    pictures = {page.number: page.boxes for page in pages if page.boxes is not None}
    known = [
        (start, boxes[place])
        for start, _, page, place in printed
        if (boxes := pictures.get(page)) is not None
    ]
    others = [row for row in printed if row[2] not in pictures]
    if others:
        table = np.array(others, dtype=np.int32)
        end = int(table[:, 1].max())
        known += _boxes(table, 0, end, document, keep_hidden=keep_hidden)
    return sorted(known, key=lambda pair: pair[0])


def _read_again(source: str) -> bytes:
    try:
        return Path(source).read_bytes()
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise InputError(f"{source}: {reason}", "put the file back") from error


def _boxes(
    rows: NDArray[np.int32], start: int, end: int, document: Any, *, keep_hidden: bool
) -> Iterator[tuple[int, Box]]:
    for number in dict.fromkeys(rows[:, 2].tolist()):
        page, glyphs = load_page(document, number - 1, keep_hidden=keep_hidden, ink=True)
        for first, last, _, place in rows[rows[:, 2] == number].tolist():
            line = page.frame.lines[place]
            part = line.source[max(start - first, 0) : min(end, last) - first]
            if glyphs.ink is not None and (box := _box_of(part, glyphs.ink, line, number)):
                yield first, box


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
    level = np.abs(middle - np.median(middle)) < 1.2 * line.largest
    left, top = spots[level, :2].min(axis=0).tolist()
    right, bottom = spots[level, 2:].max(axis=0).tolist()
    return Box(page, left, top, right, bottom)


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

    Lines that the text does not have, such as running heads, are left out. ``number`` counts from
    1, ``text`` is that of the page, and spans count from its beginning.
    """
    letters, places = _squeezed(text)
    with PDFIUM, open_pdf(data, name) as document:
        if not 1 <= number <= len(document):
            raise InputError(f"{name} has no page {number}", f"1 to {len(document)}")
        lines, ink = _lines(document, number, keep_hidden)
    found = []
    for first, line, own in _laid(letters, lines):
        if box := _box_of(line.source, ink, line, number):
            found.append(((places[first], places[first + len(own) - 1] + 1), box))
    return found


def _lines(document: Any, number: int, keep_hidden: bool) -> tuple[list[Line], Floats]:
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
        if box := _box_of(line.source[start_at:end_at], ink, line, number):
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
    """Width and height of pages as a reader shows them, in points; numbers count from 1."""
    with PDFIUM, open_pdf(data, name) as document:
        known = (number for number in {*numbers} if 0 < number <= len(document))
        return {number: document.get_page_size(number - 1) for number in known}
