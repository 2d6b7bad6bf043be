"""Put the characters of lines with writing from right to left in the order in which they are read.

pdfium returns them as they are printed, as they are read, or as the file has them, each word in its
own way. Where they are printed is certain, so each line is sorted by place, and the order of
reading follows from the directions of its characters: the Unicode bidirectional algorithm (UAX #9)
backwards, without embeddings.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from milepost.documents.readers.pdf.repair import WIDE_GAP, WORD_GAP
from milepost.documents.readers.pdf.writing import right_to_left

if TYPE_CHECKING:
    from milepost.documents.readers.pdf.glyphs import Glyphs
    from milepost.documents.readers.pdf.records import Floats, Integers

_ADDED = 0.15  # of the font size: the narrowest gap where a blank of pdfium counts
_SAME_BASE = 0.5  # of the font size: vowel signs have baselines of their own
_MIRRORED = {"(": ")", "[": "]", "{": "}", "«": "»", "‹": "›"}
_MIRRORED |= {closes: opens for opens, closes in _MIRRORED.items()}
_LAM, _ALEFS = "ل", "آأإاٱ"
_KINDS = {
    "R": "R", "AL": "R", "L": "L", "EN": "N", "AN": "N", "ES": "P", "CS": "S", "ET": "E"
}  # fmt: skip
_RIGHTWARDS = "(?=[^RW]*L)[LN](?:[^RW]*[LN])?"
_MINUS = "(?:(?<![^BW])P)?"
_ARABIC = re.compile(_RIGHTWARDS + f"|{_MINUS}N(?:[SP]?N)*|.")
_HEBREW = re.compile(_RIGHTWARDS + f"|{_MINUS}E*N(?:[SP]?N)*E*|.")
"""Parts of a line that are read together: those from left to right, and single characters.

A sign such as % is part of a number, but not after Arabic letters. So is a minus on its left, where
the algorithm puts it only for writers who insist; one on its right may belong to a word.
"""


@dataclass(slots=True)
class _Item:
    """A letter with its vowel signs, the letters of a ligature, or a space, in one place."""

    numbers: list[int]  # of its glyphs, in the order of reading
    left: float
    right: float
    size: float
    # R, L or N(umber); E, P(lus, minus) and S where they may belong to a number; B(lank) or W(ide);
    # else O
    kind: str


def in_reading_order(glyphs: Glyphs, ink: Callable[[Sequence[int]], Floats]) -> Glyphs:
    """Return the characters of a page, those of lines from right to left in order.

    Args:
        glyphs: the characters of a page.
        ink: returns the printed shapes ``(n, 4)`` of some of them.
    """
    letters = right_to_left(glyphs.code)
    if not letters.any():
        return glyphs
    order, cell = np.arange(len(glyphs.code)), glyphs.cell.copy()
    code = np.minimum(glyphs.code, sys.maxunicode)
    chars = [*map(chr, code.tolist())]
    for line in _lines(glyphs):
        if not letters[line].any():
            continue
        items, lost = _items(glyphs, chars, line, ink)
        read = _read(_with_gaps(items), code)
        ends = [item.left for item in items[1:]] + [np.inf]
        for item, end in zip(items, ends, strict=True):
            # pdfium shares the width of a glyph out to its letters, and takes some as too wide.
            cell[item.numbers, 0] = min(item.left, glyphs.base[item.numbers[0], 0])
            right = cell[item.numbers, 2].max()
            cell[item.numbers, 2] = max(min(right, end), item.left)
        order[line] = [number for item in read for number in item.numbers] + lost
    return replace(glyphs, code=code, cell=cell).in_order(order)


def _lines(glyphs: Glyphs) -> list[Integers]:
    """Find the upright characters that follow each other on one baseline, with their blanks."""
    printed = np.flatnonzero((glyphs.size > 0) & (glyphs.angle == 0))
    if not len(printed):
        return []
    base, size = glyphs.base[printed, 1], glyphs.size[printed]
    cut = np.abs(np.diff(base)) > _SAME_BASE * np.maximum(size[1:], size[:-1])
    if glyphs.typed is not None:
        cut |= (printed[1:] >= glyphs.typed) & (printed[:-1] < glyphs.typed)
    turned = np.cumsum((glyphs.size > 0) & (glyphs.angle != 0))[printed]
    cut |= (np.diff(turned) > 0) | (np.diff(glyphs.hidden[printed]) != 0)
    starts = np.flatnonzero(np.append(True, cut))
    ends = np.append(starts[1:], len(printed)) - 1
    return [
        np.arange(printed[start], printed[end] + 1)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _items(
    glyphs: Glyphs, chars: Sequence[str], line: Integers, ink: Callable[[Sequence[int]], Floats]
) -> tuple[list[_Item], list[int]]:
    """Return the items of a line from left to right, and blanks that have no place in it.

    pdfium adds blanks, and takes the width from others, where the next character that it returns is
    not the next one of the line. If it is, the blank has the gap between the two.
    """
    blanks, size = line[glyphs.size[line] == 0].tolist(), glyphs.size[line].max()
    items, lost = list[_Item](), list[int]()
    for number, (left, _, right, _) in zip(blanks, ink(blanks).tolist(), strict=True):
        if left == right:
            sides = glyphs.cell[[number - 1, number + 1]]
            begin, end = sides[:, 2].min(), sides[:, 0].max()
            left, right = (begin, end) if _ADDED < (end - begin) / size < WORD_GAP else (0, 0)
        if left < right:
            items.append(_Item([number], left, right, 0, "B"))
        else:
            lost.append(number)
    letters, signs = list[_Item](), list[int]()
    for number in line[glyphs.size[line] > 0].tolist():
        if unicodedata.combining(chars[number]):
            signs.append(number)
        elif letters and (glyphs.base[letters[-1].numbers[-1]] == glyphs.base[number]).all():
            letters[-1].numbers.append(number)  # pdfium has a ligature as several letters
        else:
            left, _, right, _ = glyphs.cell[number].tolist()
            kind = _KINDS.get(unicodedata.bidirectional(chars[number]), "O")
            letters.append(_Item([number], left, right, float(glyphs.size[number]), kind))
    if not letters:
        return [], line.tolist()
    for number, (left, _, right, _) in zip(signs, ink(signs).tolist(), strict=True):
        origin, middle = glyphs.base[number].tolist(), (left + right) / 2
        nearest = min(
            letters,
            key=lambda item: (
                glyphs.base[item.numbers[0]].tolist() != origin,
                max(item.left - middle, middle - item.right),
            ),
        )
        nearest.numbers.append(number)
    for item in letters:
        one, *more = item.numbers
        if more and chars[one] in _ALEFS and chars[more[0]] == _LAM:
            # No letter is joined to an alef before it: pdfium reverses ligatures at times.
            one, more[0] = more[0], one
        more.sort(key=lambda number: unicodedata.combining(chars[number]))
        item.numbers = [one, *more]
    return sorted(items + letters, key=lambda item: item.left + item.right), lost


def _with_gaps(items: list[_Item]) -> list[_Item]:
    """Put items without glyphs where there is room: between words, or between cells."""
    parted = items[:1]
    for one, other in pairwise(items):
        gap, size = other.left - one.right, max(one.size, other.size)
        if gap > WORD_GAP * size > 0:
            kind = "W" if gap > WIDE_GAP * size else "B"
            parted.append(_Item([], one.right, other.left, 0, kind))
        parted.append(other)
    return parted


def _read(items: list[_Item], code: Integers) -> list[_Item]:
    """Return the items of a line in the order of reading; turns brackets in ``code``."""
    kinds = "".join(item.kind for item in items)
    if kinds.count("R") >= kinds.count("L"):
        return _read_leftwards(items, code)
    read: list[_Item] = []
    for part in re.finditer("R(?:[^LW]*R)?|[^R]", kinds):
        inside = items[part.start() : part.end()]
        read += _read_leftwards(inside, code) if part[0][0] == "R" else inside
    return read


def _read_leftwards(items: list[_Item], code: Integers) -> list[_Item]:
    first = [chr(code[item.numbers[0]]) if item.numbers else " " for item in items]
    arabic = any(unicodedata.bidirectional(char) == "AL" for char in first)
    kinds = "".join(item.kind for item in items)
    read: list[_Item] = []
    brackets: list[int] = []  # places of those that are mirrored here
    for part in reversed([*(_ARABIC if arabic else _HEBREW).finditer(kinds)]):
        if len(part[0]) == 1 and first[part.start()] in _MIRRORED:
            brackets.append(len(read))
        read += items[part.start() : part.end()]
    opened: set[str] = set()
    for at in brackets:
        number = read[at].numbers[0]
        sign = chr(code[number])
        pair = min(sign, _MIRRORED[sign])
        after_word = at > 0 and not _apart(read[at - 1], read[at])
        before_word = at + 1 < len(read) and not _apart(read[at], read[at + 1])
        opens = before_word if before_word != after_word else pair not in opened
        (opened.add if opens else opened.discard)(pair)
        if opens != (sign == pair):
            code[number] = ord(_MIRRORED[sign])
    return read


def _apart(one: _Item, other: _Item) -> bool:
    return not {"B", "W"}.isdisjoint(one.kind + other.kind)
