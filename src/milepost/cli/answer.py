"""Passages for people: where each stands and how likely it answers, the answer, some context."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path, PurePath

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from milepost.cli.console.layout import (
    INDENT,
    Block,
    Limits,
    fit,
    names_above,
    rows_of,
    shortened,
    wrapped,
)
from milepost.cli.console.links import described, link_to
from milepost.cli.console.options import Settings, rows_said, say_all
from milepost.cli.console.screen import (
    can_show,
    height,
    is_terminal,
    page,
    print_line,
    shown_path,
    visible,
    visible_name,
    width,
)
from milepost.cli.question import Detail, PreparedQuery
from milepost.documents.encoding import decode
from milepost.documents.readers.formats import SUFFIXES
from milepost.errors import UnreadableFile
from milepost.index import Index
from milepost.language.terms import terms
from milepost.objects import is_address
from milepost.search import SearchResult
from milepost.types import Passage, Span, nearly_best
from milepost.verdicts import Match
from milepost.wording import counted, in_words, is_weak

_SIDES = 3  # sentences read on each side of an answer; two lines of them are printed
_BESIDE = 24  # columns for a name, below which what is to be said goes to the next line
_LONG_LINE = 50  # characters from which a line that ends was broken to fit a page
_BROKEN_KINDS = frozenset(
    ("", ".pdf", ".txt", ".text", ".md", ".markdown", ".rst", ".tex", ".eml", ".mbox")
)
_FENCE = re.compile(r"\s*(?:```|~~~)\s*([^`]*)$")
_WORD = re.compile(
    r"\d+(?:[.,]\d+)+|(?:[^\W_]|[\u0300-\u036f\u0900-\u109f\u1780-\u17d3])+(?:['’][^\W_]+)?"
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage with the text that is printed of it: all, or the best sentence with some beside.

    ``line``, from 1, is where in the file the best sentence begins; None where the text is not its.
    """

    passage: Passage
    start: int
    text: str
    line: int | None = None

    @property
    def around(self) -> tuple[str, str]:
        """The text before and after the best sentence."""
        best = self.passage.best
        return self.text[: best.start - self.start], self.text[best.end - self.start :]


def print_passages(
    asked: PreparedQuery,
    result: SearchResult,
    detail: Detail,
    settings: Settings,
    messages: Sequence[str],
    reasons: Sequence[Text] = (),
) -> None:
    """Print passages on stdout, best first: a screen on a terminal, in a pipe a line each."""
    likely = [passage for passage in result.passages if not is_weak(passage.score)]
    every = detail.every or asked.query.limits.min_score > 0.0 or not result.calibrated
    shown = result.passages if every else likely or result.passages[:1]
    excerpts = _excerpts(asked.index, shown, detail)
    piped = width(sys.stdout) is None
    with page(settings.colour, long=detail.long or bool(reasons)) as out:
        if piped and not detail.around:
            for excerpt in excerpts:
                print_line(out, _one_line(excerpt))
            printed = len(shown)
        else:
            room = None
            if not (detail.long or reasons):
                room = room_above(rows_said(messages) + (len(shown) < len(result.passages)))
            words = {term for term, idf in result.terms.items() if idf > 0.0}
            printed = print_excerpts(excerpts, words, detail, out, room, likely=result.calibrated)
        left = len(result.passages) - printed
        kind = "weaker" if printed == len(shown) else "more"
        count = f"{counted(left, f'{kind} result')}: --all"
        if left and not piped:
            print_line(out, count)
        for line in reasons:
            print_line(out, line)
    hidden = [count] if left and piped and not settings.quiet else []
    say_all([*messages, *hidden])


def room_above(below: int) -> int | None:
    """Lines of the screen above the prompt and what else is printed; None without a screen."""
    rows = height(sys.stdout)
    return None if rows is None else max(1, rows - 1 - below)


def print_excerpts(
    excerpts: Sequence[Excerpt],
    words: set[str],
    detail: Detail,
    out: Console,
    room: int | None,
    *,
    likely: bool = True,
) -> int:
    """Print excerpts, one below the other; returns the number of those that had room.

    ``likely``: say how likely each answers.
    """
    columns = width(sys.stdout)

    def build(number: int, limits: Limits) -> Block:
        excerpt = excerpts[number]
        said = Text(in_words(excerpt.passage.score) if likely else "")
        lines = head(numbered(number + 1), excerpt.passage, out, said)
        rows = None if detail.full else rows_of(excerpt.passage)
        if rows is not None:
            return lines + wrapped(rows, out, columns)
        if detail.around:
            return lines + wrapped(_whole(excerpt, words, detail, out), out, columns)
        return lines + _short(excerpt, words, out, limits)

    return print_fitting(len(excerpts), build, out, room)


def print_fitting(
    results: int, build: Callable[[int, Limits], Block], out: Console, room: int | None
) -> int:
    """Print the results that ``fit`` builds; returns their number."""
    blocks, gap = fit(results, build, room)
    for number, block in enumerate(blocks):
        for line in ([""] * gap if number else []) + block:
            print_line(out, line)
    return len(blocks)


def _excerpts(index: Index, passages: Sequence[Passage], detail: Detail) -> list[Excerpt]:
    if detail.full:
        return [Excerpt(passage, passage.start, passage.text) for passage in passages]
    piped = width(sys.stdout) is None
    excerpts = []
    with index.snapshot() as state:
        for passage in passages:
            info = state.info(passage.document)
            if info is None:  # another process has removed it
                excerpts.append(Excerpt(passage, passage.start, passage.text))
                continue
            best = passage.best
            starts, ends = state.sentences([info]).spans.T
            at = int(starts.searchsorted(best.start, "right")) - 1
            sides = _SIDES if detail.context is None else detail.context
            low = int(starts[max(0, at - sides)])
            high = max(best.end, int(ends[min(len(ends) - 1, at + sides)]))
            text, *before = state.texts(
                [(info, low, high)] + [(info, 0, best.start)] * (piped and _has_lines(passage))
            )
            line = _line(passage, before[0].count("\n") + 1) if before else None
            excerpts.append(Excerpt(passage, low, text, line))
    return excerpts


def _has_lines(passage: Passage) -> bool:
    """Whether lines of the text can be lines of the file."""
    if passage.source is None or passage.place is not None:
        return False
    suffix = PurePath(passage.source).suffix.lower()
    return SUFFIXES.get(suffix, "plain") in ("plain", "rows", "headed", "markdown")


def _line(passage: Passage, number: int) -> int | None:
    """Return the number of a line if, in the file as it is now, the best sentence begins there."""
    held = _lines_of(str(passage.source))[number - 1 : number]
    return number if held and passage.best.text.split("\n", 1)[0] in held[0] else None


@lru_cache(maxsize=1)
def _lines_of(source: str) -> list[str]:
    try:
        return decode(Path(source).read_bytes(), source)[0].split("\n")
    except (OSError, UnreadableFile):
        return []


def _one_line(excerpt: Excerpt) -> Text:
    """A result as ``grep`` prints it: ``path:page: sentence``, or the line in text files.

    Behind a row of a table are the names of its columns, and behind a list item its lead-in.
    """
    passage = excerpt.passage
    name = passage.document if passage.source is None else shown_path(passage.source)
    number = excerpt.line if passage.page is None else passage.page
    at = "" if number is None else f":{number}"
    sentence = visible(" ".join(passage.best.text.split()))
    names = names_above(passage) or passage.lead_in
    above = visible(f" ({names})") if names else ""
    return Text.assemble((visible_name(name), "name"), f"{at}: ", sentence, (above, "aside"))


def head(label: str, passage: Passage | Match, out: Console, words: Text) -> Block:
    """The line above a passage: document, page and heading, and what is to be said of it.

    On a terminal the heading loses its end, then the path its folders, then the name its end; a
    page stays. What is to be said gets a line of its own where little room is left beside it.
    """
    name = passage.document if passage.source is None else shown_path(passage.source)
    name, style = visible_name(name), Style(bold=True)
    if passage.source is not None and is_terminal(sys.stdout) and not is_address(passage.source):
        style += Style(link=link_to(passage.source, passage.page))
    details = [described(passage.source) if passage.source is not None else ""]
    details.append(passage.place or "")
    if passage.heading and passage.heading not in details[-1]:  # a sheet's own name
        details.append(passage.heading)
    beside = "".join(f" · {visible(' '.join(each.split()))}" for each in details if each)
    below: Block = []
    if words:
        words = Text.assemble(" · ", words)
    columns = width(sys.stdout)
    if columns is not None:
        room = columns - len(label) - words.cell_len
        if words and room < _BESIDE:
            below, room = wrapped(words[3:], out, columns), columns - len(label)
            words = Text()
        if cell_len(name + beside) > room and cell_len(file := PurePath(name).name) < len(name):
            name = f"…/{file}"
        place = cell_len(f" · {passage.place}") if passage.place else 0
        name = shortened(name, room - min(place, room // 2))
        beside = shortened(beside, room - cell_len(name))
    return [Text.assemble((label, "name"), (name, style), (beside, "aside"), words), *below]


def numbered(number: int) -> str:
    """The label of a result, as wide as the indentation of what is below it."""
    return f"{number}".ljust(len(INDENT) - 1) + " "


def _short(excerpt: Excerpt, words: set[str], out: Console, limits: Limits) -> Block:
    """The answer and a line or two of its context.

    It is what follows it, else what is before it; of a list item its lead-in.
    """
    columns = width(sys.stdout)
    text = visible(" ".join(excerpt.passage.best.text.split()))
    answer = _marked(Text(text, style="answer"), words, [(0, len(text))], out)
    lines = wrapped(answer, out, columns, limits.answer)
    before, after = excerpt.around
    before = " ".join(before.split())
    lines_after = reflowed(after.strip(), excerpt.passage.document).split("\n")
    after = "\n".join(each.strip() for each in lines_after if each.strip())  # list items stay apart
    if excerpt.passage.lead_in:
        before, after = excerpt.passage.lead_in, ""
    context = visible(after or before)
    if not after and columns is not None and limits.context:
        most = limits.context * (columns - 2 * len(INDENT))
        if len(context) > most:  # its end is what leads to the answer
            context = "… " + context[-most:].partition(" ")[2]
    shown = wrapped(Text(context, style="aside"), out, columns, limits.context) if context else []
    return lines + shown if after else shown + lines


def _whole(excerpt: Excerpt, words: set[str], detail: Detail, out: Console) -> Text:
    """A passage as it stands in the document, its answers marked; or an answer with context."""
    passage = excerpt.passage
    text = visible(excerpt.text)
    marked = Text(text if width(sys.stdout) is None else reflowed(text, passage.document))
    hits = nearly_best(passage.hits)
    spans = []
    for hit in hits if detail.full else hits[:1]:
        start = max(0, hit.start - excerpt.start)
        end = start + len(text[start : hit.end - excerpt.start].rstrip())
        marked.stylize("answer", start, end)
        spans.append((start, end))
    if not detail.full:
        (start, end), *_ = spans
        marked.stylize("aside", 0, start)
        marked.stylize("aside", end)
    return _marked(marked, words, spans, out)


def _marked(text: Text, words: set[str], answers: Iterable[Span], out: Console) -> Text:
    """Underline the words of the question, and put signs around the answers without colours."""
    for start, end in matched(text.plain, words):
        text.stylize("word", start, end)
    if out.color_system is not None:
        return text
    left, right = ("»", "«") if can_show("»«", sys.stdout) else (">>", "<<")
    for start, end in sorted(answers, reverse=True):
        before, answer, after = text.divide([start, end])
        text = before.append(left).append_text(answer).append(right).append_text(after)
    return text


def reflowed(text: str, name: str) -> str:
    """Put a space where a line was only broken to fit a page; the text stays as long as it is.

    In other kinds of file than those of ``_BROKEN_KINDS``, a line is a paragraph, a row of a table
    or a line of code.
    """
    if PurePath(name).suffix.lower() not in _BROKEN_KINDS:
        return text
    lines = text.split("\n")
    code = _lines_of_code(lines)
    prose = [not coded and " | " not in line for coded, line in zip(code, lines, strict=True)]
    parts = lines[:1]
    for (before, line), both_prose in zip(pairwise(lines), map(all, pairwise(prose)), strict=True):
        broken = both_prose and len(before.strip()) >= _LONG_LINE and line[:1].isalpha()
        parts += [" " if broken else "\n", line]
    return "".join(parts)


def _lines_of_code(lines: Sequence[str]) -> list[bool]:
    """Whether each line is code between fences; the first fence that names a language opens."""
    fences = [_FENCE.match(line) for line in lines]
    named = [bool(fence[1]) for fence in fences if fence]
    inside = True in named and named.index(True) % 2 == 1
    coded = []
    for fence in fences:
        inside ^= fence is not None
        coded.append(inside or fence is not None)
    return coded


def matched(text: str, words: set[str]) -> Iterator[Span]:
    """Places in the text whose term is one of the question's.

    >>> list(matched("Bees built cells.", {"bee", "cell"}))
    [(0, 4), (11, 16)]
    """
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
