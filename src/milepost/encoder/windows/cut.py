"""Cut over-long sentences at clauses, so that nothing is truncated."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

_CLAUSE = frozenset(";:,)]}—–、，；：）」』،؛")


def cut(text: str, starts: Sequence[int], ends: Sequence[int], longest: int) -> list[int]:
    """Find the tokens at which to cut a sentence into pieces of at most ``longest`` tokens.

    The cut comes after the last bar between cells in the second half of the piece, else after the
    last clause mark of that half, else at its last white space, else at the limit. Tokens cover
    characters ``starts[i] … ends[i] - 1``. The first token of each piece but the first is returned.

    >>> cut("a, b c d", [0, 1, 3, 5, 7], [1, 2, 4, 6, 8], longest=3)
    [2]
    """
    cuts: list[int] = []
    first, count = 0, len(starts)
    while count - first > longest:
        limit = first + longest
        candidates = range(limit, first + longest // 2, -1)
        bars = (n for n in candidates if text[ends[n - 1] - 2 : ends[n - 1] + 1] == " | ")
        clauses = (n for n in candidates if _ends_clause(text, ends[n - 1]))
        spaces = (n for n in candidates if starts[n] > ends[n - 1])
        first = next(chain(bars, clauses, spaces), limit)
        cuts.append(first)
    return cuts


def _ends_clause(text: str, end: int) -> bool:
    """Whether a mark before ``end`` ends a clause, and is not inside a number or a time."""
    is_inside = text[end - 2 : end - 1].isdigit() and text[end : end + 1].isdigit()
    return text[end - 1] in _CLAUSE and not is_inside
