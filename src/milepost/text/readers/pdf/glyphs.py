"""One page of a PDF → its printed characters as arrays, upright and in the order of the file.

The only file that calls pdfium's text functions. It knows characters, not lines.

pdfium returns coordinates in the space of the page (y upwards, no rotation). They are converted to
*displayed* coordinates: points from the top left corner of the page as a viewer shows it.
"""

from __future__ import annotations

import ctypes
import math
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from milepost.text.readers.pdf.annotations import draw_in
from milepost.text.readers.pdf.hidden import hidden_kinds
from milepost.text.readers.pdf.native import HANDLE, INT, address, plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PDFIUM = threading.RLock()
"""Lock to hold around every use of pdfium in the process: pdfium is not thread-safe."""


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
        width: width of the displayed page in points.
        height: height of the displayed page in points.
        pictures: share of the page that pictures cover, 0–1.
        typed: number of the first character that is in a form field or note; None if none is.
    """

    code: NDArray[np.int64]
    generated: NDArray[np.bool_]
    cell: NDArray[np.float64]
    base: NDArray[np.float64]
    size: NDArray[np.float64]
    hidden: NDArray[np.int8]
    angle: NDArray[np.int64]
    bold: NDArray[np.bool_]
    width: float
    height: float
    pictures: float = 0.0
    ink: NDArray[np.float64] | None = None
    typed: int | None = None


def read_glyphs(document: Any, number: int, *, ink: bool = False) -> Glyphs:
    """Read page ``number`` (from 0) of an open pypdfium2 document; the lock must be held.

    All other fields are the same with and without ``ink``.

    Raises:
        ValueError: pdfium cannot load the page.
    """
    import pypdfium2.raw as pdfium

    page = pdfium.FPDF_LoadPage(document.raw, number)
    if not page:
        raise ValueError(f"page {number + 1} cannot be loaded")
    try:
        typed = draw_in(pdfium, page)
        if typed is not None:
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(document.raw, number)
            if not page:
                raise ValueError(f"page {number + 1} cannot be loaded")
        glyphs = _read_page(pdfium, page, ink)
        return glyphs if typed is None else replace(glyphs, typed=typed)
    finally:
        if page:
            pdfium.FPDF_ClosePage(page)


def _read_page(pdfium: Any, page: Any, ink: bool) -> Glyphs:
    bounds = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, bounds)
    turn = pdfium.FPDFPage_GetRotation(page)
    text = pdfium.FPDFText_LoadPage(page)
    upright = _main_turn(pdfium, text)
    if upright != turn:
        # pdfium sorts characters by the displayed page. If the writing is not upright there, words
        # come out of order, so the page is rotated until the writing is upright.
        pdfium.FPDFText_ClosePage(text)
        pdfium.FPDFPage_SetRotation(page, upright)
        text = pdfium.FPDFText_LoadPage(page)
    try:
        glyphs = _characters(pdfium, text, _Display(bounds, turn), ink)
        kinds, pictures = hidden_kinds(pdfium, page, text, glyphs, turn)
        return replace(glyphs, hidden=kinds, pictures=pictures)
    finally:
        pdfium.FPDFText_ClosePage(text)


def _main_turn(pdfium: Any, text: Any) -> int:
    """Quarter turns clockwise that make most of the page's writing upright."""
    votes = [0, 0, 0, 0]
    count = pdfium.FPDFText_CountChars(text)
    matrix = pdfium.FS_MATRIX()
    for index in range(0, count, max(1, count // 200)):
        if pdfium.FPDFText_GetMatrix(text, index, matrix):
            size = pdfium.FPDFText_GetFontSize(text, index)
            x, y = matrix.a, matrix.b
            if size < 0 or x * matrix.d < y * matrix.c:
                x, y = (-matrix.d, matrix.c) if size < 0 else (matrix.d, -matrix.c)
            votes[round(math.atan2(y, x) / (math.pi / 2)) % 4] += 1
    return votes.index(max(votes))


def _characters(pdfium: Any, text: Any, display: _Display, ink: bool) -> Glyphs:
    import numpy as np

    count = max(pdfium.FPDFText_CountChars(text), 0)
    cells = (pdfium.FS_RECTF * count)()
    matrices = (pdfium.FS_MATRIX * count)()
    x, y = ctypes.c_double(), ctypes.c_double()
    to_x, to_y = ctypes.addressof(x), ctypes.addressof(y)
    to_cell, to_matrix, at = ctypes.addressof(cells), ctypes.addressof(matrices), address(text)
    rows: list[tuple[float, float, float]] = []
    code, generated, bold = [0] * count, [False] * count, [False] * count
    name = ctypes.create_string_buffer(128)
    heavy, fresh = False, True
    unicode_of = plain(pdfium.FPDFText_GetUnicode, ctypes.c_uint, HANDLE, INT)
    size_of = plain(pdfium.FPDFText_GetFontSize, ctypes.c_double, HANDLE, INT)
    box_of = plain(pdfium.FPDFText_GetLooseCharBox, INT, HANDLE, INT, HANDLE)
    matrix_of = plain(pdfium.FPDFText_GetMatrix, INT, HANDLE, INT, HANDLE)
    origin_of = plain(pdfium.FPDFText_GetCharOrigin, INT, HANDLE, INT, HANDLE, HANDLE)
    for k in range(count):
        code[k] = char = unicode_of(at, k)
        box_of(at, k, to_cell + 16 * k)
        origin_of(at, k, to_x, to_y)
        matrix_of(at, k, to_matrix + 24 * k)
        rows.append((x.value, y.value, size_of(at, k)))
        if char <= 32:
            generated[k] = pdfium.FPDFText_IsGenerated(text, k) == 1
            fresh = True
        elif fresh:  # ask for the font's name once per word: it rarely changes inside one
            heavy = _is_bold(pdfium, text, k, name)
            fresh = False
        bold[k] = heavy
    # Broken fonts return NaN and infinity.
    table, loose, matrix = (
        np.nan_to_num(np.asarray(numbers, np.float64).reshape(count, width), posinf=0.0, neginf=0.0)
        for numbers, width in (
            (rows, 3),
            (np.frombuffer(cells, np.float32), 4),
            (np.frombuffer(matrices, np.float32), 6),
        )
    )
    slope = np.degrees(np.arctan2(*_direction(table[:, 2], matrix)))
    return Glyphs(
        code=np.array(code, dtype=np.int64),
        generated=np.array(generated, dtype=np.bool_),
        cell=display.boxes(*loose.T),
        base=np.stack(display.points(table[:, 0], table[:, 1]), axis=1),
        size=np.abs(table[:, 2]) * np.hypot(matrix[:, 2], matrix[:, 3]),
        hidden=np.zeros(count, np.int8),
        angle=np.rint(90.0 * display.turn - slope).astype(np.int64) % 360,
        bold=np.array(bold, dtype=np.bool_),
        width=display.width,
        height=display.height,
        ink=_ink(pdfium, text, count, display) if ink else None,
    )


def _direction(
    size: NDArray[np.float64], matrix: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return y and x of the direction of the writing.

    Some programs write with a negative size, a negative scale and a mirrored page, which together
    are upright letters. There, the direction is known from the upper side of the letters.
    """
    import numpy as np

    x, y, up_x, up_y = matrix[:, 0], matrix[:, 1], matrix[:, 2], matrix[:, 3]
    mirrored = (size < 0) | (x * up_y < y * up_x)
    sign = np.where(size < 0, -1.0, 1.0)
    return np.where(mirrored, -sign * up_x, y), np.where(mirrored, sign * up_y, x)


def _ink(pdfium: Any, text: Any, count: int, display: _Display) -> NDArray[np.float64]:
    import numpy as np

    left, right, bottom, top = slots = [ctypes.c_double() for _ in range(4)]
    places = [ctypes.byref(slot) for slot in slots]
    rows = []
    for k in range(count):
        pdfium.FPDFText_GetCharBox(text, k, *places)
        rows.append((left.value, top.value, right.value, bottom.value))
    return display.boxes(*np.array(rows, dtype=np.float64).reshape(count, 4).T)


def _is_bold(pdfium: Any, text: Any, index: int, name: Any) -> bool:
    flags = ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(text, index, name, len(name), ctypes.byref(flags))
    if not 0 < length <= len(name):
        return False
    return _names_bold(name.value)


@lru_cache(maxsize=1024)
def _names_bold(name: bytes) -> bool:
    """Whether a font's name says that it is bold."""
    font = name.decode("utf-8", "replace").lower()
    return any(mark in font for mark in ("bold", "black", "heavy", "cmbx", "demi"))


class _Display:
    """Convert arrays from the space of the page to the page as displayed."""

    def __init__(self, bounds: Any, turn: int) -> None:
        self._bounds, self.turn = bounds, turn
        wide, high = bounds.right - bounds.left, bounds.top - bounds.bottom
        self.width, self.height = (high, wide) if turn % 2 else (wide, high)

    def points(
        self, x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Convert points of the page to displayed points."""
        bounds = self._bounds
        if self.turn == 0:
            return x - bounds.left, bounds.top - y
        if self.turn == 1:
            return y - bounds.bottom, x - bounds.left
        if self.turn == 2:
            return bounds.right - x, y - bounds.bottom
        return bounds.top - y, bounds.right - x

    def boxes(
        self,
        left: NDArray[np.float64],
        top: NDArray[np.float64],
        right: NDArray[np.float64],
        bottom: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Convert rectangles of the page to displayed ``(n, 4)`` left, top, right, bottom."""
        import numpy as np

        x0, y0 = self.points(left, top)
        x1, y1 = self.points(right, bottom)
        return np.stack(
            [np.minimum(x0, x1), np.minimum(y0, y1), np.maximum(x0, x1), np.maximum(y0, y1)], axis=1
        )
