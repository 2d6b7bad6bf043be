"""What a probability means in words: one scale for the terminal, the page and agents."""

from __future__ import annotations

WEAK = 20
"""Percentage below which a passage is probably no answer."""

_SCALE = ((70, "very likely"), (40, "likely"), (WEAK, "possible"))
_WEAK = "related, but probably not an answer"


def in_words(probability: float) -> str:
    """Say how likely it is that a passage answers, with the percentage.

    Args:
        probability: 0–1, such as ``Passage.score``.

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


def percentage(probability: float) -> str:
    """A probability, 0–1, as users read it: ``12%``."""
    return f"{_percent(probability)}%"


def _percent(probability: float) -> int:
    return int(100 * probability + 0.5)  # what is printed decides, so that words and number agree
