"""Lines that are set wide, with a space after each letter: their words are found and closed up."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
from numpy.typing import NDArray

from milepost.documents.readers.pdf.repair import WORD_GAP

_LEAST = 5  # letters of a line that is set wide
_MOST = 0.7  # of the font size: letters further apart are cells
_EVEN = 0.12  # of the font size: how much the gaps between the letters of a word differ
_WORD = 1.6  # times the gap between letters: the gap between words


def set_wide(
    spaced: NDArray[np.bool_], firsts: NDArray[np.int64], lasts: NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """Find the lines with a space after nearly every glyph: the first and the last glyph of each.

    Args:
        spaced: ``(glyphs,)`` whether there is a space after each glyph.
        firsts: ``(lines,)`` the first glyph of each line.
        lasts: ``(lines,)`` the last.
    """
    gaps = lasts - firsts
    blanks = np.add.reduceat(spaced, firsts, dtype=np.int64) - spaced[lasts]
    many = (gaps + 1 >= _LEAST) & (5 * blanks >= 4 * gaps)
    for first, last in zip(firsts[many].tolist(), lasts[many].tolist(), strict=True):
        if spaced[first] or spaced[first + 1]:
            yield first, last


def unspaced(
    letters: list[str], gaps: list[float], between: list[bool], size: float
) -> list[bool] | None:
    """Say where the words of a line that is set wide end.

    Args:
        letters: text of each glyph of the line.
        gaps: the room after each of them but the last.
        between: whether the file has a space there.
        size: font size of the line.

    Returns:
        Whether there is a space after each glyph but the last; None if the line is not set wide.
    """
    if sum(map(str.isalpha, letters)) < 0.8 * len(letters):
        return None
    inside = [gap for gap, real in zip(gaps, between, strict=True) if not real]
    typed = len(inside) < len(gaps) // 2  # somebody has typed a space after each letter
    usual = median(sorted(gaps)[: max(1, 2 * len(gaps) // 3)] if typed else inside)
    alike = gaps if typed else inside
    near = sum(abs(gap - usual) <= _EVEN * size for gap in alike)
    capitals = all(each.isupper() for each in letters if each.isalpha())
    if not WORD_GAP * size < usual <= _MOST * size or (typed and not capitals):
        return None
    if near < 0.6 * len(alike):
        return None
    return [
        gap > _WORD * usual or (real and not typed) for gap, real in zip(gaps, between, strict=True)
    ]
