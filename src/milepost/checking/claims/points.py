"""Points of a list, read with the sentence in front of the list, without which they say little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from milepost.documents.sentences import split
from milepost.language.lists import lead_before, leads, mark_of
from milepost.types import Hit

LONGEST = 1200
"""Most characters from the beginning of the sentence in front of a list to a point."""


def with_leads(hits: Sequence[Hit]) -> list[tuple[Hit, str]]:
    """Sentences of a passage in order, points of lists from the sentence in front of them on.

    With each comes what to read of its text, as long as that: of the sentence in front and of the
    point only the words, and blanks for the points between them.
    """
    found: list[tuple[Hit, str]] = []
    lead: int | None = None
    for number, hit in enumerate(hits):
        before = hits[number - 1] if number else None
        is_next = before is not None and before.end == hit.start
        is_line = not is_next or hits[number - 1].text.endswith("\n")
        mark = mark_of(hit.text) if is_line else 0
        if not is_next or (is_line and not mark):
            lead = None
        if mark and lead is not None and hit.start - hits[lead].start <= LONGEST:
            text = "".join(each.text for each in hits[lead : number + 1])
            words = hits[lead].text.rstrip()[:-1]  # a colon ends what a negation denies
            words = words.ljust(len(text) - len(hit.text) + mark) + hit.text[mark:]
            found.append((replace(hit, start=hits[lead].start, text=text), words))
        else:
            found.append((hit, hit.text))
        if leads(hit.text):
            lead = number
        elif mark and hit.text.rstrip().endswith(":"):
            lead = None  # whose points follow, nobody knows
    return found


def leading(text: str, point: Hit) -> list[Hit]:
    """The sentences of a list up to a point, as hits, of the text in front of the point."""
    spans = split(text)
    first = lead_before([text[start:end] for start, end in spans])
    at = point.start - len(text)
    listed = [] if first is None else spans[first:]
    return [replace(point, start=at + a, end=at + b, text=text[a:b]) for a, b in listed]
