"""Lists: what is a point of one, and the sentence in front that says what its points are."""

from __future__ import annotations

from milepost.documents.lines import BULLET, NUMBER
from milepost.documents.sentences import split
from milepost.types import Span

LONGEST = 1200
"""Characters in front of a point in which the beginning of its list is looked for."""

_COLONS = (":", "：")


def mark_of(text: str) -> int:
    """The length of the mark of a point, with the space around it; 0 for what is no point.

    >>> mark_of("- dogs and cats"), mark_of("dogs and cats")
    (2, 0)
    """
    blank = len(text) - len(text.lstrip())
    match = BULLET.match(text, blank) or NUMBER.match(text, blank)
    return match.end() - 1 if match else 0


def is_lead(text: str) -> bool:
    """Whether a sentence ends as that in front of a list does."""
    return text.rstrip().endswith(_COLONS) and not mark_of(text)


def lead_before(text: str) -> list[Span]:
    r"""The sentences from the one in front of a list to the end of a text, behind which a point is.

    There are none where other text is between them.

    >>> lead_before("Not allowed are:\\n- smoking\\n")
    [(0, 17), (17, 27)]
    """
    sentences = split(text)
    for number in range(len(sentences) - 1, -1, -1):
        start, end = sentences[number]
        if is_lead(text[start:end]):
            return sentences[number:]
        if text[:start].endswith("\n") and not mark_of(text[start:end]):
            return []
    return []
