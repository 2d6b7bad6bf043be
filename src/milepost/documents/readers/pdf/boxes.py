"""Find a span of the text on the pages, by reading the file again.

A document stores four numbers for each printed line: its start and end in the text, its page, and
its index on that page. The boxes of characters are read from the file when they are requested, if
the file has not changed.
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
from milepost.documents.readers.pdf.page import Page, load_page
from milepost.documents.readers.pdf.records import Line
from milepost.errors import InputError
from milepost.types import Box


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


def line_boxes(
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
            if glyphs.ink is not None and (box := box_of(part, glyphs.ink, line, number)):
                yield first, box


def box_of(part: Iterable[int], ink: NDArray[np.float64], line: Line, page: int) -> Box | None:
    """Box around some glyphs of a line; None for spaces (-1) alone.

    A glyph far from the line (a broken font) is ignored.
    """
    wanted = sorted({glyph for glyph in part if glyph >= 0})
    if not wanted:
        return None
    spots = ink[wanted]
    across = 0 if line.angle % 180 in range(45, 135) else 1
    middle = (spots[:, across] + spots[:, across + 2]) / 2
    level = np.abs(middle - np.median(middle)) < 1.2 * line.largest
    left, top = spots[level, :2].min(axis=0).tolist()
    right, bottom = spots[level, 2:].max(axis=0).tolist()
    return Box(page, left, top, right, bottom)
