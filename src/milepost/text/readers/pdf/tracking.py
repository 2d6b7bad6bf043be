"""Remove the spaces between the letters of words that are set wide: N O T I C E."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from milepost.text.readers.pdf.repair import WORD_GAP

_LEAST = 5  # letters of a line that is set wide
_MOST = 0.7  # of the font size: letters further apart are cells
_EVEN = 0.12  # of the font size: how much the gaps between the letters of a word differ
_WORD = 1.6  # times the gap between letters: the gap between words


def unspaced(
    letters: list[str],
    numbers: list[int],
    lefts: list[float],
    rights: list[float],
    sizes: list[float],
    spaced: list[bool],
    between: list[bool],
    starts: list[int],
) -> None:
    """Leave out the spaces inside the words of lines that are set wide; changes ``spaced``.

    Args:
        letters: text of each glyph of the page.
        numbers: the glyphs of the lines, in order.
        lefts: left edge of each of them.
        rights: right edges.
        sizes: font sizes.
        spaced: whether there is a space after each of them but the last.
        between: whether the file has a space there.
        starts: where each line begins in these lists, and the end.
    """
    for first, last in pairwise(starts):
        if last - first < _LEAST or not (spaced[first] or spaced[first + 1]):
            continue  # most lines begin with a word
        gaps = spaced[first : last - 1]
        if 5 * sum(gaps) < 4 * len(gaps):
            continue
        text = [letters[numbers[k]] for k in range(first, last)]
        if sum(map(str.isalpha, text)) < 0.8 * len(text):
            continue
        size = median(sizes[first:last])
        wide = [lefts[k + 1] - rights[k] for k in range(first, last - 1)]
        inside = [
            gap for gap, real in zip(wide, between[first : last - 1], strict=True) if not real
        ]
        typed = len(inside) < len(wide) // 2  # somebody has typed a space after each letter
        usual = median(sorted(wide)[: max(1, 2 * len(wide) // 3)] if typed else inside)
        near = sum(abs(gap - usual) <= _EVEN * size for gap in (wide if typed else inside))
        capitals = all(each.isupper() for each in text if each.isalpha())
        if not WORD_GAP * size < usual <= _MOST * size or (typed and not capitals):
            continue
        if near < 0.6 * len(wide if typed else inside):
            continue
        for k in range(first, last - 1):
            gap = wide[k - first]
            spaced[k] = gap > _WORD * usual or (between[k] and not typed)
