"""Find text that a reader of the page cannot see: it may be there to mislead a program.

Six kinds: in invisible ink (render mode 3, or fully transparent), white on white, off the page,
smaller than a point, in a layer that the file switches off, under something else. The words that
text recognition writes in invisible ink over the picture of a page do not count.

The objects that draw the letters are looked at first; the characters only if an object is suspect,
and the picture of the page only if one is white, in a layer or below a box.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from milepost.documents.readers.pdf.native import HANDLE, INT, asked, plain, references, results
from milepost.documents.readers.pdf.picture import (
    MAX_DEPTH,
    MOSTLY,
    PALE,
    covered,
    drawn,
    objects,
    on_white,
    seen,
)
from milepost.documents.readers.pdf.records import NONE, Flags, Floats, Integers, are_blank
from milepost.documents.readers.pdf.writing import changes
from milepost.types import Mark
from milepost.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from milepost.documents.readers.pdf.glyphs import Display, Glyphs
    from milepost.documents.readers.pdf.join import Printed
    from milepost.documents.readers.pdf.page import Page
    from milepost.documents.readers.pdf.records import Line

KINDS = (
    "", "invisible", "white on white", "off the page", "smaller than a point",
    "in a layer that is off", "under something else",
)  # fmt: skip
"""Names of the codes: 0 is text that can be seen."""

_INVISIBLE, _WHITE, _OFF, _TINY, _SWITCHED_OFF, _COVERED = range(1, 7)

_CLEAR = 12  # of 255: less ink is none
_FULL = 250  # of 255: ink that nothing shines through
_SIDE = 3.0  # points: a thinner box hides no letter
_CORNERS = 6  # parts of a path, at most, that is a box
_PICTURES = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING)
_LAYER = 0.8  # of the characters of a page in invisible ink: text recognition has written them


def hidden_note(counts: Counter[int], *, kept: bool) -> str:
    """Say how much hidden text there is, by the number of characters of each kind."""
    kinds = ", ".join(KINDS[kind] for kind in sorted(counts))
    fate = "kept" if kept else "left out; --hidden keep reads it"
    return f"{counted(counts.total(), 'character')} of hidden text ({kinds}), {fate}"


def hidden_parts(lines: Sequence[Line], kinds: NDArray[np.int8]) -> dict[int, tuple[int, int]]:
    """Index of each line with hidden text, and the places of its first and last hidden character.

    ``kinds`` is ``(glyphs,)``, a code of ``KINDS`` for each.
    """
    parts = {}
    for number, line in enumerate(lines):
        at = np.flatnonzero((line.source >= 0) & (kinds[line.source] > 0)).tolist()
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


def hidden_kinds(display: Display, glyphs: Glyphs, *, layers: bool | None) -> NDArray[np.int8]:
    """Say of each character whether it can be seen; the lock must be held.

    For ``layers`` see ``OpenPdf.layers``.

    Returns:
        ``(n,)`` codes of ``KINDS``, 0 for spaces.
    """
    kinds = np.zeros(len(glyphs.code), np.int8)
    left, top, right, bottom = glyphs.cell.T
    kinds[(glyphs.size < 1) & (bottom - top < 1.5)] = _TINY
    outside = (right <= 0) | (left >= glyphs.width) | (bottom <= 0) | (top >= glyphs.height)
    kinds[outside] = _OFF
    printed = ~glyphs.generated & (glyphs.code > 32) & ~are_blank(glyphs.code)
    owner = glyphs.owner
    owners = np.sort(owner[changes(owner)])
    owners = owners[changes(owners)]
    display.texts = owners = owners[owners > 0]
    items = references(owners)
    invisible, unpainted, white, cut_out = _inks(owners, items)
    invisible = invisible[~np.isin(invisible, [*_outlined(display, invisible)])]
    if len(invisible) or len(white):
        clear = np.isin(owner, invisible)
        layer = (clear & printed).sum() >= _LAYER * printed.sum() and (
            covered(display) >= MOSTLY
            or _on_pictures(display, glyphs.cell[clear & printed]) >= _LAYER
        )
        if not layer:
            kinds[clear] = _INVISIBLE
        pale = np.flatnonzero(np.isin(owner, white) & printed & (kinds == 0))
        if len(pale):
            kinds[pale[on_white(display, glyphs, pale)]] = _WHITE
        doubtful = (kinds == _WHITE) | ((kinds == _INVISIBLE) & ~np.isin(owner, unpainted))
        chosen = np.flatnonzero(doubtful & printed)
        if len(chosen):
            # Letters filled with a pattern or a gradient have a colour that says nothing.
            kinds[chosen[seen(display, glyphs, chosen)]] = 0
    kinds[~printed] = 0
    whole = printed & (kinds == 0) & ~np.isin(owner, cut_out)
    below = _below_others(display, glyphs, np.flatnonzero(whole))
    if len(below):
        kinds[below[~seen(display, glyphs, below)]] = _COVERED
    if layers is None:
        return kinds
    inside = [*_in_layers(display.objects, 0, known=layers)]
    in_layers = np.isin(owner, [*owners[_are_marked(items)].tolist(), *inside])
    chosen = np.flatnonzero(in_layers & printed & (kinds == 0))
    for shows in (seen, drawn):  # not covered by others, and not white on them
        if len(chosen):
            chosen = chosen[~shows(display, glyphs, chosen)]
    kinds[chosen] = _SWITCHED_OFF
    return kinds


def _on_pictures(display: Display, cells: Floats) -> float:
    """Share of some characters whose middles are on pictures: a receipt is a part of its page."""
    boxes = display.boxes_of(np.flatnonzero(np.isin(display.objects[1], _PICTURES)))
    middle = (cells[:, None, :2] + cells[:, None, 2:]) / 2
    inside = ((middle > boxes[:, :2]) & (middle < boxes[:, 2:])).all(axis=2)
    return float(np.mean(inside.sum(axis=1) > 0))


def _below_others(display: Display, glyphs: Glyphs, chosen: Integers) -> Integers:
    """Those of the chosen characters over whose middle something that may hide it is drawn later.

    Text recognition may write the words of a page under its picture.
    """
    items, kinds = display.objects
    places, boxes = display.paths
    others = np.flatnonzero(np.isin(kinds, _PICTURES))
    if glyphs.typed is not None:  # the last object holds what is typed and drawn on the page
        others = np.append(others, len(items) - 1)
    if len(others):
        boxes = np.vstack([boxes, display.boxes_of(others)])
        places = np.concatenate([places, others])
    large = (boxes[:, 2:] - boxes[:, :2] >= _SIDE).all(axis=1)
    if len(items):  # what is drawn before the first letter hides none
        large &= places > (kinds == pdfium.FPDF_PAGEOBJ_TEXT).argmax()
    places, boxes = places[large], boxes[large]
    if not len(places) or not len(chosen):
        return NONE
    owner = glyphs.owner[chosen]
    starts = changes(owner)
    known = np.argsort(items)
    drawn = known[np.searchsorted(items, owner[starts], sorter=known).clip(max=len(items) - 1)]
    drawn[items[drawn] != owner[starts]] = len(items)  # in a form
    middle = (glyphs.cell[chosen, :2] + glyphs.cell[chosen, 2:]) / 2
    low, high = np.minimum.reduceat(middle, starts), np.maximum.reduceat(middle, starts)
    met = drawn < places[:, None]
    for axis in (0, 1):
        met &= low[:, axis] < boxes[:, axis + 2, None]
        met &= high[:, axis] > boxes[:, axis, None]
    below = np.zeros(len(chosen), np.bool_)
    run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(chosen)))
    for number in np.flatnonzero(met.any(axis=1)).tolist():
        item = items[places[number]]
        if _hides(item, kinds[places[number]]):
            box = boxes[number]
            inside = (middle > box[:2]) & (middle < box[2:])
            below |= met[number, run] & inside.all(axis=1)
    if not below.any():
        return NONE
    scanned = below.sum() >= _LAYER * len(chosen)
    if scanned and covered(display) >= MOSTLY:
        return NONE
    # Dots and lines that show where to write are under what is written.
    words = [chr(code).isalnum() for code in glyphs.code[chosen].tolist()]
    below &= np.logical_or.reduceat(words, starts)[run]
    return chosen[below]


def _hides(item: int, kind: int, depth: int = 1) -> bool:
    """Whether an object may hide what is below: a picture, or a filled box, alone or in a form."""
    if kind == pdfium.FPDF_PAGEOBJ_PATH:
        return _fill(item)[1] >= _FULL and not _is_shape(item)
    if kind != pdfium.FPDF_PAGEOBJ_FORM:
        return kind in _PICTURES
    inside, kinds = objects(references(np.array([item]))[0], depth)
    each = zip(inside.tolist(), kinds.tolist(), strict=True)
    return depth < MAX_DEPTH and any(_hides(*one, depth + 1) for one in each)


def _is_shape(item: int) -> bool:
    path = ctypes.cast(int(item), pdfium.FPDF_PAGEOBJECT)
    return bool(pdfium.FPDFPath_CountSegments(path) > _CORNERS)


def _fill(item: int) -> tuple[int, int]:
    """How dark a path is filled, 0 black to 255 white, and how much shines through, 0 all."""
    path = ctypes.cast(int(item), pdfium.FPDF_PAGEOBJECT)
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    ink = [ctypes.c_uint() for _ in range(4)]
    if not fill.value or not pdfium.FPDFPageObj_GetFillColor(path, *ink):
        return 255, 0
    return min(each.value for each in ink[:3]), ink[3].value


def _outlined(display: Display, texts: Integers) -> Iterator[int]:
    """Yield those of some objects of text whose letters a path draws: browsers do for shadows."""
    if not len(texts):
        return
    (items, _), (places, boxes) = display.objects, display.paths
    own = np.flatnonzero(np.isin(items, texts))
    if not len(own) or not len(places):
        return
    same = (np.abs(display.boxes_of(own)[:, None] - boxes) < _SIDE / 2).all(axis=2)
    for text, path in np.argwhere(same).tolist():
        least, ink = _fill(items[places[path]])
        if least < PALE and ink >= _FULL and _is_shape(items[places[path]]):
            yield items[own[text]]


def _in_layers(found: tuple[Integers, Integers], depth: int, *, known: bool) -> Iterator[int]:
    """Yield the addresses of the objects in forms that are in a layer; ``known`` says all are."""
    items, kinds = found
    if known and depth:
        yield from items.tolist()
    forms = references(items[kinds == pdfium.FPDF_PAGEOBJ_FORM])
    if depth < MAX_DEPTH:
        for form, marked in zip(forms, _are_marked(forms), strict=True):
            inside = objects(form, depth + 1)
            yield from _in_layers(inside, depth + 1, known=known or bool(marked))


def _are_marked(items: Sequence[Any]) -> Flags:
    """Say of each object whether a mark of the page's contents puts it in a layer."""
    counts = asked(pdfium.FPDFPageObj_CountMarks, INT, items)
    mark_of = plain(pdfium.FPDFPageObj_GetMark, HANDLE)
    in_layer: Flags = np.zeros(len(items), np.bool_)
    for place in range(counts.max(initial=0)):
        numbers = np.flatnonzero(counts > place).tolist()
        marks = [*map(mark_of, map(items.__getitem__, numbers), repeat(place))]
        layers = {mark for mark in {*marks} if _is_layer(mark)}
        if layers:
            in_layer[numbers] |= [mark in layers for mark in marks]
    return in_layer


def _is_layer(mark: int) -> bool:
    units, length = (ctypes.c_ushort * 3)(), ctypes.c_ulong()
    size, name_of = ctypes.c_ulong(ctypes.sizeof(units)), plain(pdfium.FPDFPageObjMark_GetName, INT)
    known = name_of(ctypes.c_void_p(mark), units, size, ctypes.byref(length))
    return bool(known) and bytes(units) == "OC\0".encode("utf-16-le")


def _inks(owner: Integers, items: Sequence[Any]) -> tuple[Integers, ...]:
    """Look at the objects of these addresses, which are ``items``: some pages have thousands.

    Returns:
        Those in invisible ink; those of them whose mode is to draw nothing; those in white or
        nearly so; those that cut out what is drawn later.
    """
    modes = asked(pdfium.FPDFTextObj_GetTextRenderMode, INT, items)
    colour = np.zeros((len(items), 4), np.uint32)
    known = np.zeros(len(items), np.bool_)
    # An outline (1, 2, 5, 6) may be seen whatever is inside. 3 draws nothing, and neither does 7,
    # whose letters are cut out of a picture.
    kinds = modes % 4  # 4 to 7 are 0 to 3, and also cut out
    for function, chosen in (
        (pdfium.FPDFPageObj_GetFillColor, kinds == 0),
        (pdfium.FPDFPageObj_GetStrokeColor, (kinds == 1) | (kinds == 2)),
    ):
        numbers = np.flatnonzero(chosen).tolist()
        colour[numbers], known[numbers] = results(
            function, np.uint32, 4, [items[k] for k in numbers], apart=True
        )
    clear = known & (colour[:, 3] <= _CLEAR)
    pale = known & ~clear & (colour[:, :3].min(axis=1) >= PALE)
    return owner[clear | (modes == 3)], owner[modes == 3], owner[pale], owner[modes > 3]
