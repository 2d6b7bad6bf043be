"""Divides a text into sentences that tile it.

Three layers, each only adding borders to the one before: what the reader knew and what the
lines draw (``lines.py``), what the words say (``breaks.py``), what the limit asks
(``cuts.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from milepost.text.breaks import Breaker
from milepost.text.cuts import LIMIT, pieces
from milepost.text.lines import starts

__all__ = ["LIMIT", "split"]

_INK = re.compile(r"\S")


def split(text: str, blocks: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Divide ``text`` into sentences.

    The spans tile the text: the first starts at 0, each starts where the last ended, the last
    ends at ``len(text)``. White space belongs to the sentence before it, at the very beginning
    to the first one. No sentence is longer than ``LIMIT``, white space at its edges not counted.

    Args:
        text: any string; offsets are its code points.
        blocks: offsets at which a sentence must start. One that stands in white space moves to
            the character after it; 0, and any that no character follows, say nothing.

    >>> split("Dr. Who came. He left.")
    [(0, 14), (14, 22)]
    """
    if not text:
        return []
    borders = _borders(text, blocks)
    breaker = Breaker(text)
    spans: list[tuple[int, int]] = []
    start = 0
    for border in [*borders, len(text)]:
        for offset in [*breaker.breaks(start, border), border]:
            if offset - start <= LIMIT:
                spans.append((start, offset))
            else:
                spans.extend(pieces(text, start, offset))
            start = offset
    return spans


def _borders(text: str, blocks: Sequence[int]) -> list[int]:
    """Offsets inside the text where a sentence starts whatever its words are, ascending."""
    first = _INK.search(text)
    if first is None:
        return []
    known = set(starts(text))
    reached = first.start()
    for block in sorted(blocks):
        if block > reached:
            ink = _INK.search(text, block)
            if ink is None:
                break
            reached = ink.start()
            known.add(reached)
    return sorted(offset for offset in known if offset > first.start())
