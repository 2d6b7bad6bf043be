"""The passages that an answer cites: where each stands, and whether it says what is cited."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from milepost.cli.answer import head, shown_path
from milepost.cli.console.screen import page, print_line, visible, width

if TYPE_CHECKING:
    from milepost.answers import Answer, Citation
    from milepost.cli.console.screen import Colour
    from milepost.types import Passage

_WORDS = {
    "verbatim": ("word for word", "right"),
    "near": ("nearly word for word", "right"),
    "supported": ("supported", "right"),
    "contradicted": ("contradicted", "wrong"),
    "related": ("about this: read it", "doubtful"),
    "unsupported": ("not supported", "doubtful"),
    "unquoted": ("in other words: check it", "doubtful"),
    "misquoted": ("quoted wrongly", "wrong"),
    "missing": ("no such passage", "wrong"),
}
"""Verdict → how it is said, and its style."""

_WORST = (
    *("missing", "misquoted", "contradicted", "unsupported", "unquoted", "related"),
    *("supported", "near", "verbatim"),
)


def print_sources(passages: Sequence[Passage], answer: Answer, colour: Colour) -> None:
    """Print the cited passages on stdout, by number, each with the worst of its verdicts."""
    from rich.text import Text

    cited: dict[int, list[Citation]] = {}
    for citation in answer.citations:
        cited.setdefault(citation.number, []).append(citation)
    columns = width(sys.stdout)
    with page(colour) as out:
        for number in sorted(cited):
            verdict = min((each.verdict for each in cited[number]), key=_WORST.index)
            worst = [each for each in cited[number] if each.verdict == verdict]
            words, style = _WORDS[verdict]
            if verdict == "supported" and all(each.support for each in worst):
                words += f", {min(map(_score, worst)):.0%}"
            label, said = f"[{number}] ", Text(words, style=style)
            if 1 <= number <= len(passages):
                passage = passages[number - 1]
                said = Text.assemble(f"{passage.score:.0%} · ", said)
                print_line(out, head(label, passage, columns, said))
            else:
                print_line(out, Text.assemble((label, "name"), said))
            for shown in dict.fromkeys(line for each in worst for line in _lines(each)):
                print_line(out, Text(f"    {visible(shown)}", style="aside"))


def _score(citation: Citation) -> float:
    """The probability that the passage holds evidence about the sentence."""
    return (citation.support and citation.support.score) or 0.0


def _lines(citation: Citation) -> Iterator[str]:
    """The quotes that a verdict rests on, or the sentence that the passage does not support."""
    for quote in citation.quotes:
        yield f"“{' '.join(quote.split())}”"
    if citation.verdict != "unsupported":
        return
    yield f"“{' '.join(citation.sentence.split())}”{_elsewhere(citation)}"


def _elsewhere(citation: Citation) -> str:
    """Where else a sentence is supported, in words; nothing where it is not."""
    support = citation.support
    if support is None:
        return ""
    where = f"[{support.number}]"
    if support.number is None:
        page = "" if support.page is None else f" · page {support.page}"
        where = shown_path(support.document) + page
    return f", but by {where}: " + (
        "its words" if support.score is None else f"{support.score:.0%}"
    )
