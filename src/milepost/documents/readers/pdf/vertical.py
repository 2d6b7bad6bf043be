"""Find Chinese and Japanese characters that are set below each other, and turn their columns.

Columns run from top to bottom and follow each other from right to left. Turned by a quarter they
are lines from left to right, each below the last. That is the frame of writing that lies on its
side, such as the Latin words in these columns. So only the direction of the characters changes,
and their baseline, which is then left of them.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pypdfium2.raw as pdfium

from milepost.documents.readers.pdf.native import references
from milepost.documents.readers.pdf.picture import bounds
from milepost.documents.readers.pdf.writing import changes, within

if TYPE_CHECKING:
    from milepost.documents.readers.pdf.glyphs import Glyphs
    from milepost.documents.readers.pdf.records import Integers

_BASE = 0.38  # of the font size: from the middle of a column to its baseline
_STRAIGHT = 0.35  # of the font size: how far the middles of a column may be apart
_NEAR, _FAR = 0.4, 1.45  # of the font size: from one character of a column to the next
_ABREAST = 1.3  # of the font size: width of characters in the place of one, as in a date
_LEAST = 0.01  # points: the width from which pdfium reads an object
_LONG = 4  # characters of a column on a page that is not set in columns
_WIDE = (
    (0x2E80, 0xA4CF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE10, 0xFE4F), (0xFF01, 0xFFEF),
    (0x20000, 0x3FFFF),
)  # fmt: skip
"""Code points of Chinese, Japanese and Korean, and their punctuation, first and last."""


def with_columns(glyphs: Glyphs) -> Glyphs:
    """Return the characters of a page, with those of columns turned by a quarter."""
    at = np.flatnonzero(~glyphs.generated & (glyphs.code > 32) & (glyphs.angle == 0))
    wide = within(glyphs.code[at], _WIDE)
    if np.count_nonzero(wide) < _LONG:
        return glyphs
    size = np.maximum(glyphs.size[at], 0.01)
    left, top, right, bottom = glyphs.cell[at].T
    x, y = (left + right) / 2, (top + bottom) / 2

    # Characters beside each other share a place; if they are wider than one, they are a row. The
    # next column is on the other side.
    larger = np.maximum(size[1:], size[:-1])
    beside = (np.abs(np.diff(y)) < _NEAR * larger) & (np.diff(x) < 2 * _FAR * larger)
    beside &= np.diff(x) > 0
    place = np.cumsum(np.append(False, ~beside))
    first = changes(place)
    count = np.diff(first, append=len(at))
    half = np.minimum(right - left, size) / 2  # the boxes of some fonts are twice as wide
    low, high = np.minimum.reduceat(x - half, first), np.maximum.reduceat(x + half, first)
    middle, large = (low + high) / 2, np.maximum.reduceat(size, first)
    is_row = high - low > _ABREAST * large

    larger = np.maximum(large[1:], large[:-1])
    step = np.diff(y[first]) / larger
    follows = (step > _NEAR) & (step < _FAR) & (np.abs(np.diff(middle)) < _STRAIGHT * larger)
    follows &= ~is_row[1:] & ~is_row[:-1]
    run = np.cumsum(np.append(False, ~follows))
    letters = np.bincount(run, (count == 1) & wide[first])
    pure = 2 * letters > np.bincount(run)
    columns = pure & (letters >= _LONG)
    if 2 * letters[columns].sum() > np.count_nonzero(wide):
        columns = pure  # the short ones too, at the end of a paragraph
        # pdfium sorts the end of a column and the start of the next, if they are in one row. The
        # character after them is below the one that was put first.
        at_first, beside_it, after = (slice(k, len(at) - 2 + k) for k in range(3))
        unit = size[at_first]
        swapped = (np.abs(y[beside_it] - y[at_first]) < _NEAR * unit) & wide[at_first]
        swapped &= x[beside_it] - x[at_first] > _ABREAST * unit
        swapped &= np.abs(x[after] - x[at_first]) < _STRAIGHT * unit
        swapped &= np.abs(y[after] - y[at_first] - unit) < (_FAR - 1) * unit
        if swapped.any():
            one = np.flatnonzero(swapped)
            order = np.arange(len(glyphs.code))
            order[at[one]], order[at[one + 1]] = at[one + 1], at[one]
            return with_columns(glyphs.in_order(order))
    chosen = np.flatnonzero(columns[run][place])
    if not len(chosen):
        return glyphs

    at, place, size = at[chosen], place[chosen], size[chosen]
    height = size / count[place]
    y = y[chosen] + height * (chosen - first[place]) + (height - size) / 2
    angle, cell, base = glyphs.angle.copy(), glyphs.cell.copy(), glyphs.base.copy()
    angle[at] = 90
    cell[at, 1], cell[at, 3] = y - height / 2, y + height / 2
    base[at] = np.stack([middle[place] - _BASE * size, y], axis=1)
    return replace(glyphs, angle=angle, cell=cell, base=base)


def widen_columns(items: Integers, kinds: Integers) -> bool:
    """Give columns a width that have none, as pdfium leaves them out; the lock must be held.

    They are written in fonts that are neither in the file nor on this machine. If there are any,
    the text of the page must be loaded again.
    """
    items = items[kinds == pdfium.FPDF_PAGEOBJ_TEXT]
    left, bottom, right, top = bounds(references(items)).T
    narrow = np.flatnonzero((right - left < _LEAST) & (top - bottom > 1)).tolist()
    for at in narrow:
        slant = 2 * _LEAST / float(top[at] - bottom[at])
        item = ctypes.cast(int(items[at]), pdfium.FPDF_PAGEOBJECT)
        pdfium.FPDFPageObj_Transform(item, 1, 0, slant, 1, -slant * float(bottom[at]), 0)
    return bool(narrow)
