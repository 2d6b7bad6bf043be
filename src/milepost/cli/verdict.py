"""The result of a check for people: the verdict, the places, and the words that differ."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from milepost.cli.answer import HIT, body, head, lines
from milepost.console.screen import has_colours, page, print_line, visible, width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from milepost.console.screen import Colour
    from milepost.types import CheckResult, Difference, Match

GIVEN, THERE = "red strike", "green bold"
"""Styles of words that were given and are not in the text, and of those that are in their place."""

_LINES = {
    "verbatim": "verbatim",
    "near": "nearly verbatim: some words differ",
    "stitched": "stitched: pieces of several places, each word for word",
    "found elsewhere": "found elsewhere, in a document that was not named",
    "supported": "supported: this sentence says so in other words",
    "contradicted": "contradicted: this sentence says something else",
    "related": "related: these passages may support or contradict it; read them",
    "not found": "not found",
}
_SHOWN = 10  # places; --json gives all


def print_check(check: CheckResult, colour: Colour) -> None:
    """Print a verdict with its places or passages on stdout."""
    from rich.text import Text

    columns = width(sys.stdout)
    coloured = has_colours(colour, sys.stdout)
    with page(colour) as out:
        print_line(out, Text(_LINES[check.verdict], style="bold"))
        for number, place in enumerate(check.places[:_SHOWN], 1):
            line = head(number, place)
            if place.ignored:
                line.append(f" · but for {_listed(place.ignored)}", style="dim")
            if place.differences and place.differences[0].kind is None:
                line.append(f" · {place.similarity:.0%} of the words", style="dim")
            print_line(out, line)
            _print(out, _marked(place, coloured), columns)
            for each in place.differences:
                if each.kind is not None:
                    print_line(out, Text(f"   {_said(each)}"))
        if len(check.places) > _SHOWN:
            print_line(out, f"and {len(check.places) - _SHOWN} more places; --json gives them")
        # The sentence that decides is shown; passages are for those who have to judge themselves.
        for number, passage in enumerate(check.passages if not check.places else (), 1):
            print_line(out, head(number, passage, passage.score))
            _print(out, body(passage, set(), columns), columns)


def _said(difference: Difference) -> str:
    """A difference that contradicts, in words."""
    given, there = (visible(" ".join(each.split())) for each in (difference.given, difference.text))
    if not there:
        return f"{difference.kind}: the text says it without {given!r}"
    return f"{difference.kind}: the text says {there!r}, not {given or 'this'!r}"


def _print(out: Console, text: Text, columns: int | None) -> None:
    for line in lines(text, out, columns):
        print_line(out, line)


def _marked(place: Match, coloured: bool) -> Text:
    """A place's text with the differences: ``[-given-]{+in the text+}``, the signs without colours.

    White space at line breaks stays, so that what is printed is what the document has.
    """
    from rich.text import Text

    marked = Text()
    at = place.start
    for each in place.differences:
        if each.kind is not None:  # what contradicts stands elsewhere, and is said below
            continue
        marked.append(visible(place.text[at - place.start : each.start - place.start]), HIT)
        if each.given:
            given = visible(" ".join(each.given.split()))
            marked.append(given if coloured else f"[-{given}-]", GIVEN)
        if each.text:
            there = visible(each.text)
            marked.append(there if coloured else f"{{+{there}+}}", THERE)
        at = each.end
    marked.append(visible(place.text[at - place.start :]), HIT)
    return marked


def _listed(words: tuple[str, ...]) -> str:
    """Words with commas, and an "and" before the last."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
