"""Lists: their items, and the lead-in, the sentence that says what the items are."""

from __future__ import annotations

import re
from collections.abc import Sequence

BULLET = re.compile(r"[-*+•◦‣▪●○■□◆–—―・※✓✗]\s+\S")
NUMBER = re.compile(r"(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]|#\.|\[\d+\])\s+\S")
"""The beginning of an item: its marker, and the first character behind it."""

_COLONS = (":", "：")
_QUESTION = re.compile(r"[?？؟][\"'”’»)*_]*\s*$")


def marker_of(text: str) -> int:
    """The length of the marker of a list item, with the space around it; 0 for other text.

    >>> marker_of("- dogs and cats"), marker_of("dogs and cats")
    (2, 0)
    """
    blank = len(text) - len(text.lstrip())
    match = BULLET.match(text, blank) or NUMBER.match(text, blank)
    return match.end() - 1 if match else 0


def indent_behind(text: str) -> int | None:
    r"""By how much the line is indented that begins behind a sentence; None where none begins.

    >>> indent_behind("- pets:\n  "), indent_behind("No pets. ")
    (2, None)
    """
    _, line, blank = text[len(text.rstrip()) :].rpartition("\n")
    return len(blank) if line else None


def is_question(text: str) -> bool:
    """Whether a sentence ends as a question does."""
    return _QUESTION.search(text) is not None


def is_lead_in(text: str) -> bool:
    """Whether a sentence ends as the lead-in of a list does."""
    return text.rstrip().endswith(_COLONS) and not marker_of(text)


def lead_in_before(sentences: Sequence[str]) -> int | None:
    r"""Which of the sentences before a list item is its lead-in.

    None where other text is between them.

    >>> lead_in_before(["No pets here.\n", "Not allowed are:\n", "- smoking. ", "It is bad.\n"])
    1
    >>> lead_in_before(["Not allowed are:\n", "- smoking\n", "Welcome!\n"])
    """
    for number in range(len(sentences) - 1, -1, -1):
        if is_lead_in(sentences[number]):
            return number
        is_line = number == 0 or indent_behind(sentences[number - 1]) is not None
        if is_line and not marker_of(sentences[number]):
            return None
    return None
