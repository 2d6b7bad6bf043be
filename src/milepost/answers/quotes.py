"""Whether words stand in a passage, word for word but for white space."""

from __future__ import annotations

import re

from milepost.types import Span

_EDGES = " \t\n.,;:!?…"
_GAP = re.compile(r"\s*(?:\[\s*)?(?:\.\.\.|…)(?:\s*\])?\s*")
"""An ellipsis, which leaves out words of the passage."""

_LETTER = r"[0-9A-Za-z\u00c0-\u052f]"
"""Of scripts that put spaces between words: Latin, Greek, Cyrillic."""


def find_quote(quote: str, passage: str) -> Span | None:
    r"""Where a quote stands in a passage: from its first word to its last, whole words.

    White space counts as one space, and marks at the quote's edges do not count. The parts of a
    quote with an ellipsis must come in their order.

    >>> find_quote("cells … of wax.", "Bees build cells\nmade of wax, and live there.")
    (11, 28)
    """
    start, end = -1, 0
    for part in _GAP.split(quote.strip(_EDGES)):
        words = part.strip(_EDGES).split()
        if not words:
            continue
        match = _pattern(words).search(passage, end)
        if match is None:
            return None
        start, end = (match.start() if start < 0 else start), match.end()
    return (start, end) if start >= 0 else None


def _pattern(words: list[str]) -> re.Pattern[str]:
    """The words with any white space between them, and no letter right before or behind."""
    before = f"(?<!{_LETTER})" if re.match(_LETTER, words[0]) else ""
    behind = f"(?!{_LETTER})" if re.match(_LETTER, words[-1][-1]) else ""
    return re.compile(before + r"\s+".join(map(re.escape, words)) + behind)
