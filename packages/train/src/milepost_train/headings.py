"""Which lines of a text are headings, and what they say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from milepost.types import Mark, Span

BEFORE = re.compile(
    r"^(?:§+ ?[\w.–-]+|(?:section|chapter|part|article|step|rule|option) [\w.]+"
    r"|\(?[0-9]+(?:\.[0-9]+)*[.):]?|[IVXLC]+\.|[A-Z]\.)(?::|\s)\s*",
    re.I,
)
_CODE = re.compile(r"[{}<>=$|\\`#@\[\]*_~^]|https?:|::|->|\w\(\)|--|^\W|\.\w+\.\w|/\w+/")
ITEM = re.compile(r"(?:[-*•–] |\(?[0-9a-z]{1,3}[.)] )")
_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?!\s*\n))*")
_SPEECH = re.compile(r"[\"“”]|^['‘]|[,.!?-]['’]")
_TURN = re.compile(r"(?m)^(?P<name>[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){0,3}): (?P<said>.+)$")


def headings_of(text: str, marks: Sequence[Mark] = ()) -> Mapping[Span, str]:
    """The lines of headings of a text and their words, ascending.

    Headings among its ``marks`` are believed; where a format has none, a paragraph is one that
    looks like it.
    """
    marked: dict[Span, str] = {}
    for mark in marks:
        if mark.kind == "heading":
            start = text.rfind("\n", 0, mark.offset) + 1  # Markdown's signs are a part of it
            end = text.find("\n", mark.offset)
            marked[start, len(text) if end < 0 else end] = " ".join(mark.value.split())
    if marked:
        return dict(sorted(marked.items()))
    return {
        (start, end): " ".join(text[start:end].split())
        for start, end in (match.span() for match in _PARAGRAPH.finditer(text))
        if _is_heading(text[start:end])
    }


def _is_heading(words: str) -> bool:
    """Whether a paragraph is a heading: one short line of words that ends as no sentence does."""
    bare = BEFORE.sub("", words)
    return (
        "\n" not in words
        and 2 < len(bare) <= 110
        and len(bare.split()) <= 14
        and not ITEM.match(words)
        and not _CODE.search(bare)
        and not _SPEECH.search(bare)
        and (bare[0].isupper() or bare != words)
        and (bare[-1] not in ".:;,!" or words != bare)
        and not _TURN.match(words)
        and any(letter.isalpha() for letter in bare)
    )
