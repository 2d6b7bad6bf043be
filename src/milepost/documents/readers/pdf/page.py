"""One page on its way from lines to text: its lines, its furniture, its reading order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from milepost.documents.readers.pdf.columns import reading_order
from milepost.documents.readers.pdf.glyphs import Display, Glyphs, open_page, read_glyphs
from milepost.documents.readers.pdf.hidden import hidden_parts
from milepost.documents.readers.pdf.lines import page_lines
from milepost.documents.readers.pdf.picture import covered
from milepost.documents.readers.pdf.records import NONE, Floats, Frame, Line, in_sequence
from milepost.documents.readers.pdf.rules import Ruled, drawn_lines, ruled_tables
from milepost.documents.readers.pdf.writing import runs_left
from milepost.types import Box

NO_LINES: Floats = np.zeros((0, 3))
HARDLY = 200
"""Characters below which a page has hardly any text: a stamp, a page number."""


@dataclass(slots=True)
class Page:
    """One page on its way to text."""

    number: int  # from 1
    # its lines in the order of the file; later steps identify a line by its index here
    frame: Frame
    # its lines but the furniture in reading order, one list for each flow
    flows: list[list[Line]] = field(default_factory=list)
    # the box of each line, if the page was read from its picture; else None
    boxes: list[Box] | None = None
    # index of each line with hidden text, and its first and last hidden character
    hidden: dict[int, tuple[int, int]] = field(default_factory=dict)
    # share of the page that pictures cover, 0-1; 0 if it has more than hardly any text
    pictures: float = 0.0
    ruled: Sequence[Ruled] = ()  # the tables whose cells have lines around them
    # the lines that it draws across and down, ``(n, 3)`` each: place, start and end
    drawn: tuple[Floats, Floats] = (NO_LINES, NO_LINES)

    def arrange(self) -> None:
        """Put the lines into reading order; the furniture must be known.

        A page that is read from the right is mirrored, so that it is read like others from here on.
        """
        if runs_left("".join(line.text for line in self.frame.lines)):
            for line in self.frame.lines:
                line.left, line.right = -line.right, -line.left
            self.ruled = [table.mirrored() for table in self.ruled]
            across, down = self.drawn
            self.drawn = across[:, [0, 2, 1]] * [1, -1, -1], down * [-1, 1, 1]
        self.flows = reading_order([line for line in self.frame.lines if not line.dropped])

    def lines(self) -> Iterator[Line]:
        """Yield the lines in reading order, without the furniture."""
        for flow in self.flows:
            yield from flow


def load_page(
    document: Any, index: int, *, keep_hidden: bool, ink: bool = False
) -> tuple[Page, Glyphs]:
    """Read page ``index`` (from 0) of an open PDF into lines; the lock must be held.

    Without ``ink`` the lines do not store the glyph of each character. The same file always gives
    the same page: ``boxes`` relies on that.
    """
    with open_page(document, index) as (opened, typed):
        display = Display(opened)
        glyphs = read_glyphs(display, typed, ink=ink, layers=document.layers)
        frame = page_lines(glyphs, keep_hidden=keep_hidden)
        hardly = sum(len(line.text) for line in frame.lines) < HARDLY
        angle = frame.lines[0].angle if frame.lines else 0
        across, down = drawn_lines(display, angle)
        # If most lines are sideways, so are their tables.
        size = (0.0, 0.0) if angle else (frame.width, frame.height)
        ruled = ruled_tables(across, down, frame.lines, size)
        drawn = np.array(across).reshape(-1, 3), np.array(down).reshape(-1, 3)
        pictures = covered(display) if hardly else 0.0
    hidden = hidden_parts(frame.lines, glyphs.hidden) if keep_hidden else {}
    for line in frame.lines:
        line.starts = NONE
        if not ink:
            line.source = NONE  # a number per character would take much memory in long books
    page = Page(index + 1, frame, hidden=hidden, pictures=pictures, ruled=ruled, drawn=drawn)
    return page, glyphs


def body_size(pages: Sequence[Page]) -> float:
    """Find the font size of most characters, to half a point; 10 if there are none."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.frame.lines:
            sizes[round(2 * line.size) / 2] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 10.0


def named(numbers: Sequence[int]) -> str:
    """Name pages in runs, with the verb: ``page 3 has``, ``pages 3-4, 7 have``."""
    runs = in_sequence(numbers)
    named = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"page {named} has" if len(numbers) == 1 else f"pages {named} have"
