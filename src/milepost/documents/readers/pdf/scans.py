"""Pages that are pictures: found, drawn, read by text recognition, and made lines of."""

from __future__ import annotations

from statistics import median

import numpy as np
from numpy.typing import NDArray

from milepost.documents import recognition
from milepost.documents.readers.pdf.file import open_pdf
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.documents.readers.pdf.page import Page
from milepost.documents.readers.pdf.picture import draw
from milepost.documents.readers.pdf.records import NONE, Frame, Line
from milepost.documents.recognition import PictureLine
from milepost.types import Box

_POINTS = 72  # to the inch
_MAX_PIXELS = 4000  # of the longer side of a drawn page
_LETTERS = 0.72  # of the height of a box: the size of its letters
_BELOW = 0.24  # of the height of a box, under the baseline
_ALIKE = 0.3  # heights this near to the usual one are letters of one size


def recognised(data: bytes, name: str, number: int) -> Page:
    """Read a page of a PDF (from 1) from its picture.

    pdfium is free for others while the text is recognised.
    """
    with PDFIUM, open_pdf(data, name) as document:
        page = document[number - 1]
        width, height = page.get_size()
        scale = min(recognition.DPI / _POINTS, _MAX_PIXELS / max(width, height, 1.0))
        size = max(1, round(scale * width)), max(1, round(scale * height))
        picture = draw(page.raw, size)
        page.close()
    return picture_page(picture, number, scale)


def picture_page(picture: NDArray[np.uint8], number: int, scale: float = 1.0) -> Page:
    """Make a page of a picture.

    Args:
        picture: ``(height, width)`` grey values.
        number: number of the page.
        scale: pixels to the point.
    """
    found, turns = recognition.recognise(picture)
    height, width = picture.shape
    usual = median([line.bottom - line.top for line in found]) if found else 1.0
    lines = [_line(line, order, usual, scale) for order, line in enumerate(found)]
    boxes = [
        Box(number, *(side / scale for side in _turned_back(line, width, height))) for line in found
    ]
    if turns % 2:
        width, height = height, width
    return Page(number, Frame(lines, width / scale, height / scale), boxes=boxes)


def _turned_back(line: PictureLine, width: int, height: int) -> tuple[float, float, float, float]:
    """Return the place of a line in the picture before it was turned to the left by quarters."""
    left, top, right, bottom = line.left, line.top, line.right, line.bottom
    for turn in range(line.turns, 0, -1):
        across = width if turn % 2 else height
        left, top, right, bottom = across - bottom, left, across - top, right
    return left, top, right, bottom


def _line(line: PictureLine, order: int, usual: float, scale: float) -> Line:
    """The printed line in a box; boxes of lines without tall letters are lower."""
    height = line.bottom - line.top
    if abs(height - usual) <= _ALIKE * usual:
        height = usual
    size = _LETTERS * height / scale
    return Line(
        text=line.text,
        source=NONE,
        left=line.left / scale,
        right=line.right / scale,
        base=(line.bottom - _BELOW * height) / scale,
        size=size,
        largest=size,
        angle=90 * line.turns,
        bold=False,
        order=order,
        starts=NONE,
    )
