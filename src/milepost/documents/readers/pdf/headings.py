"""Find headings: the lines that the bookmarks name, else those in larger or bold type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import pypdfium2.raw as pdfium

from milepost.documents.readers.builder import MAX_TITLE, MIN_LETTERS, MOSTLY_BOLD, is_title, labels
from milepost.documents.readers.pdf.breaks import is_item
from milepost.documents.readers.pdf.native import text_of
from milepost.documents.readers.pdf.page import Page
from milepost.documents.readers.pdf.records import Line, in_runs

LARGER = 1.15  # times the body's size
BESIDE = 3  # of the font size: beyond it, what stands in a row is not one heading
MIN_CELLS = 4  # of a row in large type that has no headings
MAX_TITLES = 4  # of bookmarks without a page, on a page that is no table of contents
SENTENCE = 40  # characters: what is longer and ends in a full stop is no title
_BEGIN = 12  # letters by which the line where such a title begins is found
MIN_LOCATED = 3  # located bookmarks, so that headings need not be guessed by size

_NUMBER = re.compile(r"(?:chapter|kapitel|appendix|section)?(?:[a-z]?[0-9]*|[0-9]+[a-z]?|[ivxl]+)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of one or more lines."""

    lines: tuple[int, ...]  # ids of its lines; it starts at ``lines[0]``
    title: str  # its words
    level: int  # 1 to 6
    alone: bool = True  # False if text follows in the last line of the heading


Outline = list[tuple[int, str, int]]
"""Page (from 1; 0 if it is not in the file), title and level (from 1) of each bookmark."""


def read_outline(document: Any) -> Outline:
    """Read the bookmarks; the lock must be held."""
    found = []
    for bookmark in document.get_toc():
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        title = text_of(pdfium.FPDFBookmark_GetTitle, bookmark.raw)
        title = " ".join("".join(c if c.isprintable() else " " for c in title).split())
        if title:
            found.append((0 if index is None else index + 1, title, min(bookmark.level + 1, 6)))
    return found


def find_headings(pages: Sequence[Page], outline: Outline, size: float) -> dict[int, Heading]:
    """Map the id of each heading's first line to the heading; ``size`` is the body's in points."""
    found = _by_outline(pages, [] if _is_of_items(outline) else outline)
    return found if len(found) >= MIN_LOCATED else {**_by_look(pages, size), **found}


def _is_of_items(outline: Outline) -> bool:
    """Whether most bookmarks are items of the text, as "(b) defence;" is, and no titles."""
    items = sum(is_item(title) and title[-1] in ".;,:" for _, title, _ in outline)
    return 2 * items > len(outline)


def _placed(lines: Mapping[int, Sequence[Line]], outline: Outline) -> Outline:
    """Give bookmarks whose page is not known, as after pages were taken out, the first that fits.

    There a line begins with their words alone; a page with many such is a table of contents.
    """
    titles = {_letters(title)[:_BEGIN]: title for page, title, _ in outline if not page}
    fitting: dict[str, int] = {}
    for number, of_page in lines.items() if titles else ():
        own = {letters for line in of_page if (letters := _letters(line.text))[:_BEGIN] in titles}
        fits = {titles[each[:_BEGIN]] for each in own}
        fits = {each for each in fits if any(map(_letters(each).startswith, own))}
        fitting |= {each: number for each in fits if len(fits) <= MAX_TITLES} | fitting
    return [(page or fitting.get(title, 0), title, level) for page, title, level in outline]


def _by_outline(pages: Sequence[Page], outline: Outline) -> dict[int, Heading]:
    lines = {page.number: list(page.lines()) for page in pages}
    placed = [each for each in _placed(lines, outline) if each[0] in lines]
    letters = {n: [_letters(line.text) for line in lines[n]] for n in {each[0] for each in placed}}
    found: dict[int, Heading] = {}
    for number, title, level in placed:
        want = _letters(title)
        matches = (
            _match(lines[number], letters[number], at, want)
            for at, first in enumerate(lines[number])
            if id(first) not in found
        )
        alone, own = max(filter(None, matches), key=itemgetter(0), default=(False, ()))
        if own and len(want) > 1:
            found[own[0]] = Heading(own, title, level, alone=alone)
    return found


def _match(
    lines: list[Line], letters: list[str], at: int, want: str
) -> tuple[bool, tuple[int, ...]] | None:
    """Whether the lines from ``at`` on spell the title, alone or followed by text."""
    have, taken = "", []
    last = lines[at]
    for line, own in zip(lines[at : at + 4], letters[at : at + 4], strict=True):
        if have and _is_number(have) and abs(line.base - last.base) > 0.6 * line.size:
            return None  # a number alone above the title does not belong to it
        last = line
        have += own
        taken.append(id(line))
        if have == want or (have.endswith(want) and _is_number(have.removesuffix(want))):
            return True, tuple(taken)
        if have.startswith(want) and len(want) >= 6:
            return False, tuple(taken)
        rest = want.removesuffix(have)
        if rest != want and _is_number(rest):
            return True, tuple(taken)
        if not (want.startswith(have) or _is_number(have)):
            return None
    return None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _is_number(text: str) -> bool:
    """Whether this can be a chapter number, which bookmarks may omit or add."""
    return bool(_NUMBER.fullmatch(text))


@dataclass(slots=True)
class _Run:
    """Lines below each other that look like one heading, and the lines of the page after them."""

    lines: list[Line]
    after: list[Line]
    large: bool

    @property
    def title(self) -> str:
        return " ".join(line.text for line in self.lines)

    def takes(self, line: Line) -> bool:
        """Whether a line of the same look belongs to it, too."""
        last = self.lines[-1]
        below = 0.3 * line.size < line.base - last.base < 1.8 * line.size
        near = (below and line.left < last.right and last.left < line.right) or (
            self.large and 0 <= line.left - last.right < BESIDE * line.size
        )
        return near and abs(line.size - last.size) < 0.5

    def has_text(self, size: float) -> bool:
        """Whether running text begins below it, and is wider than its last line."""
        last, line = self.lines[-1], self.after[0] if self.after else None
        if line is None or line.bold or _in_row(line, self.after[1:2]):
            return False
        below = 0 < line.base - last.base < 4 * max(last.size, size)
        wide = line.width > 16 * size and line.right > last.right + size
        letters = 2 * sum(map(str.isalpha, line.text)) > len(line.text)
        return below and wide and letters and 0.85 * size < line.size < LARGER * size

    def is_of_title(self, titles: Set[int]) -> bool:
        """Whether it heads nothing: one of the ``titles`` follows, or a line centred below it."""
        first, line = self.lines[0], self.after[0] if self.after else None
        if line is None or id(line) in titles or line.base <= first.base:
            return True
        flush = abs(line.left - first.left) < 0.5 * first.size
        return not flush and abs(line.left + line.right - first.left - first.right) < 2 * first.size


def _in_row(line: Line, others: Sequence[Line]) -> bool:
    return any(abs(other.base - line.base) < 0.3 * line.size for other in others)


def _by_look(pages: Sequence[Page], size: float) -> dict[int, Heading]:
    """Find the lines in large type, and those in bold type above running text.

    Of the lines of a title page, the largest is the heading.
    """
    lines = [line for page in pages for line in page.lines()]
    bold = sum(len(line.text) for line in lines if line.bold)
    in_bold = bold < MOSTLY_BOLD * sum(len(line.text) for line in lines)
    found: list[_Run] = []
    first = True
    for page in pages:
        runs = [run for run in _runs(page, size, in_bold=in_bold) if _is_title(run)]
        large = [run for run in runs if run.large]
        count = sum(len(run.lines) for run in large)
        if large and (first or 2 * count > len(list(page.lines()))):
            top = max(large, key=lambda run: run.lines[0].size)
            titles = {id(line) for run in large for line in run.lines}
            large = [run for run in large if run is top or not run.is_of_title(titles)]
        first = first and not page.frame.lines
        found += [run for run in runs if run in large or (not run.large and run.has_text(size))]
    lone = labels(run.title for run in found if not run.large)
    found = [run for run in found if run.large or run.title not in lone]
    ranks = sorted({round(run.lines[0].size) for run in found if run.large}, reverse=True)
    return {
        id(run.lines[0]): Heading(
            tuple(id(line) for line in run.lines),
            run.title,
            min(ranks.index(round(run.lines[0].size)) + 1 if run.large else len(ranks) + 1, 6),
        )
        for run in found
    }


def _runs(page: Page, size: float, *, in_bold: bool) -> list[_Run]:
    """Lines of a page in large or bold type, with those below them that go on."""
    runs: list[_Run] = []
    order = list(page.lines())
    cells = _cells([line for line in order if line.size >= LARGER * size])
    inside = False  # whether the line before was the last of the last run
    for at, line in enumerate(order):
        large = line.size >= LARGER * size and id(line) not in cells
        heavy = in_bold and line.bold and 0.95 * size < line.size < LARGER * size
        heavy = heavy and not _in_row(line, [*order[max(0, at - 1) : at], *order[at + 1 : at + 2]])
        if not (large or heavy) or line.angle != page.frame.lines[0].angle:
            inside = False
            continue
        if inside and runs[-1].large == large and runs[-1].takes(line):
            runs[-1].lines.append(line)
            runs[-1].after = order[at + 1 :]
        else:
            runs.append(_Run([line], order[at + 1 :], large))
        inside = True
    return runs


def _is_title(run: _Run) -> bool:
    if run.large:
        ends = run.title[-1] in ".;" and not run.title[-2:-1].isupper()
        if ends and len(run.title) > SENTENCE:
            return False  # text, in a document whose notes or examples are longer
        return len(run.title) <= MAX_TITLE and sum(map(str.isalpha, run.title)) >= MIN_LETTERS
    return is_title(run.title) and not run.lines[0].head


def _cells(lines: list[Line]) -> set[int]:
    """Find the lines in rows of several: a form or table in large type has no headings there."""
    rows = in_runs(
        lines,
        lambda row, line: (
            _in_row(line, row[-1:]) and line.left - row[-1].right >= BESIDE / 2 * line.size
        ),
    )
    return {id(line) for row in rows if len(row) >= MIN_CELLS for line in row}
