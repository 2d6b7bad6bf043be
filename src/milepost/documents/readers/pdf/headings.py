"""Find headings: the lines that the bookmarks name, else those in larger type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from milepost.documents.readers.pdf.page import Page
from milepost.documents.readers.pdf.records import Line

LARGER = 1.15  # times the body's size
MAX_CHARS = 160  # of a heading in larger type
BESIDE = 3  # of the font size: beyond it, what stands in a row is not one heading
MIN_CELLS = 4  # of a row in large type that has no headings
MIN_LOCATED = 3  # located bookmarks, so that headings need not be guessed by size

_NUMBER = re.compile(r"(?:chapter|kapitel|appendix|section)?(?:[a-z]?[0-9]*|[0-9]+[a-z]?|[ivxl]+)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of one or more lines.

    Attributes:
        lines: ids of its lines; it starts at ``lines[0]``.
        title: its words.
        level: 1 to 6.
        alone: False if text follows in the last line of the heading.
    """

    lines: tuple[int, ...]
    title: str
    level: int
    alone: bool = True


Outline = list[tuple[int, str, int]]
"""Page (from 1), title and level (from 1) of each bookmark."""


def read_outline(document: Any) -> Outline:
    """Read the bookmarks; the lock must be held."""
    found = []
    for bookmark in document.get_toc():
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        title = "".join(c if c.isprintable() else " " for c in bookmark.get_title() or "")
        title = " ".join(title.encode("utf-8", "ignore").decode("utf-8").split())
        if index is not None and title:
            found.append((index + 1, title, min(bookmark.level + 1, 6)))
    return found


def find_headings(pages: Sequence[Page], outline: Outline, size: float) -> dict[int, Heading]:
    """Map the id of each heading's first line to the heading; ``size`` is the body's in points."""
    found = _by_outline(pages, outline)
    return found if len(found) >= MIN_LOCATED else {**_by_size(pages, LARGER * size), **found}


def _by_outline(pages: Sequence[Page], outline: Outline) -> dict[int, Heading]:
    lines = {page.number: list(page.lines()) for page in pages}
    letters: dict[int, list[str]] = {}
    found: dict[int, Heading] = {}
    for number, title, level in outline:
        want = _letters(title)
        if len(want) < 2:
            continue
        best: tuple[bool, tuple[int, ...]] | None = None
        of_page = lines.get(number, [])
        if number not in letters:
            letters[number] = [_letters(line.text) for line in of_page]
        for at, first in enumerate(of_page):
            if id(first) in found:
                continue
            match = _match(of_page, letters[number], at, want)
            if match and (best is None or match[0] > best[0]):
                best = match
        if best:
            found[best[1][0]] = Heading(best[1], title, level, alone=best[0])
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


def _by_size(pages: Sequence[Page], least: float) -> dict[int, Heading]:
    runs: list[list[Line]] = []
    for page in pages:
        last: Line | None = None
        cells = _cells([line for line in page.lines() if line.size >= least])
        for line in page.lines():
            small = line.size < least or id(line) in cells
            if small or line.angle != page.frame.lines[0].angle:
                last = None
                continue
            near = last and (
                (
                    0.3 * line.size < line.base - last.base < 1.8 * line.size
                    and line.left < last.right
                    and last.left < line.right
                )
                or 0 <= line.left - last.right < BESIDE * line.size
            )
            if near and last and abs(line.size - last.size) < 0.5:
                runs[-1].append(line)
            else:
                runs.append([line])
            last = line
    titles = [(run, " ".join(line.text for line in run)) for run in runs]
    titles = [
        (run, title)
        for run, title in titles
        if len(title) <= MAX_CHARS and sum(c.isalpha() for c in title) >= 3
    ]
    ranks = sorted({round(run[0].size) for run, _ in titles}, reverse=True)
    return {
        id(run[0]): Heading(
            tuple(id(line) for line in run), title, min(ranks.index(round(run[0].size)) + 1, 6)
        )
        for run, title in titles
    }


def _cells(lines: list[Line]) -> set[int]:
    """Find the lines in rows of several: a form or table in large type has no headings there."""
    cells: set[int] = set()
    row: list[Line] = []
    for line in lines:
        level = row and abs(line.base - row[-1].base) < 0.3 * line.size
        if level and line.left - row[-1].right >= BESIDE / 2 * line.size:
            row.append(line)
        else:
            row = [line]
        if len(row) >= MIN_CELLS:
            cells.update(map(id, row))
    return cells
