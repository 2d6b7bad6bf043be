"""Lists: what is a point of one, and the sentence in front that says what its points are."""

from __future__ import annotations

import re
from collections.abc import Sequence

BULLET = re.compile(r"[-*+•◦‣▪●○■□◆–—―・※✓✗]\s+\S")
NUMBER = re.compile(r"(?:\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]|#\.|\[\d+\])\s+\S")
"""The beginning of a point: its mark, and the first character behind it."""

_COLONS = (":", "：")


def mark_of(text: str) -> int:
    """The length of the mark of a point, with the space around it; 0 for what is no point.

    >>> mark_of("- dogs and cats"), mark_of("dogs and cats")
    (2, 0)
    """
    blank = len(text) - len(text.lstrip())
    match = BULLET.match(text, blank) or NUMBER.match(text, blank)
    return match.end() - 1 if match else 0


def leads(text: str) -> bool:
    """Whether a sentence ends as that in front of a list does."""
    return text.rstrip().endswith(_COLONS) and not mark_of(text)


def lead_before(sentences: Sequence[str]) -> int | None:
    r"""Which of the sentences before a point is in front of its list.

    None where other text is between them.

    >>> lead_before(["No pets here.\n", "Not allowed are:\n", "- smoking. ", "It is bad.\n"])
    1
    >>> lead_before(["Not allowed are:\n", "- smoking\n", "Welcome!\n"])
    """
    for number in range(len(sentences) - 1, -1, -1):
        if leads(sentences[number]):
            return number
        is_line = number == 0 or sentences[number - 1].endswith("\n")
        if is_line and not mark_of(sentences[number]):
            return None
    return None
