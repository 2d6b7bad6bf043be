"""The result of a check for people: the verdict, the places, and the words that differ."""

from __future__ import annotations

import sys

from rich.text import Text

from milepost.cli.answer import Excerpt, head, numbered, print_excerpts, print_fitting, room_above
from milepost.cli.console.layout import Block, Limits, wrapped
from milepost.cli.console.screen import Colour, page, print_line, visible, width
from milepost.cli.question import Detail
from milepost.verdicts import CheckResult, Difference, Match
from milepost.wording import counted

_LINES = {
    "verbatim": "verbatim",
    "near": "nearly verbatim: some words differ",
    "stitched": "stitched: pieces of several places, each word for word",
    "found elsewhere": "found elsewhere, in a document that was not named",
    "supported": "supported: this sentence probably says so in other words",
    "contradicted": "contradicted: this sentence probably says something else",
    "related": "related: these passages may support or contradict it; read them",
    "not found": "not found",
}

_LINES_OF_PARTS = {
    "stitched": "stitched: its sentences are in several places, each word for word",
    "supported": "supported: each sentence is there, or probably in other words",
    "contradicted": "contradicted: a sentence of it probably says something else",
    "related": "related: not every sentence is there; read what is",
}


def print_check(check: CheckResult, detail: Detail, colour: Colour, below: int) -> None:
    """Print a verdict with its places or passages on stdout: on a terminal, a screen of them.

    ``below`` is the number of lines that are printed on the same terminal afterwards.
    """
    columns = width(sys.stdout)

    def place(number: int, limits: Limits) -> Block:
        each = check.places[number]
        words = []
        if each.ignored:
            words.append(f"but for {_listed(each.ignored)}")
        exact = [part for part in each.differences if part.kind is not None]
        inline = check.verdict != "contradicted"  # a claim's words may stand in any order
        if inline and each.differences:
            words.append(f"{each.similarity:.0%} of the words")
        text = _marked(each, out.color_system is not None, inline=inline)
        return [
            *head(numbered(number + 1), each, out, Text(" · ".join(words))),
            *wrapped(text, out, columns, limits.answer),
            *(line for part in exact for line in wrapped(Text(_said(part)), out, columns)),
        ]

    with page(colour, long=detail.long) as out:
        lines = _LINES | (_LINES_OF_PARTS if check.parts else {})
        print_line(out, Text(lines[check.verdict], style="name"))
        for part in check.parts:
            line = Text(f"{part.verdict}: ", style="name").append(visible(part.text), "")
            for each in wrapped(line, out, columns):
                print_line(out, each)
        room = None if detail.long else room_above(below + 1)
        if left := len(check.places) - print_fitting(len(check.places), place, out, room):
            print_line(out, f"{counted(left, 'more place')}: --all")
        # The sentence that decides is shown; passages are for those who have to judge themselves.
        passages = () if check.places else check.passages
        excerpts = [Excerpt(each, each.start, each.text) for each in passages]
        print_excerpts(excerpts, set(), detail, out, room)


def _said(difference: Difference) -> str:
    given, there = (visible(" ".join(each.split())) for each in (difference.given, difference.text))
    if not there:
        return f"{difference.kind}: the text says it without {given!r}"
    instead = f", not {given!r}" if given else ""
    return f"{difference.kind}: the text says {there!r}{instead}"


def _marked(place: Match, coloured: bool, *, inline: bool) -> Text:
    """A place's text, ``inline`` with ``[-given-]{+in the text+}``, the signs without colours.

    White space at line breaks stays, so that what is printed is what the document has.
    """
    marked = Text()
    at = place.start
    for each in place.differences if inline else ():
        marked.append(visible(place.text[at - place.start : each.start - place.start]), "answer")
        if each.given:
            given = visible(" ".join(each.given.split()))
            marked.append(given if coloured else f"[-{given}-]", "missing")
        if each.text:
            there = visible(each.text)
            marked.append(there if coloured else f"{{+{there}+}}", "added")
        at = each.end
    marked.append(visible(place.text[at - place.start :]), "answer")
    return marked


def _listed(words: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
