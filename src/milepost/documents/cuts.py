"""Cut text without a sentence end within the limit: at clauses, else at spaces, else anywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LIMIT = 600
"""Maximum characters of a sentence, not counting white space at its edges. Windows hold sentences
of at most 128 tokens, about 600 characters of English, and cut longer ones again."""

_WHERE = (
    re.compile(r"[!?…;:][\"'”’»)\]]*\s+|[。！？｡；：।॥؟؛][」』）”’]*\s*"),
    re.compile(r"[,،)\]–—-]\s+|[、，]\s*|\s[–—-]\s|[|]\s+"),
    re.compile(r"\s+"),
)
"""Places to cut, best first; the cut comes after the white space."""

_MODIFIERS = range(0x1F3FB, 0x1F400)
_FLAGS = range(0x1F1E6, 0x1F200)
_JAMO = range(0x1160, 0x1200)
_JOINER = "\u200d"


def pieces(text: str, start: int, end: int, limit: int = LIMIT) -> Iterator[tuple[int, int]]:
    """Tile ``text[start:end]`` with spans of at most ``limit`` characters.

    White space at the edges of a span does not count.
    """
    stop = start + len(text[start:end].rstrip())
    while stop - _skip_space(text, start, stop) > limit:
        cut = _cut(text, _skip_space(text, start, stop), stop, limit)
        yield start, cut
        start = cut
    yield start, end


_SPACE = re.compile(r"\s*")


def _skip_space(text: str, start: int, stop: int) -> int:
    match = _SPACE.match(text, start, stop)
    return match.end() if match else start


def _cut(text: str, start: int, stop: int, limit: int) -> int:
    """Find the end of the first piece of ``text[start:stop]``, which is too long for one."""
    length = stop - start
    aim = start + -(-length // -(-length // limit))  # pieces of about equal length
    low, high = start + limit // 4, start + limit
    for where in _WHERE:
        ends = [match.end() for match in where.finditer(text, low, min(high, stop))]
        if ends:
            return _skip_space(text, min(ends, key=lambda end: abs(end - aim)), stop)
    return next((place for place in range(aim, low, -1) if divides(text, place)), aim)


def divides(text: str, offset: int) -> bool:
    """Whether ``offset`` is between two visible characters (grapheme clusters)."""
    before, after = text[offset - 1], text[offset]
    if before.isascii() and after.isascii():
        return (before, after) != ("\r", "\n")
    if unicodedata.category(after)[0] == "M" or _JOINER in (before, after):
        return False
    if unicodedata.combining(before) == 9:  # a virama joins the next consonant
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if ord(after) in _FLAGS and ord(before) in _FLAGS:
        return False
    return ord(after) not in _MODIFIERS and ord(after) not in _JAMO
