"""Mark running heads, footers and page numbers for dropping: they repeat over pages.

A line is furniture if similar lines (digits aside, if it is short) are at the same height near the
top or bottom edge of three pages or more (of pages near it, unless it is frequent), or sideways at
the same position, and no line of the text stands between it and the edge. Lines that have another
number on each page, not that of the page, are titles and stay. A line without letters is
furniture if its number counts the pages (below the text, at any height) or never changes. Lines in
an outermost row with furniture (the name of the chapter beside the page number) are furniture too,
if they have no words or come again.

The first copy of a running head is kept, because a line that comes again may be part of the text:
on the first page at its place, on other pages apart from the paragraph that goes on over them. A
line that names what is on its page ("Receipt 1002"), or has another number that is not that of the
page ("Balance on 2 March: 200 euros"), is no copy of that on another.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from statistics import median

from milepost.documents.readers.pdf.dropped import drop_line_numbers, in_row, restore_cells
from milepost.documents.readers.pdf.page import Page
from milepost.documents.readers.pdf.records import Line

ZONE = 0.13  # of the page's height, at the top and at the bottom
DEPTH = 0.035  # the same, from the first line of most pages, if that is farther inside
SLOT = 6.0  # points: lines of different pages within this height are at one position
MIN_PAGES = 3

_NEAR = 6  # pages before and after that share the running head of a part
_OFTEN = 8  # of so many pages, one has a line often

SHORT = 50  # characters: in longer lines, other digits make another line

_DIGITS = re.compile(r"\d++(?![:.)] ?[^\W\d_])")
"""Numbers that may be those of pages; "Question 3: what …" has another."""

_WHOLE = re.compile(r"(?<![\d.])\d++(?!\.\d)")  # no part of "1.3.6"

_LABEL = re.compile(r"[^\W\d_]{3,}(?: (?:no|nr|number|nummer|n[°º])\.?)?:? ?#?\d+")
_NUMBERED = re.compile(
    r"(?:(?:\b(?:no|nr|number|nummer|id)\b[.:]* ?#?|n[°º][.:]* ?|#)[\w/-]*\d"
    r"|(?:[^\W\d_]{3,}-|\d{2,}[-/])\d{3,})$"
)
"""The number of a thing, unless a word for a page stands before it."""
_FURTHER = 100  # numbers in front of a page's own: those of other things than pages

_WORD, _WORDS = re.compile(r"[^\W\d_]+"), re.compile(r"\w+")
_PAGE_WORDS = frozenset(
    """
    page pages pag pg pp of seite seiten von auf blatt sur de página páginas pagina pagine di van
    sida sidan av strona str side af страница стр из
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
_NAMES = _PAGE_WORDS.difference("of von auf sur de di van av af из".split())  # noqa: SIM905
_SHEETS = _NAMES | {"sheet", "slide", "folie", "folio"}
_ROMAN = re.compile(r"(?=[mdclxvi])m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})", re.I)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


@dataclass(slots=True)
class _Seen:
    """Lines of one shape in one slot: the pages of all, of each number and of each text."""

    pages: set[int] = field(default_factory=set)
    again: set[int] = field(default_factory=set)  # of them, those whose text or number comes again
    shifts: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))  # minus the page
    texts: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


_Seats = dict[tuple[bool, int, str], _Seen]  # upright, slot, shape


def mark_furniture(pages: Sequence[Page], size: float) -> None:
    """Mark the lines that repeat as dropped; ``size`` is the body's in points."""
    for page in pages:
        drop_line_numbers(page)
    heights = [_first(page) for page in pages if page.frame.lines]
    if len(pages) < 2 or not heights:
        return
    seats: _Seats = defaultdict(_Seen)
    first = median(heights)
    edges = [
        (page, [line for line in _edge_lines(page, first) if not line.dropped]) for page in pages
    ]
    for page, lines in edges:
        for line in lines:
            shape, number = _shape(line.text)
            numbers = [] if number is None else [number]
            if _has_letters(shape):
                numbers = [int(each[:9]) for each in _WHOLE.findall(line.text)]
            for seen in _alike(seats, line, page):
                seen.pages.add(page.number)
                seen.texts[line.text].add(page.number)
                for each in numbers:
                    seen.shifts[each - page.number].add(page.number)
    least = min(MIN_PAGES, len(pages))
    for seen in seats.values():
        seen.again.update(*(x for x in seen.texts.values() if len(x) > 1))
        seen.again.update(*(x for x in seen.shifts.values() if len(x) >= least))
    large = 1.3 * size
    most = len(pages) // 2 + 1
    for page, lines in edges:
        for line in lines:
            # A large line at one height may be a title that several slides or parts share.
            need = max(least, most) if line.size > large else least
            # Two alike pages are no proof; two page numbers are.
            need = max(need, MIN_PAGES) if _has_words(line.text) else need
            line.dropped = _repeats(seats, line, page, need, max(need, len(pages) // _OFTEN))
    for page, lines in edges:
        _restore_inner(page, lines)
    for page in pages:
        _drop_rows(page, seats)
    _drop_stray_numbers(edges)
    _drop_last_numbers(pages)
    for page in pages:
        restore_cells(page)
    printed = [line for page in pages for line in page.frame.lines]
    if all(line.dropped for line in printed):
        for line in printed:  # if there are only heads, they are the text
            line.dropped = False
        return
    _keep_first(pages, large)


def _keep_first(pages: Sequence[Page], large: float) -> None:
    """Keep the first copy of each line of words among the furniture, unless the text has it."""
    text = " ".join(
        line.text for page in pages for line in page.frame.lines if not line.dropped
    ).casefold()
    kept: set[str] = set()
    counted: set[tuple[str, int, int]] = set()
    first = next((page for page in pages if page.frame.lines), None)
    for page in pages:
        above: Line | None = None  # a line that was kept
        for line in page.frame.lines:
            if not line.dropped or not _has_words(line.text):
                continue
            words = line.text.casefold()
            # "2 The Bees" and "3 The Bees" differ in the number of the page alone.
            numbers = set(_numbers_of_page(words, page.number))
            is_label = (
                bool(_LABEL.fullmatch(words)) and bool(numbers) and min(numbers)[2] >= _FURTHER
            )
            is_label |= bool(numbers) and (line.size > large or _is_numbered(words))
            known = words in kept or (numbers & counted and not is_label)
            kept.add(words)
            counted |= numbers
            step = line.base - above.base if above is not None else 0.0
            goes_on = line.text[0].islower() and 0 < step < 2 * line.size
            beside = above is not None and abs(step) < 0.3 * line.size  # in a row of names
            if not beside and ((known and not goes_on) or _is_in(words, text)):
                continue
            above = line
            line.dropped = False
            line.head = page is not first and not is_label


def _numbers_of_page(words: str, page: int) -> Iterator[tuple[str, int, int]]:
    """Yield the numbers of a line that may be that of its page: at an end, or behind a page word.

    Each has the rest of the line, its place in it, and how far it is from the number of the page.
    """
    for found in _DIGITS.finditer(words):
        before, after = words[: found.start()], words[found.end() :]
        own = _NAMES.issuperset(_WORDS.findall(before)[-1:])
        if own or all(word in _PAGE_WORDS or word.isdigit() for word in _WORDS.findall(after)):
            yield f"{before}#{after}", found.start(), int(found[0][:9]) - page


def _is_numbered(words: str) -> bool:
    """Whether a line ends in the number of a thing, as "Invoice no. 12" does, and of no page."""
    return _NUMBERED.search(words) is not None and _SHEETS.isdisjoint(_WORDS.findall(words))


def _is_in(words: str, text: str) -> bool:
    """Whether a text has words, and not as a part of longer ones."""
    at = text.find(words)
    while at >= 0:
        around = text[max(0, at - 1) : at] + text[at + len(words) : at + len(words) + 1]
        if not any(map(str.isalnum, around)):
            return True
        at = text.find(words, at + 1)
    return False


@lru_cache(maxsize=4096)
def _has_words(text: str) -> bool:
    """Whether a line has words other than those of a page number: "Page 3 of 9"."""
    return any(
        len(word) > 1 and word not in _PAGE_WORDS and not _ROMAN.fullmatch(word)
        for word in _WORD.findall(text.casefold())
    )


def _first(page: Page) -> float:
    """The height of the first line, as a share of the page's."""
    lines = page.frame.lines
    return min(line.base for line in lines if _upright(page, line)) / page.frame.height


def _edge_lines(page: Page, first: float) -> list[Line]:
    """Lines near the top or bottom edge, and all with another direction than the text.

    Upright pages of a book may have their heads far from the edge; slides have their titles there.
    """
    height, lines = page.frame.height, page.frame.lines
    low = first > ZONE and page.frame.width < height
    top, bottom = (first + DEPTH if low else ZONE) * height, (1 - ZONE) * height
    return [line for line in lines if not top < line.base < bottom or not _upright(page, line)]


def _upright(page: Page, line: Line) -> bool:
    """Whether a line has the direction of the page's text, whatever the rotation of the page."""
    return line.angle == page.frame.lines[0].angle


def _slots(line: Line) -> tuple[int, int]:
    """Two overlapping slots, so that no boundary separates two nearby heights."""
    return 2 * int(line.base // SLOT), 2 * int((line.base + SLOT / 2) // SLOT) + 1


def _alike(seats: _Seats, line: Line, page: Page) -> list[_Seen]:
    """The records of lines like this one, in both slots of its height."""
    shape, _ = _shape(line.text)
    return [seats[_upright(page, line), slot, shape] for slot in _slots(line)]


@lru_cache(maxsize=4096)
def _shape(text: str) -> tuple[str, int | None]:
    """Replace the numbers of a text by #; also return the first of them."""
    folded = text.casefold()
    if _ROMAN.fullmatch(folded):
        values = [_ROMAN_VALUES[c] for c in folded]
        pairs = zip(values, [*values[1:], 0], strict=True)
        return "#", sum(-v if v < after else v for v, after in pairs)
    found = _DIGITS.search(folded)
    shape = folded if len(folded) > SHORT else _DIGITS.sub("#", folded)
    return shape, int(found[0][:9]) if found else None


def _has_letters(shape: str) -> bool:
    return any(map(str.isalpha, shape))


def _repeats(seats: _Seats, line: Line, page: Page, need: int, often: int) -> bool:
    """Whether a line stands on as many pages nearby as needed, or often in the whole document."""
    shape, number = _shape(line.text)
    for seen in _alike(seats, line, page):
        if _has_letters(shape):
            near = sum(abs(each - page.number) <= _NEAR for each in seen.pages)
            # "Article 5" and "Article 6" at the top of one page each are titles.
            titles = 2 * len(seen.again) < len(seen.pages)
            titles &= _SHEETS.isdisjoint(_WORD.findall(shape))
            if not titles and (near >= need or len(seen.pages) >= often):
                return True
            continue
        counts = number is not None and len(seen.shifts[number - page.number]) >= need
        if counts or len(seen.texts[line.text]) >= max(need, len(seen.pages) // 2):
            return True
    return False


def _restore_inner(page: Page, edge: list[Line]) -> None:
    """Keep repeated lines inside of the text: names of columns, units."""
    lines = [x for x in page.frame.lines if _upright(page, x)]
    inner = heads = [x for x in edge if x.dropped and _upright(page, x)]
    while inner:  # what is kept is text, so that other lines may be inside of it
        text = [x for x in lines if not x.dropped]
        inner = [x for x in heads if x.dropped and _inside(x, text, page.frame.height / 2)]
        for line in inner:
            line.dropped = False


def _inside(line: Line, text: list[Line], middle: float) -> bool:
    """Whether lines of the text stand between a line and the page's edge."""
    at_top = line.base < middle
    sign = 1 if at_top else -1
    return any(
        (x.base < middle) == at_top
        and sign * (line.base - x.base) > 0.5 * line.size
        and _has_words(x.text)
        for x in text
    )


def _drop_rows(page: Page, seats: _Seats) -> None:
    """Drop lines in one row with furniture if the row is separate from the text."""
    for line in [x for x in page.frame.lines if x.dropped]:
        if _outermost(page, line):
            for other in page.frame.lines:
                small = in_row(other, line) and other.size < 1.3 * line.size
                other.dropped |= small and _comes_again(seats, other, page)


def _comes_again(seats: _Seats, line: Line, page: Page) -> bool:
    """Whether a line has no words, or stands at this height on another page, too."""
    again = any(len(seen.pages) > 1 for seen in _alike(seats, line, page))
    return again or not _has_words(line.text)


def _drop_stray_numbers(edges: Sequence[tuple[Page, list[Line]]]) -> None:
    """Drop page numbers at an unusual position: a first page, pages with roman numbers."""
    shifts: dict[int, set[int]] = defaultdict(set)
    slots: dict[int, set[int]] = defaultdict(set)
    for page, _ in edges:
        for line in page.frame.lines:
            shape, number = _shape(line.text) if line.dropped else ("", None)
            if shape == "#" and number is not None:
                shifts[number - page.number].add(page.number)
                for slot in _slots(line):
                    slots[slot].add(page.number)
    for page, lines in edges:
        for line in lines:
            shape, number = _shape(line.text)
            if shape != "#" or number is None or not _outermost(page, line):
                continue
            known = any(len(slots[slot]) >= MIN_PAGES for slot in _slots(line))
            if known or len(shifts[number - page.number]) >= MIN_PAGES:
                line.dropped = True


def _drop_last_numbers(pages: Sequence[Page]) -> None:
    """Drop rows below the text with a number that counts the pages, at any height.

    Pages that a browser prints may end with their text, far above the bottom edge.
    """
    found: dict[tuple[str, int], list[list[Line]]] = defaultdict(list)
    for page in pages:
        lines = [x for x in page.frame.lines if not x.dropped and _upright(page, x)]
        last = max(lines, key=lambda line: line.base, default=None)
        if last is None or len(lines) < 2:
            continue
        row = sorted((x for x in lines if in_row(x, last)), key=lambda line: line.left)
        above = last.base - 1.4 * last.size
        if any(x.base > above and x not in row for x in lines):
            continue
        text = " ".join(line.text for line in row).casefold()
        for word in _WORDS.finditer(text):
            _, number = _shape(word[0])
            if number is not None:
                rest = f"{text[: word.start()]}#{text[word.end() :]}"
                found[rest, number - page.number].append(row)
    for rows in found.values():
        for line in chain(*rows) if len(rows) >= MIN_PAGES else ():
            line.dropped = True


def _outermost(page: Page, line: Line) -> bool:
    """Whether a line is separate from the text, with all of it on one side."""
    sign = 1 if line.base < page.frame.height / 2 else -1
    least = 1.4 * line.size
    return not any(
        sign * (x.base - line.base) <= least
        and x.angle == line.angle
        and not x.dropped
        and not in_row(x, line)
        for x in page.frame.lines
    )
