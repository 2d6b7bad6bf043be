"""Accents that a PDF prints as signs of their own, over or under a letter → accented letters.

TeX with its old fonts draws "é" as "e" and "´", often after the rest of the line, and pdfium then
breaks the line at the accent.
"""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from milepost.documents.readers.pdf.glyphs import Glyphs

_COMBINING = {sign: unicodedata.normalize("NFKD", sign)[-1] for sign in "´˜¯˘˙¨˚˝¸˛"}
_COMBINING |= {"`": "\u0300", "ˆ": "\u0302", "ˇ": "\u030c"}
_CODES = np.array([*map(ord, _COMBINING)])
_DOTTED = {"ı": "i", "ȷ": "j"}
_LEVEL = 0.4  # of the font size: accents of capitals are printed higher
_OVER = 0.7  # share of the narrower of the two that they have in common


def accented(glyphs: Glyphs, letters: NDArray[np.int32], known: int) -> None:
    """Put accents on the letters that they are printed over; changes ``letters``.

    Args:
        glyphs: the characters of a page.
        letters: code point and further bits of each, 0 for what is no letter.
        known: the bits of a single letter besides its code point.
    """
    accents = np.flatnonzero(np.isin(glyphs.code, _CODES) & ~glyphs.generated & (glyphs.angle == 0))
    for accent in accents.tolist():
        at = _under(glyphs, accent)
        if at is None:
            continue
        letter = chr(int(glyphs.code[at]))
        sign = _COMBINING[chr(int(glyphs.code[accent]))]
        whole = unicodedata.normalize("NFC", _DOTTED.get(letter, letter) + sign)
        if len(whole) == 1:  # else it is a sign of a formula
            letters[at], letters[accent] = known | ord(whole), known


def _under(glyphs: Glyphs, accent: int) -> int | None:
    """Find the letter in whose place an accent is printed."""
    cell, size = glyphs.cell, glyphs.size[accent]
    left, right = cell[accent, 0], cell[accent, 2]
    near = np.abs(glyphs.base[:, 1] - glyphs.base[accent, 1]) <= _LEVEL * size
    near &= (cell[:, 0] < right) & (cell[:, 2] > left) & (glyphs.angle == 0)
    near &= (glyphs.hidden == glyphs.hidden[accent]) & ~glyphs.generated
    best, most = None, 0.0
    for k in np.flatnonzero(near).tolist():
        width = min(right - left, cell[k, 2] - cell[k, 0])
        shared = min(right, cell[k, 2]) - max(left, cell[k, 0])
        if k != accent and chr(int(glyphs.code[k])).isalpha() and shared > max(_OVER * width, most):
            best, most = k, shared
    return best
