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
    from milepost.types import CheckResult, Match

GIVEN, THERE = "red strike", "green bold"
"""Styles of words that were given and are not in the text, and of those that are in their place."""

_LINES = {
    "verbatim": "verbatim",
    "near": "nearly verbatim: some words differ",
    "supported": "not verbatim; supported by what follows",
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
            if place.differences:
                line.append(f" · {place.similarity:.0%} of the words", style="dim")
            print_line(out, line)
            _print(out, _marked(place, coloured), columns)
        if len(check.places) > _SHOWN:
            print_line(out, f"and {len(check.places) - _SHOWN} more places; --json gives them")
        for number, passage in enumerate(check.passages, 1):
            print_line(out, head(number, passage, passage.score))
            _print(out, body(passage, set(), columns), columns)


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
