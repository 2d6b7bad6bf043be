"""One page of a PDF → its printed characters as arrays, upright and in the order of the file.

The only file that calls pdfium's text functions. It knows characters, not lines.

pdfium returns coordinates in the space of the page (y upwards, no rotation). They are converted to
*displayed* coordinates: points from the top left corner of the page as a viewer shows it.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

from milepost.text.readers.pdf.annotations import draw_in
from milepost.text.readers.pdf.hidden import hidden_kinds
from milepost.text.readers.pdf.native import HANDLE, INT, address, fill, plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PDFIUM = threading.RLock()
"""Lock to hold around every use of pdfium in the process: pdfium is not thread-safe."""


HYPHEN = 2
"""What pdfium has for a hyphen at the end of a line."""


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
    owner: NDArray[np.int64]
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
        kinds, pictures = hidden_kinds(pdfium, page, glyphs, turn)
        return replace(glyphs, hidden=kinds, pictures=pictures)
    finally:
        pdfium.FPDFText_ClosePage(text)


def _main_turn(pdfium: Any, text: Any) -> int:
    """Quarter turns clockwise that make most of the page's writing upright."""
    import numpy as np

    count = pdfium.FPDFText_CountChars(text)
    chosen = range(0, count, max(1, count // 200))
    size, matrix = _of_objects(pdfium, address(text), chosen)
    y, x = _direction(size, matrix)
    quarters = np.rint(np.arctan2(y, x) / (math.pi / 2)).astype(np.int64) % 4
    return int(np.bincount(quarters, minlength=4).argmax())


def _characters(pdfium: Any, text: Any, display: _Display, ink: bool) -> Glyphs:
    """Ask pdfium as little as possible: boxes for each letter, all else for each object."""
    import numpy as np

    at, count = address(text), max(pdfium.FPDFText_CountChars(text), 0)
    code = _codes(pdfium, text, count)
    is_generated = plain(pdfium.FPDFText_IsGenerated, INT, HANDLE, INT)
    blank = np.flatnonzero(code <= 32)
    generated = np.zeros(count, np.bool_)
    generated[blank] = [each == 1 for each in map(is_generated, repeat(at), blank.tolist())]
    owner, word = _owners(pdfium, at, code)

    # Blanks are not printed: their places say nothing.
    letters = np.flatnonzero((code > 32) | (code == HYPHEN))
    own = owner[letters]
    first = np.flatnonzero(np.diff(own, prepend=0))  # letters at which the object changes
    lengths = np.diff(first, append=len(letters))
    run_size, matrix = _of_objects(pdfium, at, letters[first].tolist())
    slope = np.degrees(np.arctan2(*_direction(run_size, matrix)))
    angle, size = np.zeros(count, np.int64), np.zeros(count)
    turned = np.rint(90.0 * display.turn - slope).astype(np.int64) % 360
    angle[letters] = np.repeat(turned, lengths)
    size[letters] = np.repeat(np.abs(run_size) * np.hypot(matrix[:, 2], matrix[:, 3]), lengths)

    # A word is bold if its first letter is.
    begins = letters[(word[letters] == letters) & (code[letters] > 32)]
    bold = np.zeros(count, np.bool_)
    bold[begins] = _are_bold(pdfium, text, begins, owner[begins])
    bold = bold[word] if count else bold

    cell, base = np.zeros((count, 4)), np.zeros((count, 2))
    loose, origin = _places(pdfium, at, letters.tolist())
    cell[letters] = display.boxes(*loose.T)
    base[letters] = np.stack(display.points(*origin.T), axis=1)
    return Glyphs(
        code=code,
        generated=generated,
        cell=cell,
        base=base,
        size=size,
        hidden=np.zeros(count, np.int8),
        angle=angle,
        bold=bold,
        owner=owner,
        width=display.width,
        height=display.height,
        ink=_ink(pdfium, at, count, display) if ink else None,
    )


def _places(
    pdfium: Any, at: int, numbers: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the boxes ``(n, 4)`` and origins ``(n, 2)`` of characters, on the page."""
    import numpy as np

    count = len(numbers)
    loose, origin = np.zeros((count, 4), np.float32), np.zeros((count, 2))
    to_box, to_x = loose.ctypes.data, origin.ctypes.data
    to_y, end = to_x + 8, to_x + 16 * count
    box_of = plain(pdfium.FPDFText_GetLooseCharBox, INT, HANDLE, INT, HANDLE)
    fill(box_of, at, numbers, range(to_box, to_box + 16 * count, 16))
    origin_of = plain(pdfium.FPDFText_GetCharOrigin, INT, HANDLE, INT, HANDLE, HANDLE)
    fill(origin_of, at, numbers, range(to_x, end, 16), range(to_y, end + 8, 16))
    return _finite(loose), _finite(origin)


def _finite(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Put 0 in place of NaN and infinity, which broken fonts return."""
    import numpy as np

    wide: NDArray[np.float64] = numbers.astype(np.float64)
    return wide if np.isfinite(wide).all() else np.nan_to_num(wide, posinf=0.0, neginf=0.0)


def _codes(pdfium: Any, text: Any, count: int) -> NDArray[np.int64]:
    """Code points of all characters."""
    import numpy as np

    unicode_of = plain(pdfium.FPDFText_GetUnicode, ctypes.c_uint, HANDLE, INT)
    buffer = (ctypes.c_ushort * (2 * count + 1))()
    length = pdfium.FPDFText_GetText(text, 0, count, buffer) - 1
    units = np.frombuffer(memoryview(buffer), np.uint16)[: max(length, 0)]
    if length == count and not ((units >= 0xD800) & (units < 0xE000)).any():
        code: NDArray[np.int64] = units.astype(np.int64)
        for k in np.flatnonzero(code == 0xFFFE).tolist():  # what the text has for hyphens
            code[k] = unicode_of(address(text), k)
        return code
    # The text leaves out characters without a code, and others take two units.
    return np.array([*map(unicode_of, repeat(address(text)), range(count))], np.int64)


def _owners(
    pdfium: Any, at: int, code: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each letter the address of the object that draws it, and where its word begins.

    Blanks have 0. Letters that belong to no object, as far as pdfium knows, have negative numbers.
    """
    import numpy as np

    owner_of = plain(pdfium.FPDFText_GetTextObject, HANDLE, HANDLE, INT)
    owner, word = np.zeros((2, len(code)), np.int64)
    solid = code > 32
    begins = np.flatnonzero(solid[1:] & ~solid[:-1]) + 1
    word[begins] = begins
    word = np.maximum.accumulate(word)

    def ask(numbers: NDArray[np.int64]) -> None:
        found = map(owner_of, repeat(at), numbers.tolist())
        owner[numbers] = [each or -1 - k for each, k in zip(found, numbers.tolist(), strict=True)]

    ask(np.flatnonzero(code == HYPHEN))
    letters = np.flatnonzero(solid)
    if (right_to_left(code) | (code > 0xFFFF)).any():  # both directions mix their objects
        ask(letters)
        return owner, word
    ends = np.flatnonzero(solid & ~np.append(solid[1:], False))
    begins = word[ends]
    ask(np.union1d(begins, ends))
    one = np.zeros(len(code), np.bool_)
    one[begins] = owner[begins] == owner[ends]
    same = one[word[letters]]
    owner[letters[same]] = owner[word[letters[same]]]
    ask(letters[~same])
    return owner, word


def right_to_left(code: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which code points are of Hebrew, Arabic and the scripts between them."""
    return ((code >= 0x590) & (code < 0x900)) | ((code >= 0xFB1D) & (code < 0xFF00))


def _of_objects(
    pdfium: Any, at: int, numbers: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return font size ``(n,)`` and matrix ``(n, 6)`` of the objects that draw characters."""
    import numpy as np

    size_of = plain(pdfium.FPDFText_GetFontSize, ctypes.c_double, HANDLE, INT)
    matrix_of = plain(pdfium.FPDFText_GetMatrix, INT, HANDLE, INT, HANDLE)
    matrix = np.zeros((len(numbers), 6), np.float32)
    start = matrix.ctypes.data
    fill(matrix_of, at, numbers, range(start, start + 24 * len(numbers), 24))
    size = np.array([*map(size_of, repeat(at), numbers)], np.float64)
    return _finite(size), _finite(matrix)


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


def _ink(pdfium: Any, at: int, count: int, display: _Display) -> NDArray[np.float64]:
    import numpy as np

    boxes = np.zeros((count, 4))
    start, end = boxes.ctypes.data, boxes.ctypes.data + 32 * count
    box_of = plain(pdfium.FPDFText_GetCharBox, INT, HANDLE, INT, *[HANDLE] * 4)
    fill(box_of, at, range(count), *(range(start + 8 * k, end + 8 * k, 32) for k in range(4)))
    left, right, bottom, top = boxes.T
    return display.boxes(left, top, right, bottom)


def _are_bold(
    pdfium: Any, text: Any, numbers: NDArray[np.int64], owner: NDArray[np.int64]
) -> list[bool]:
    """Whether the fonts of characters are bold; each font is asked for its name once."""
    font_of = plain(pdfium.FPDFTextObj_GetFont, HANDLE, HANDLE)
    name = ctypes.create_string_buffer(128)
    known: dict[int, bool] = {}
    found = []
    for number, item in zip(numbers.tolist(), owner.tolist(), strict=True):
        font = font_of(item) if item > 0 else item
        if font not in known:
            known[font] = _is_bold(pdfium, text, number, name)
        found.append(known[font])
    return found


def _is_bold(pdfium: Any, text: Any, index: int, name: Any) -> bool:
    """Whether the name of a font says that it is bold."""
    flags = ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(text, index, name, len(name), ctypes.byref(flags))
    font = name.value.decode("utf-8", "replace").lower() if 0 < length <= len(name) else ""
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
