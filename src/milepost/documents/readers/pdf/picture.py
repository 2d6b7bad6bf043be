"""Draw a page of a PDF as an array of grey values, and see from it which characters show.

Also what the pictures on a page cover.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from milepost.documents.readers.pdf.native import HANDLE, INT, asked, plain, references, results
from milepost.documents.readers.pdf.records import NONE, Flags, Floats, Integers

if TYPE_CHECKING:
    from milepost.documents.readers.pdf.glyphs import Display, Glyphs

MOSTLY = 0.5
"""Share of a page under pictures from which it counts as the picture of a page."""

MAX_DEPTH = 8
"""Forms inside forms that are looked at."""


def covered(display: Display) -> float:
    """Share of a page that pictures cover, 0-1; the lock must be held."""
    area: float = max(1.0, display.width * display.height)
    return min(1.0, sum(_pictures(*display.objects, 0)) / area)


def objects(holder: Any, depth: int, texts: Integers = NONE) -> tuple[Integers, Integers]:
    """Addresses and kinds of the objects on a page, or in a form (with a ``depth``).

    ``texts``, each named once, are known to be text.
    """
    count, get = (
        (pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
        if depth
        else (pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject)
    )
    items = asked(get, HANDLE, range(plain(count, INT)(holder)), holder)
    kinds = np.full(len(items), pdfium.FPDF_PAGEOBJ_TEXT)
    others = np.flatnonzero(~np.isin(items, texts, assume_unique=True))
    kinds[others] = asked(pdfium.FPDFPageObj_GetType, INT, references(items[others]))
    return items, kinds


def _pictures(items: Integers, kinds: Integers, depth: int) -> Iterator[float]:
    """Areas of the pictures among some objects, and of the forms that hold pictures."""
    for item, kind in zip(references(items), kinds.tolist(), strict=True):
        form = kind == pdfium.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE or (
            form and any(True for _ in _pictures(*objects(item, depth + 1), depth + 1))
        ):
            left, bottom, right, top = bounds([item])[0].tolist()
            yield max(0.0, right - left) * max(0.0, top - bottom)


def bounds(items: Sequence[Any]) -> Floats:
    """Left, bottom, right and top of objects, ``(n, 4)``, on the page."""
    boxes, _ = results(pdfium.FPDFPageObj_GetBounds, np.float32, 4, items, apart=True)
    return boxes.astype(np.float64)


def draw(
    page: Any, size: tuple[int, int], window: tuple[int, int, int, int] | None = None
) -> NDArray[np.uint8]:
    """Draw a page as it is printed, without its annotations; the lock must be held.

    ``size`` is that of the picture of the whole page in pixels, ``window`` left, top, right and
    bottom of the part that is drawn, None for the whole. Returns ``(height, width)`` grey values, 0
    black to 255 white.
    """
    left, top, right, bottom = window or (0, 0, *size)
    picture = np.full((bottom - top, right - left), 255, np.uint8)
    height, width = picture.shape
    kind, place = pdfium.FPDFBitmap_Gray, picture.ctypes.data
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, kind, place, width)
    pdfium.FPDF_RenderPageBitmap(bitmap, page, -left, -top, *size, 0, 0)
    pdfium.FPDFBitmap_Destroy(bitmap)
    return picture


PALE = 235  # of 255: what is paler looks white
_DIFFERENT = 30  # of 255: a letter that changes a pixel by less is hardly seen
_MAX_SIDE = 1600  # pixels of the picture of a page


def on_white(display: Display, glyphs: Glyphs, chosen: Integers) -> Flags:
    """Say which of the chosen characters stand where the page is white, letters included."""
    window = _Window(display, glyphs.cell[chosen])
    # The letters of white text on a dark place cover less than half of it.
    return window.covered(window.draw() >= PALE) > 0.5


def seen(display: Display, glyphs: Glyphs, chosen: Integers) -> Flags:
    """Say which of the chosen characters are missed if the objects that draw them are left out."""
    window = _Window(display, glyphs.cell[chosen])
    whole = window.draw().astype(np.int16)
    with _left_out(np.unique(glyphs.owner[chosen])):
        rest = window.draw()
    return window.covered(np.abs(whole - rest) > _DIFFERENT) > 0


def drawn(display: Display, glyphs: Glyphs, chosen: Integers) -> Flags:
    """Say which of the chosen characters show if all other objects but forms are left out."""
    window = _Window(display, glyphs.cell[chosen])
    items, kinds = display.objects
    others = ~np.isin(items, glyphs.owner[chosen]) & (kinds != pdfium.FPDF_PAGEOBJ_FORM)
    with _left_out(items[others]):
        return window.covered(window.draw() < PALE) > 0


@contextmanager
def _left_out(items: Integers) -> Iterator[None]:
    """Let the objects of some addresses not be drawn."""
    held = [ctypes.cast(item, pdfium.FPDF_PAGEOBJECT) for item in items.tolist() if item > 0]
    for each in held:
        pdfium.FPDFPageObj_SetIsActive(each, False)
    try:
        yield
    finally:
        for each in held:
            pdfium.FPDFPageObj_SetIsActive(each, True)


class _Window:
    """The part of a page's picture that holds some characters, and the place of each in it."""

    def __init__(self, display: Display, cells: Floats) -> None:
        self._display, (width, height) = display, (display.width, display.height)
        scale = min(1.0, _MAX_SIDE / max(width, height, 1.0))
        self._size = max(1, round(scale * width)), max(1, round(scale * height))
        boxes = cells * scale
        low = np.floor(np.clip(boxes[:, :2], 0, np.array(self._size) - 1)).astype(np.int64)
        high = np.ceil(np.clip(boxes[:, 2:], 1, self._size)).astype(np.int64)
        high = np.maximum(high, low + 1)
        left, top = low.min(axis=0).tolist()
        right, bottom = high.max(axis=0).tolist()
        self._window = left, top, right, bottom
        self._low, self._high = low - (left, top), high - (left, top)

    def draw(self) -> NDArray[np.uint8]:
        """Draw the part; the page may have been turned to read the text."""
        pdfium.FPDFPage_SetRotation(self._display.page, self._display.turn)
        return draw(self._display.page, self._size, self._window)

    def covered(self, pixels: Flags) -> Floats:
        """Share of the place of each character that some pixels cover."""
        sums = np.pad(pixels.cumsum(0, np.int32).cumsum(1, np.int32), ((1, 0), (1, 0)))
        (left, top), (right, bottom) = self._low.T, self._high.T
        inside = sums[bottom, right] - sums[bottom, left] - sums[top, right] + sums[top, left]
        share: Floats = inside / ((right - left) * (bottom - top))
        return share
