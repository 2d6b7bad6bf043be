"""Find a span of the text on the pages, by reading the file again.

A document stores four numbers for each printed line: its start and end in the text, its page, and
its index on that page. The boxes of characters are read from the file when they are requested, if
the file has not changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.documents.readers.pdf.file import open_pdf
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.documents.readers.pdf.page import load_page
from milepost.errors import InputError
from milepost.types import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.documents.readers.pdf.join import Printed
    from milepost.documents.readers.pdf.page import Page
    from milepost.documents.readers.pdf.records import Line


@dataclass(frozen=True, slots=True, eq=False)
class Locator:
    """Finds spans of a document on its pages; see ``Document.locator``.

    Attributes:
        lines: ``(n, 4)`` int32: start, end, page and index of each printed line, in text order.
        name: name of the document, for messages.
        digest: sha256 of the file when it was first read.
        read: returns the bytes of the file.
        keep_hidden: whether hidden text was kept.
    """

    lines: NDArray[np.int32]
    name: str
    digest: str
    read: Callable[[], bytes]
    keep_hidden: bool

    def __call__(self, start: int, end: int) -> list[Box]:
        """Where ``text[start:end]`` is printed, one box a line.

        Raises:
            InputError: the file is gone or has changed since it was first read.
        """
        rows = self.lines[(self.lines[:, 0] < end) & (self.lines[:, 1] > start)]
        if not len(rows):
            return []
        data = self.read()
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise InputError(f"{self.name} has changed since it was read", "read or index it again")
        with PDFIUM, open_pdf(data, self.name) as document:
            found = _boxes(rows, start, end, document, keep_hidden=self.keep_hidden)
            return [box for _, box in found]


def locator(
    printed: Sequence[Printed],
    name: str,
    digest: str,
    read: Callable[[], bytes],
    *,
    keep_hidden: bool,
) -> Locator:
    """Make a document's ``locator`` from its printed lines; see ``Locator``."""
    import numpy as np

    lines = np.array(printed, dtype=np.int32).reshape(-1, 4)
    return Locator(lines, name, digest, read, keep_hidden)


def line_boxes(
    printed: Sequence[Printed], pages: Sequence[Page], document: Any, *, keep_hidden: bool
) -> list[tuple[int, Box]]:
    """Offset and box of each printed line, in text order; the lock must be held.

    Lines that were read from a picture have their boxes, others are looked up in the file.
    """
    import numpy as np

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


def from_source(source: str) -> Callable[[], bytes]:
    """Make a function that reads the file, or raises InputError with the reason."""

    def read() -> bytes:
        try:
            return Path(source).read_bytes()
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            raise InputError(f"{source}: {reason}", "put the file back") from error

    return read


def _boxes(
    rows: NDArray[np.int32], start: int, end: int, document: Any, *, keep_hidden: bool
) -> Iterator[tuple[int, Box]]:
    for number in dict.fromkeys(rows[:, 2].tolist()):
        page, glyphs = load_page(document, number - 1, keep_hidden=keep_hidden, ink=True)
        for first, last, _, place in rows[rows[:, 2] == number].tolist():
            line = page.frame.lines[place]
            part = line.source[max(start - first, 0) : min(end, last) - first]
            wanted = sorted({glyph for glyph in part if glyph >= 0})
            if wanted and glyphs.ink is not None:
                yield first, around(glyphs.ink[wanted], line, number)


def around(ink: NDArray[np.float64], line: Line, page: int) -> Box:
    """Box around the glyphs of one line; a glyph far from the line (a broken font) is ignored."""
    import numpy as np

    across = 0 if line.angle % 180 in range(45, 135) else 1
    middle = (ink[:, across] + ink[:, across + 2]) / 2
    level = np.abs(middle - np.median(middle)) < 1.2 * line.largest
    left, top = ink[level, :2].min(axis=0).tolist()
    right, bottom = ink[level, 2:].max(axis=0).tolist()
    return Box(page, left, top, right, bottom)
