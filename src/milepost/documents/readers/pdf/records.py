"""Records that the steps of reading a PDF pass on: a printed line, and the lines of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
NONE: NDArray[Any] = np.zeros(0, np.int64)
T = TypeVar("T")


class Placed(Protocol):
    """What has a left and a right edge."""

    left: float
    right: float


_BLANKS: Flags = np.zeros(0x3002, np.bool_)
_BLANKS[[2, 3, 9, 10, 13, 32, 0x7F, 0xA0, 0xAD, 0x3000, *range(0x2000, 0x2010)]] = True


def are_blank(code: Integers) -> Flags:
    """Say which characters print nothing."""
    blank: Flags = _BLANKS[np.minimum(code, len(_BLANKS) - 1)]
    return blank


@dataclass(slots=True, eq=False)
class Line:
    """One printed line, or the part of it up to a wide gap.

    Coordinates are those of the *frame*: the page turned so that this writing is upright.
    """

    text: str  # its characters, with single spaces between words and none at the ends
    # for each character of ``text``, the glyph's number on the page, -1 for a space
    source: Integers
    left: float  # frame coordinate of the cell; so is ``right``
    right: float
    base: float  # the baseline, growing downwards
    size: float  # the font size of most characters
    largest: float  # the largest font size
    angle: int  # direction of the writing on the displayed page, whole degrees
    bold: bool  # True if the first, middle and last characters are bold
    order: int  # position in the order of the file
    starts: Floats  # for each character of ``text``, the left edge of its cell
    # True if it is in a form field or a note, which the file has after its text
    typed: bool = False
    dropped: bool = False  # True if it is furniture: a running head, the number of a page
    # True if it is a running head that is kept, although it stands between the paragraphs
    head: bool = False

    def insert(self, at: int, text: str, source: ArrayLike, starts: ArrayLike) -> None:
        """Insert characters with their glyphs and left edges."""
        self.text = self.text[:at] + text + self.text[at:]
        self.source = np.concatenate((self.source[:at], source, self.source[at:]))
        self.starts = np.concatenate((self.starts[:at], starts, self.starts[at:]))

    def cut(self, at: int) -> Line:
        """End it at the space before character ``at``, and return the rest."""
        rest = replace(self, text=self.text[at:], source=self.source[at:], starts=self.starts[at:])
        rest.left, self.right = float(self.starts[at]), float(self.starts[at - 1])
        self.text, self.source = self.text[: at - 1], self.source[: at - 1]
        self.starts = self.starts[: at - 1]
        return rest

    @property
    def middle(self) -> float:
        """The height of the middle of small letters, which says in which row of a table it is."""
        return self.base - 0.3 * self.size

    @property
    def width(self) -> float:
        """Extent along the writing in points."""
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class Frame:
    """The printed lines of one page in the order of the file, and the size of their frame."""

    lines: list[Line]
    width: float
    height: float


def in_runs(items: Iterable[T], continues: Callable[[list[T], T], bool]) -> list[list[T]]:
    """Cut items into runs; ``continues`` says whether an item belongs to the run before it.

    >>> in_runs([1, 2, 3, 7], lambda run, number: number == run[-1] + 1)
    [[1, 2, 3], [7]]
    """
    runs: list[list[T]] = []
    for item in items:
        if runs and continues(runs[-1], item):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def rows_of(lines: Iterable[Line]) -> list[list[Line]]:
    """Put lines into rows, from the top and from the left."""
    rows = in_runs(
        sorted(lines, key=lambda line: line.base),
        lambda row, line: line.base - row[0].base < 0.5 * line.size,
    )
    return [sorted(row, key=lambda line: line.left) for row in rows]


def aligned(one: Placed, other: Placed) -> float:
    """Points that two lines or columns are off each other: by an edge, or by their middles."""
    left, right = one.left - other.left, one.right - other.right
    return min(abs(left), abs(right), abs(left + right) / 2)


def in_sequence(numbers: Iterable[int]) -> list[list[int]]:
    """Cut ascending numbers into runs of consecutive ones."""
    return in_runs(numbers, lambda run, number: number == run[-1] + 1)
