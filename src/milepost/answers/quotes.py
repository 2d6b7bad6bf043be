"""Whether words stand in a passage, word for word as ``milepost check`` means it."""

from __future__ import annotations

import re

from milepost.quotes import fold, occurrences, stripped
from milepost.types import Span

_EDGES = " \t\n.,;:!?…"
_GAP = re.compile(r"\s*(?:\[\s*)?(?:\.\.\.|…)(?:\s*\])?\s*")
"""An ellipsis, which leaves out words of the passage."""


def find_quote(quote: str, passage: str) -> Span | None:
    r"""Where a quote stands in a passage: from its first word to its last, whole words.

    White space, hyphens at the ends of lines, case and typography may differ, and marks at the
    quote's edges do not count. The parts of a quote with an ellipsis must come in their order.

    >>> find_quote("cells … of wax.", "Bees build cells\nmade of wax, and live there.")
    (11, 28)
    """
    text = fold(passage)
    start, end = -1, 0
    for part in _GAP.split(quote.strip(_EDGES)):
        given = stripped(part.strip(_EDGES))
        if not given.letters:
            continue
        found = next((each for each in occurrences(given, text) if each.start >= end), None)
        if found is None:
            return None
        start, end = (found.start if start < 0 else start), found.end
    return (start, end) if start >= 0 else None
