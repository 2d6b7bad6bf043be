"""The text of one page of a PDF → its characters, and the objects of the file that draw them.

Programs write in objects of a few letters to a whole line. Letters of one object follow each other
and have one size and one font, so that pdfium need not be asked for each of them.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from milepost.documents.readers.pdf.native import HANDLE, asked, reference, references, results
from milepost.documents.readers.pdf.records import Flags, Floats, Integers

HYPHEN = 2
"""What pdfium has for a hyphen at the end of a line."""
_SURE = 0x8000  # code points from here on may be cut, or stand for others, in the text of a page
_STRIDE = 16


@dataclass(frozen=True, slots=True)
class Writing:
    """The characters of a page, and the objects that draw them."""

    code: Integers  # ``(n,)`` code points, as pdfium maps them
    # ``(n,)`` address of the object that draws each letter while the page is open; 0 for blanks,
    # negative for letters that belong to no object, as far as pdfium knows
    owner: Integers
    word: Integers  # ``(n,)`` where the word of each character begins
    letters: Integers  # ``(m,)`` numbers of the characters that are printed
    lengths: Integers  # ``(r,)`` how many letters follow each other until the object changes
    size: Floats  # ``(r,)`` font size, which may be negative
    matrix: Floats  # ``(r, 6)`` from the text to the page

    def direction(self) -> tuple[Floats, Floats]:
        """Return y and x of the direction in which each object writes.

        Some programs write with a negative size, a negative scale and a mirrored page, which
        together are upright letters. There, the direction is known from the upper side of letters.
        """
        x, y, up_x, up_y = self.matrix.T[:4]
        mirrored = (self.size < 0) | (x * up_y < y * up_x)
        sign = np.where(self.size < 0, -1.0, 1.0)
        return np.where(mirrored, -sign * up_x, y), np.where(mirrored, sign * up_y, x)

    def quarter_turns(self) -> int:
        """Quarter turns clockwise that make most of the page's writing upright."""
        quarters = np.rint(np.arctan2(*self.direction()) / (math.pi / 2)).astype(np.int64) % 4
        return int(np.bincount(quarters, self.lengths, minlength=4).argmax())

    def bold(self, text: Any) -> Flags:
        """Say of each character whether its word is bold, as its first letter is."""
        code, letters = self.code, self.letters
        begins = letters[(self.word[letters] == letters) & (code[letters] > 32)]
        bold = np.zeros(len(code), np.bool_)
        items, examples, places = np.unique(
            self.owner[begins], return_index=True, return_inverse=True
        )
        bold[begins] = _are_bold(text, items, begins[examples])[places]
        return bold[self.word] if len(code) else bold


def read_writing(text: Any) -> Writing:
    """Read the text of a page; the lock must be held."""
    handle, code = reference(text), _codes(text)
    # Blanks are not printed: their places say nothing.
    letters = np.flatnonzero((code > 32) | (code == HYPHEN))
    found = _objects(handle, letters, 1 if right_to_left(code).any() else _STRIDE)
    owner = np.zeros(len(code), np.int64)
    owner[letters] = np.where(found, found, -1 - letters)
    first = changes(owner[letters])
    numbers = letters[first].tolist()
    matrix, _ = results(pdfium.FPDFText_GetMatrix, np.float32, 6, numbers, handle)
    sizes = asked(pdfium.FPDFText_GetFontSize, ctypes.c_double, numbers, handle)
    return Writing(
        code=code,
        owner=owner,
        word=_words(code),
        letters=letters,
        lengths=np.diff(first, append=len(letters)),
        size=finite(sizes),
        matrix=finite(matrix),
    )


def _codes(text: Any) -> Integers:
    """Return the code points of a page.

    Its text has units of 16 bits, and others for hyphens and what is no letter: these are asked.
    pdfium has a letter beyond the first 65,536 as two. The second half is no letter.
    """
    count = max(pdfium.FPDFText_CountChars(text), 0)
    units = (ctypes.c_ushort * (count + 1))()
    whole = pdfium.FPDFText_GetText(text, 0, count, units) == len(units)
    code = np.frombuffer(units, np.uint16)[:count].astype(np.int64)
    unsure = np.flatnonzero((code >= _SURE) | (not whole))
    unit_of, handle = pdfium.FPDFText_GetUnicode, reference(text)
    code[unsure] = asked(unit_of, ctypes.c_uint, unsure.tolist(), handle)
    first = np.flatnonzero((code[:-1] >> 10 == 0xD800 >> 10) & (code[1:] >> 10 == 0xDC00 >> 10))
    code[first] = 0x10000 + ((code[first] & 0x3FF) << 10) + (code[first + 1] & 0x3FF)
    return code


def _objects(handle: Any, letters: Integers, stride: int) -> Integers:
    """Return the address of the object of each letter, 0 if there is none.

    Letters of one object follow each other unless they are written from right to left. So every
    ``stride``-th letter is asked, and those between two of different objects by halves.
    """
    count = len(letters)
    found = np.full(count, -1, np.int64)
    at = np.minimum(np.arange(0, count + stride - 1, stride), count - 1)[:count]
    low, high = at[:-1], at[1:]
    while len(at):
        found[at] = asked(pdfium.FPDFText_GetTextObject, HANDLE, letters[at].tolist(), handle)
        between = (found[low] != found[high]) & (high - low > 1)
        low, high = low[between], high[between]
        at = (low + high) // 2
        low, high = np.append(low, at), np.append(at, high)
    known = np.where(found < 0, 0, np.arange(count))
    return found[np.maximum.accumulate(known)]


def finite(numbers: NDArray[Any]) -> Floats:
    """Put 0 in place of NaN and infinity, which broken fonts return."""
    wide: Floats = numbers.astype(np.float64)
    return wide if np.isfinite(wide).all() else np.nan_to_num(wide, posinf=0.0, neginf=0.0)


def changes(values: Integers) -> Integers:
    """Places at which values differ from those before them; the first is one."""
    differs = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return np.flatnonzero(differs)


def _words(code: Integers) -> Integers:
    """Where the word of each character begins."""
    begins = np.flatnonzero((code[1:] > 32) & (code[:-1] <= 32)) + 1
    word = np.zeros(len(code), np.int64)
    word[begins] = begins
    return np.maximum.accumulate(word)


_LEFTWARDS = ((0x590, 0x8FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFF), (0x10800, 0x10FFF))
"""Code points of Hebrew, Arabic and other scripts from right to left, first and last."""
_LEFTWARD = re.compile("[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in _LEFTWARDS) + "]")


def right_to_left(code: Integers) -> Flags:
    """Say which code points are of scripts that are written from right to left."""
    return within(code, _LEFTWARDS)


def within(code: Integers, ranges: Iterable[tuple[int, int]]) -> Flags:
    """Say which code points are in one of some ranges, each its first and last."""
    found: Flags = np.zeros(len(code), np.bool_)
    for first, last in ranges:
        found |= (code >= first) & (code <= last)
    return found


def runs_left(text: str) -> bool:
    """Whether most letters of a text are written from right to left."""
    found = len(_LEFTWARD.findall(text))
    return found > 0 and 2 * found > sum(map(str.isalpha, text))


def _are_bold(text: Any, items: Integers, numbers: Integers) -> Flags:
    """Whether the fonts of objects are bold, given a letter of each; each font is asked once."""
    fonts, owned = items.copy(), items > 0
    fonts[owned] = asked(pdfium.FPDFTextObj_GetFont, HANDLE, references(items[owned]))
    _, examples, places = np.unique(fonts, return_index=True, return_inverse=True)
    name = ctypes.create_string_buffer(128)
    bold = [_is_bold(text, number, name) for number in numbers[examples].tolist()]
    return np.array(bold, np.bool_)[places]


def _is_bold(text: Any, index: int, name: Any) -> bool:
    flags = ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(text, index, name, len(name), ctypes.byref(flags))
    font = name.value.decode("utf-8", "replace").lower() if 0 < length <= len(name) else ""
    return any(mark in font for mark in ("bold", "black", "heavy", "cmbx", "demi"))
