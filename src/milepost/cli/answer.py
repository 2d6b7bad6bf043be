"""Passages for people: where each stands, its text with the evidence marked, and a heat strip."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.console.heat import strip
from milepost.console.links import described, link_to
from milepost.console.rows import rows_of
from milepost.console.screen import (
    can_show,
    is_terminal,
    page,
    print_line,
    visible,
    visible_name,
    width,
)
from milepost.objects import is_address

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from milepost.console.screen import Colour
    from milepost.search import SearchResult
    from milepost.types import Match, Passage

BARS = "▁▂▃▄▅▆▇█"
HEAT = ("grey35", "grey42", "grey50", "khaki3", "gold3", "orange1", "dark_orange", "red1")
"""From cold to hot, one colour a bar; read on dark and on light screens."""

HIT, LESSER = "black on light_goldenrod2", "dark_goldenrod"
"""Styles of a sentence that made its passage, and of one that helped (below ``STRONG``)."""

STRONG = 1.0
"""Log-odds below its passage's best hit up to which a hit is marked in full: in a passage that
grew from ten hits the eye still finds the sentence that answers."""

WORD, PLACE, ASIDE = "bold", "bold", "dim"
"""Styles of a word of the question, a document's name, and what stands beside it."""

_INDENT = "   "
_LONG_LINE = 50  # characters from which a line that ends was broken to fit a page
_WORD = re.compile(
    r"\d+(?:[.,]\d+)+|(?:[^\W_]|[\u0300-\u036f\u0900-\u109f\u1780-\u17d3])+(?:['’][^\W_]+)?"
)


def print_result(result: SearchResult, sizes: Mapping[str, int], colour: Colour) -> None:
    """Print the passages on stdout, best first.

    Args:
        result: what the search returned; at least one passage.
        sizes: characters of each document, for the places on the heat strips.
        colour: what ``--color`` says.
    """
    columns = width(sys.stdout)
    words = {term for term, idf in result.terms.items() if idf > 0.0}
    shown: set[str] = set()
    with page(colour) as out:
        for number, passage in enumerate(result.passages, 1):
            if number > 1:
                print_line(out, "")
            print_line(out, head(number, passage, passage.score))
            if passage.document not in shown:
                shown.add(passage.document)
                cells = strip(result.relevance[passage.document])
                room = columns is None or columns >= len(cells) + len(_INDENT)
                if room and can_show(BARS, sys.stdout):
                    print_line(out, _strip(cells))
                    print_line(out, _places(result, passage.document, sizes, len(cells)))
            for line in lines(rows_of(passage) or body(passage, words, columns), out, columns):
                print_line(out, line)


def shown_path(source: str) -> str:
    """Shorten a path that lies below the current folder to a relative one."""
    try:
        return str(Path(source).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return source


def head(number: int, passage: Passage | Match, score: float | None = None) -> Text:
    """The line above a passage: its document, page and heading, and how probable it is."""
    from rich.style import Style
    from rich.text import Text

    style = Style.parse(PLACE)
    name = passage.document
    if passage.source is not None:
        name = shown_path(passage.source)
        if is_terminal(sys.stdout) and not is_address(passage.source):
            style += Style(link=link_to(passage.source, passage.page))
    line = Text(f"{number}".ljust(len(_INDENT)), style=PLACE)
    line.append(visible_name(name), style=style)
    if passage.source is not None and (work := described(passage.source)):
        line.append(f" · {visible(work)}", style=ASIDE)
    if passage.place:
        line.append(f" · {visible(' '.join(passage.place.split()))}", style=ASIDE)
    if passage.heading and passage.heading not in (passage.place or ""):  # a sheet's own name
        line.append(f" · {visible(' '.join(passage.heading.split()))}", style=ASIDE)
    if score is not None:
        line.append(f" · {score:.0%}", style=ASIDE)
    return line


def _strip(heat: Sequence[float]) -> Text:
    from rich.text import Text

    line = Text(_INDENT)
    for value in heat:
        level = min(len(BARS) - 1, max(0, int(value * len(BARS))))
        line.append(BARS[level], style=HEAT[level])
    return line


def _places(result: SearchResult, document: str, sizes: Mapping[str, int], cells: int) -> Text:
    """Put the numbers of a document's passages under the place of each on the strip."""
    from rich.text import Text

    row = [" "] * (cells + 3)
    for number, passage in enumerate(result.passages, 1):
        if passage.document != document or not passage.hits:
            continue
        middle = (passage.best.start + passage.best.end) / 2
        cell = min(cells - 1, int(middle / max(1, sizes.get(document, 0)) * cells))
        label = str(number)
        for place in (cell, cell + 1, cell - 1):  # beside the place where that is taken
            around = row[max(0, place - 1) : place + len(label) + 1]
            if place >= 0 and not any(map(str.strip, around)):
                row[place : place + len(label)] = label
                break
    return Text(_INDENT + "".join(row).rstrip(), style=ASIDE)


def body(passage: Passage, words: set[str], columns: int | None) -> Text:
    """Mark the hits and the question's words in a passage's text."""
    from rich.text import Text

    text = visible(passage.text)
    marked = Text(reflowed(text) if columns is not None else text)
    for hit in passage.hits:
        start = max(0, hit.start - passage.start)
        stop = min(len(text), hit.end - passage.start)
        style = HIT if hit.logit >= passage.best.logit - STRONG else LESSER
        marked.stylize(style, start, start + len(text[start:stop].rstrip()))
    for start, stop in matched(text, words):
        marked.stylize(WORD, start, stop)
    return marked


def lines(text: Text, out: Console, columns: int | None) -> Iterator[Text]:
    """Lines of a body, indented, wrapped where there is a screen; no more than one empty one."""
    from rich.text import Text

    if columns is None:
        shown: Iterable[Text] = text.split("\n", allow_blank=True)
    else:
        shown = text.wrap(out, columns - len(_INDENT), tab_size=4)
    empty = False
    for line in shown:
        line.rstrip()
        if line.plain:
            yield Text.assemble(_INDENT, line)
        elif not empty:
            yield line
        empty = not line.plain


def reflowed(text: str) -> str:
    """Put a space where a line was only broken to fit a page; the text stays as long as it is."""
    lines = text.split("\n")
    parts = lines[:1]
    for before, line in pairwise(lines):
        broken = len(before.strip()) >= _LONG_LINE and line[:1].isalpha()
        parts += [" " if broken else "\n", line]
    return "".join(parts)


def matched(text: str, words: set[str]) -> Iterator[tuple[int, int]]:
    """Places in the text whose term is one of the question's.

    >>> list(matched("Bees built cells.", {"bee", "cell"}))
    [(0, 4), (11, 16)]
    """
    from milepost.terms import terms

    for match in _WORD.finditer(text):
        found = terms(match.group())
        if len(found) == 1:
            if found[0] in words:
                yield match.span()
            continue
        # A run of a script without spaces: its terms are pairs of characters, found as they are.
        for term in words.intersection(found):
            for place in re.finditer(re.escape(term), match.group()):
                yield match.start() + place.start(), match.start() + place.end()
