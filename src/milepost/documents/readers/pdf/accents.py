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
    (left, _, right, _), (lefts, _, rights, _) = glyphs.cell[accent], glyphs.cell.T
    shared = np.minimum(right, rights) - np.maximum(left, lefts)
    near = shared > _OVER * np.minimum(right - left, rights - lefts)
    near &= np.abs(glyphs.base[:, 1] - glyphs.base[accent, 1]) <= _LEVEL * glyphs.size[accent]
    near &= (glyphs.hidden == glyphs.hidden[accent]) & ~glyphs.generated & (glyphs.angle == 0)
    near[accent] = False
    letters = (k for k in np.flatnonzero(near).tolist() if chr(int(glyphs.code[k])).isalpha())
    return max(letters, key=lambda k: float(shared[k]), default=None)
