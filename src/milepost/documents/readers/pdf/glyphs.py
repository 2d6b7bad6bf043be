"""One page of a PDF → its printed characters as arrays, upright and in the order of the file.

Only this file and ``writing`` call pdfium's text functions. It knows characters, not lines.

pdfium returns coordinates in the space of the page (y upwards, no rotation). They are converted to
*displayed* coordinates: points from the top left corner of the page as a viewer shows it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from milepost._forking import free_in_child
from milepost.documents.readers.pdf.annotations import Typed, clear_drawings, draw_in
from milepost.documents.readers.pdf.bidirectional import in_reading_order
from milepost.documents.readers.pdf.hidden import hidden_kinds
from milepost.documents.readers.pdf.native import INT, asked, reference, references, results
from milepost.documents.readers.pdf.picture import bounds, objects
from milepost.documents.readers.pdf.records import NONE, Flags, Floats, Integers, are_blank
from milepost.documents.readers.pdf.vertical import widen_columns, with_columns
from milepost.documents.readers.pdf.writing import Writing, finite, read_writing

PDFIUM = free_in_child(threading.RLock())
"""Lock to hold around every use of pdfium in the process: pdfium is not thread-safe."""

_LOGGER = logging.getLogger("pypdfium2")
_DRAWING = 2000
"""Paths on a page from which it is a drawing, whose lines are no table and hide nothing."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of one page in the order of the file, including those that pdfium adds.

    Attributes:
        code: code points, as pdfium maps them.
        generated: True if pdfium added a space or line break that is not in the file.
        cell: ``(n, 4)`` left, top, right, bottom in displayed points: full height of the font and
            advance width.
        ink: the same for the printed shape, or None if it was not requested.
        base: ``(n, 2)`` origin on the baseline, displayed points.
        size: font size in points as displayed.
        hidden: why it cannot be seen, a code of ``hidden.KINDS``; 0 if it can.
        angle: direction of the writing in whole degrees, 0 = upright as displayed, clockwise.
        bold: True if the name of the font says so.
        owner: address of the object that draws each letter while the page is open, else 0 or less.
        width: width of the displayed page in points.
        height: height of the displayed page in points.
        typed: number of the first character that is in a form field or note; None if none is.
        unknown: how many that can be seen have no code point, or one that may be wrong.
    """

    code: Integers
    generated: Flags
    cell: Floats
    base: Floats
    size: Floats
    hidden: NDArray[np.int8]
    angle: Integers
    bold: Flags
    owner: Integers
    width: float
    height: float
    ink: Floats | None = None
    typed: int | None = None
    unknown: int = 0

    def in_order(self, order: Integers) -> Glyphs:
        """Return the same characters, with number ``order[k]`` as the ``k``-th."""
        arrays = ((each.name, getattr(self, each.name)) for each in fields(self))
        ordered: dict[str, Any] = {n: a[order] for n, a in arrays if isinstance(a, np.ndarray)}
        return replace(self, **ordered)


@contextmanager
def open_page(document: Any, number: int) -> Iterator[tuple[Any, Typed | None]]:
    """Open page ``number`` (from 0) of an open pypdfium2 document; the lock must be held.

    Yields:
        The page as pdfium's functions take it, and what is typed on it.

    Raises:
        ValueError: pdfium cannot load the page.
    """
    if document.get_formtype() != pdfium.FORMTYPE_NONE:
        _LOGGER.setLevel(logging.ERROR)  # it advises another build for XFA, whose fields are read
        document.init_forms()
    forms = document.formenv
    page = pdfium.FPDF_LoadPage(document.raw, number)
    typed = None
    try:
        if page and forms:  # pdfium draws the fields that the file has no drawing of
            clear_drawings(page, forms)
            pdfium.FORM_OnAfterLoadPage(page, forms)
        if page and (typed := draw_in(page, forms)) is not None:
            if forms:
                pdfium.FORM_OnBeforeClosePage(page, forms)
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(document.raw, number)
        if not page:
            raise ValueError(f"page {number + 1} cannot be loaded")
        yield page, typed
    finally:
        if page:
            pdfium.FPDF_ClosePage(page)


def read_glyphs(
    display: Display, typed: Typed | None, *, ink: bool = False, layers: bool | None = None
) -> Glyphs:
    """Read an open page, with ``Glyphs.ink`` if asked; for ``layers`` see ``OpenPdf.layers``."""
    glyphs = _read_glyphs(display, typed, ink=ink, layers=layers)
    if (not len(glyphs.code) or (glyphs.angle == 90).any()) and widen_columns(*display.objects):
        return _read_glyphs(display, typed, ink=ink, layers=layers)
    return glyphs


def _read_glyphs(
    display: Display, typed: Typed | None, *, ink: bool, layers: bool | None
) -> Glyphs:
    page = display.page
    text = pdfium.FPDFText_LoadPage(page)
    try:
        written = read_writing(text)
        upright = written.quarter_turns()
        if upright != display.turn:
            # pdfium sorts characters by the displayed page. If the writing is not upright there,
            # words come out of order, so the page is rotated until the writing is upright.
            pdfium.FPDFText_ClosePage(text)
            pdfium.FPDFPage_SetRotation(page, upright)
            text = pdfium.FPDFText_LoadPage(page)
            written = read_writing(text)
        glyphs = _characters(text, written, display, ink)
        if typed is not None:
            code = glyphs.code.copy()
            for drawn, meant in typed.letters.items():
                code[typed.first :][glyphs.code[typed.first :] == drawn] = meant
            glyphs = replace(glyphs, code=code, typed=typed.first)
        glyphs = replace(glyphs, hidden=hidden_kinds(display, glyphs, layers=layers))
        handle = reference(text)
        glyphs = with_columns(replace(glyphs, unknown=_unknown(handle, glyphs)))
        return in_reading_order(glyphs, lambda numbers: _ink(handle, numbers, display))
    finally:
        pdfium.FPDFText_ClosePage(text)


def _characters(text: Any, written: Writing, display: Display, ink: bool) -> Glyphs:
    """Ask pdfium for the place of each letter, and for all else of each object."""
    handle, code, letters = reference(text), written.code, written.letters
    count = len(code)
    slope = np.degrees(np.arctan2(*written.direction()))
    angle, size = np.zeros(count, np.int64), np.zeros(count)
    turned = np.rint(90.0 * display.turn - slope).astype(np.int64) % 360
    angle[letters] = np.repeat(turned, written.lengths)
    heights = np.abs(written.size) * np.hypot(written.matrix[:, 2], written.matrix[:, 3])
    size[letters] = np.repeat(heights, written.lengths)
    cell, base = np.zeros((count, 4)), np.zeros((count, 2))
    loose, origin = _places(handle, written)
    cell[letters] = display.boxes(*loose.T)
    base[letters] = np.stack(display.points(*origin.T), axis=1)
    return Glyphs(
        code=code,
        generated=_generated(handle, code),
        cell=cell,
        base=base,
        size=size,
        hidden=np.zeros(count, np.int8),
        angle=angle,
        bold=written.bold(text),
        owner=written.owner,
        width=display.width,
        height=display.height,
        ink=_ink(handle, range(count), display) if ink else None,
    )


def _unknown(handle: Any, glyphs: Glyphs) -> int:
    """How many letters have no code point: pdfium has the number of the glyph, or a private code.

    One between blanks may be a bullet, and a font's third glyph is its space. Where numbers of
    glyphs are no letters, others are such by chance.
    """
    code = glyphs.code
    seen = (glyphs.hidden == 0) & ~glyphs.generated & ~are_blank(code)
    control = seen & ((code < 32) | ((code > 126) & (code < 160)))
    lost = control | (seen & (((code >= 0xE000) & (code < 0xF900)) | (code == 0xFFFD)))
    rare = seen & (code >= 0x3400) & (code < 0x4DC0)  # no text has more of these than of others
    lost |= rare & (2 * rare.sum() > seen.sum())
    around = np.pad(seen, 1)
    lost &= around[:-2] | around[2:]
    if (control & lost).any():
        failed = asked(pdfium.FPDFText_HasUnicodeMapError, INT, range(len(code)), handle)
        lost |= seen & (failed == 1)
    return int(lost.sum())


def _generated(handle: Any, code: Integers) -> Flags:
    # Line breaks are no letters, whoever wrote them.
    generated: Flags = (code == ord("\r")) | (code == ord("\n"))
    blank = np.flatnonzero((code <= 32) & ~generated)
    generated[blank] = asked(pdfium.FPDFText_IsGenerated, INT, blank.tolist(), handle) == 1
    return generated


def _places(handle: Any, written: Writing) -> tuple[Floats, Floats]:
    """Return the boxes ``(n, 4)`` and origins ``(n, 2)`` of letters, on the page."""
    letters, matrix = written.letters, written.matrix
    boxes, _ = results(pdfium.FPDFText_GetLooseCharBox, np.float32, 4, letters.tolist(), handle)
    loose = finite(boxes)
    if not len(letters):
        return loose, np.zeros((0, 2))
    # If the first letter of an upright object is where the object begins, and the boxes of all are
    # as high as its font, each begins at its box.
    first = np.cumsum(written.lengths) - written.lengths
    known = (matrix[:, 1:3] == 0).all(axis=1) & (loose[first, 0] == matrix[:, 4])
    level = [f.reduceat(loose[:, 1::2], first) for f in (np.minimum, np.maximum)]
    known &= (level[0] == level[1]).all(axis=1) | (written.lengths == 1)
    origin = np.stack([loose[:, 0], np.repeat(matrix[:, 5], written.lengths)], axis=1)
    rest = np.flatnonzero(~np.repeat(known, written.lengths))
    numbers = letters[rest].tolist()
    found, _ = results(pdfium.FPDFText_GetCharOrigin, np.float64, 2, numbers, handle, apart=True)
    origin[rest] = finite(found)
    return loose, origin


def _ink(handle: Any, numbers: Sequence[int], display: Display) -> Floats:
    boxes, _ = results(pdfium.FPDFText_GetCharBox, np.float64, 4, numbers, handle, apart=True)
    left, right, bottom, top = boxes.T
    return display.boxes(left, top, right, bottom)


class Display:
    """Convert arrays from the space of an open page to the page as displayed.

    ``page`` is from ``open_page``, and ``turn`` its quarter turns as a viewer shows it; ``texts``
    are addresses of objects that are known to be text.
    """

    def __init__(self, page: Any) -> None:
        self.page, self.turn = page, pdfium.FPDFPage_GetRotation(page)
        self.texts: Integers = NONE
        self._bounds = pdfium.FS_RECTF()
        bounds = self._bounds
        pdfium.FPDF_GetPageBoundingBox(page, bounds)
        wide, high = bounds.right - bounds.left, bounds.top - bounds.bottom
        self.width, self.height = (high, wide) if self.turn % 2 else (wide, high)

    @cached_property
    def objects(self) -> tuple[Integers, Integers]:
        """Addresses and kinds of the objects on the page; some have thousands."""
        return objects(reference(self.page), 0, self.texts)

    @cached_property
    def paths(self) -> tuple[Integers, Floats]:
        """Places of the paths among the objects, and their displayed boxes; none of a drawing."""
        places = np.flatnonzero(self.objects[1] == pdfium.FPDF_PAGEOBJ_PATH)
        places = places if len(places) <= _DRAWING else NONE
        return places, self.boxes_of(places)

    def boxes_of(self, places: Integers) -> Floats:
        """Displayed boxes ``(n, 4)`` of some objects, by their places among those of the page."""
        left, bottom, right, top = bounds(references(self.objects[0][places])).T
        return self.boxes(left, top, right, bottom)

    def points(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Convert points of the page to displayed ones."""
        bounds = self._bounds
        if self.turn == 0:
            return x - bounds.left, bounds.top - y
        if self.turn == 1:
            return y - bounds.bottom, x - bounds.left
        if self.turn == 2:
            return bounds.right - x, y - bounds.bottom
        return bounds.top - y, bounds.right - x

    def boxes(self, left: Floats, top: Floats, right: Floats, bottom: Floats) -> Floats:
        """Convert rectangles of the page to displayed ``(n, 4)`` left, top, right, bottom."""
        x0, y0 = self.points(left, top)
        x1, y1 = self.points(right, bottom)
        return np.stack(
            [np.minimum(x0, x1), np.minimum(y0, y1), np.maximum(x0, x1), np.maximum(y0, y1)], axis=1
        )
