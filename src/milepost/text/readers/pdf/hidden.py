"""Find text that a reader of the page cannot see: it may be there to mislead a program.

Four kinds: in invisible ink (render mode 3, or fully transparent), white on white, off the page,
smaller than a point. The words that text recognition writes in invisible ink over the picture of a
page do not count.

The objects of a page are looked at first; its characters only if an object is suspect, and its
picture only if one is white.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from milepost.text.readers.pdf.native import HANDLE, INT, address, plain
from milepost.text.readers.pdf.picture import PALE, on_white, seen
from milepost.types import Mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from milepost.text.readers.pdf.glyphs import Glyphs
    from milepost.text.readers.pdf.join import Printed
    from milepost.text.readers.pdf.page import Page
    from milepost.text.readers.pdf.records import Line

KINDS = ("", "invisible", "white on white", "off the page", "smaller than a point")
"""Names of the codes: 0 is text that can be seen."""

_INVISIBLE, _WHITE, _OFF, _TINY = range(1, 5)

MOSTLY = 0.5
"""Share of a page under pictures from which it counts as the picture of a page."""

_CLEAR = 12  # of 255: less ink is none
_LAYER = 0.8  # of the characters of a page in invisible ink: text recognition has written them
_MAX_DEPTH = 8  # forms inside forms


@dataclass(slots=True)
class _Objects:
    """What the objects of a page say.

    Attributes:
        invisible: addresses of the text objects in invisible ink.
        unpainted: those of them whose mode is to draw nothing.
        pale: addresses of those in white or nearly so.
        pictures: what the pictures cover, in square points.
    """

    invisible: set[int] = field(default_factory=set)
    unpainted: list[int] = field(default_factory=list)
    pale: set[int] = field(default_factory=set)
    pictures: float = 0.0


class HiddenText:
    """Counts the hidden text of a document, for its notes."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self._counts: Counter[int] = Counter()

    def count(self, page: int, kinds: NDArray[np.int8]) -> None:
        """Count the characters of a page by what hides them."""
        if kinds.any():
            self.pages.append(page)
            self._counts.update(kinds[kinds > 0].tolist())

    def note(self, pages: str, *, kept: bool) -> str:
        """Say how much there is; ``pages`` names the pages, with the verb."""
        kinds = ", ".join(KINDS[kind] for kind in sorted(self._counts))
        fate = "kept" if kept else "left out; --hidden keep reads it"
        plural = "s" if self._counts.total() > 1 else ""
        return (
            f"{pages} {self._counts.total():,} character{plural} of hidden text ({kinds}), {fate}"
        )


def hidden_parts(lines: Sequence[Line], kinds: NDArray[np.int8]) -> dict[int, tuple[int, int]]:
    """Index of each line with hidden text, and the places of its first and last hidden character.

    ``kinds`` is ``(glyphs,)``, a code of ``KINDS`` for each.
    """
    parts = {}
    for number, line in enumerate(lines):
        at = [place for place, glyph in enumerate(line.source) if glyph >= 0 and kinds[glyph]]
        if at:
            parts[number] = at[0], at[-1]
    return parts


def hidden_marks(printed: Sequence[Printed], pages: Mapping[int, Page]) -> Iterator[Mark]:
    """Where the hidden text stands that was kept: one mark a line that holds some."""
    for start, _, page, place in printed:
        part = pages[page].hidden.get(place)
        if part is not None:
            first, last = part
            yield Mark(start + first, "hidden", str(last + 1 - first))


def hidden_kinds(
    pdfium: Any, page: Any, glyphs: Glyphs, turn: int
) -> tuple[NDArray[np.int8], float]:
    """Say of each character whether it can be seen; the lock must be held.

    ``turn`` are the quarter turns of the page as a viewer shows it.

    Returns:
        ``(n,)`` codes of ``KINDS``, 0 for spaces; and the share of the page that pictures cover.
    """
    import numpy as np

    kinds = np.zeros(len(glyphs.code), np.int8)
    left, top, right, bottom = glyphs.cell.T
    kinds[(glyphs.size < 1) & (bottom - top < 1.5)] = _TINY
    outside = (right <= 0) | (left >= glyphs.width) | (bottom <= 0) | (top >= glyphs.height)
    kinds[outside] = _OFF
    printed = ~glyphs.generated & (glyphs.code > 32)
    objects = _objects(pdfium, page)
    share = min(1.0, objects.pictures / max(glyphs.width * glyphs.height, 1.0))
    if objects.invisible or objects.pale:
        owner = glyphs.owner
        clear = np.isin(owner, list(objects.invisible))
        layer = (clear & printed).sum() >= _LAYER * printed.sum()
        if not (layer and share >= MOSTLY):
            kinds[clear] = _INVISIBLE
        pale = np.flatnonzero(np.isin(owner, list(objects.pale)) & printed & (kinds == 0))
        if len(pale):
            kinds[pale[on_white(pdfium, page, glyphs, turn, pale)]] = _WHITE
        doubtful = (kinds == _WHITE) | ((kinds == _INVISIBLE) & ~np.isin(owner, objects.unpainted))
        chosen = np.flatnonzero(doubtful & printed)
        if len(chosen):
            # Letters filled with a pattern or a gradient have a colour that says nothing.
            items = np.unique(owner[chosen]).tolist()
            kinds[chosen[seen(pdfium, page, glyphs, turn, chosen, items)]] = 0
    kinds[~printed] = 0
    return kinds, share


def _objects(pdfium: Any, page: Any) -> _Objects:
    """Look at all objects of a page; kept plain, for some pages have ten thousand."""
    found = _Objects()
    colour = (ctypes.c_uint * 4)()
    places = [ctypes.addressof(colour) + 4 * number for number in range(4)]
    mode_of = plain(pdfium.FPDFTextObj_GetTextRenderMode, INT, HANDLE)
    kind_of = plain(pdfium.FPDFPageObj_GetType, INT, HANDLE)
    fill_of, stroke_of = (
        plain(function, INT, HANDLE, *[HANDLE] * 4)
        for function in (pdfium.FPDFPageObj_GetFillColor, pdfium.FPDFPageObj_GetStrokeColor)
    )
    of_page, of_form = (
        (plain(count, INT, HANDLE), plain(get, HANDLE, HANDLE, INT))
        for count, get in (
            (pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject),
            (pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject),
        )
    )

    def look(holder: int, depth: int) -> bool:
        """Look at the objects of a page or a form; returns whether one is a picture."""
        pictures = False
        count, get = of_form if depth else of_page
        for number in range(count(holder)):
            item = get(holder, number)
            mode = mode_of(item)
            if mode == 3:
                found.invisible.add(item)
                found.unpainted.append(item)
            elif 0 <= mode < 7:  # 7 draws nothing: its letters are cut out of a picture
                # An outline (1, 2, 5, 6) may be seen whatever is inside.
                if (fill_of if mode in (0, 4) else stroke_of)(item, *places):
                    if colour[3] <= _CLEAR:
                        found.invisible.add(item)
                    elif min(colour[:3]) >= PALE:
                        found.pale.add(item)
            elif mode < 0:
                kind = kind_of(item)
                form = kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH
                if kind == pdfium.FPDF_PAGEOBJ_IMAGE or (form and look(item, depth + 1)):
                    pictures = True
                    found.pictures += 0.0 if depth else _area(pdfium, item)
        return pictures

    look(address(page), 0)
    return found


def _area(pdfium: Any, item: int) -> float:
    sides = (ctypes.c_float * 4)()
    places = [ctypes.addressof(sides) + 4 * number for number in range(4)]
    if not plain(pdfium.FPDFPageObj_GetBounds, INT, HANDLE, *[HANDLE] * 4)(item, *places):
        return 0.0
    left, bottom, right, top = sides
    return float(max(0.0, right - left) * max(0.0, top - bottom))
