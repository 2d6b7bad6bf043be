"""Numbers in words: counts, and what a probability means, one scale for all screens."""

from __future__ import annotations

import re
from math import floor

CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""Controls, line breaks, changes of direction and halves of surrogate pairs, for a character
class: they break lines, reorder text, or cannot be written as UTF-8."""
CONTROL = re.compile(f"[{CONTROLS}]")

_HALF = re.compile(r"[\ud800-\udfff]")

_OPTION = re.compile(r"; (?:(?!; ).)*?(?<![^\s(])--[a-z].*", re.DOTALL)

WEAK = 20  # percentage below which a passage is probably no answer

PROBABLE = WEAK / 100
"""The same as a probability: from it on, a passage is worth marking or a place in a table."""

_SCALE = ((70, "very likely"), (40, "likely"), (WEAK, "possible"))
_WEAK = "related, but probably not an answer"


def whole(text: str) -> str:
    """A text of the same length in which halves of surrogate pairs are U+FFFD.

    They are no characters, and cannot be written as UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
    return text


def counted(number: int, noun: str) -> str:
    """A number and what it counts, in the plural unless it is one.

    >>> counted(1, "document"), counted(2000, "sentence")
    ('1 document', '2,000 sentences')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def without_options(note: str) -> str:
    """A note for those who gave no command: without the part that names an option of one.

    >>> without_options("page 2 has hidden text, left out; --hidden keep reads it")
    'page 2 has hidden text, left out'
    """
    return _OPTION.sub("", note)


def in_words(probability: float) -> str:
    """Say how likely it is, 0–1, that a passage answers, with the percentage.

    >>> in_words(0.923)
    'very likely, 92%'
    >>> in_words(0.03)
    'related, but probably not an answer, 3%'
    """
    percent = _percent(probability)
    words = next((words for least, words in _SCALE if percent >= least), _WEAK)
    return f"{words}, {percentage(probability)}"


def is_weak(probability: float) -> bool:
    """Whether a passage is probably no answer, so that it is counted instead of shown."""
    return _percent(probability) < WEAK


def nothing_reaches(min_score: float, best: float, answerable: float | None = None) -> str:
    """Say that no passage is as likely as was wanted, and how likely the best one, or any, answers.

    >>> nothing_reaches(0.5, 0.4999)
    'nothing found at 50% or more; the best passage has 49.9%'
    """
    most = best if answerable is None else min(best, answerable)
    shown = floor(1000 * most) / 10  # rounded up it could reach what it is short of
    whose = "the best passage" if most == best else "an answer in any passage"
    return f"nothing found at {100 * min_score:g}% or more; {whose} has {shown:g}%"


def percentage(probability: float) -> str:
    """A probability, 0–1, as users read it: ``12%``."""
    return f"{_percent(probability)}%"


def _percent(probability: float) -> int:
    # What is printed decides, so that words and number agree. Nothing is certain.
    return min(99, max(1, int(100 * probability + 0.5)))
