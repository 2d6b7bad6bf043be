"""Divide a text into words that tile it, with offsets in characters and in bytes.

A word is a run of white space, a run of letters, numbers and marks (by Unicode category, so that
an Indic word is not broken at its vowel signs), or any other single character. Words have at
most ``CAP`` bytes: long runs (web addresses, scripts without spaces) are cut between characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Literal, NamedTuple
from unicodedata import category

from milepost_lab.model.bytes.tokenizer import as_bytes, clip

CAP = 16
"""Maximum length of a word in bytes."""

Kind = Literal["space", "word", "other"]


class Word(NamedTuple):
    """A piece of a text.

    Attributes:
        text: the piece.
        start, end: offsets in code points, end exclusive.
        first, last: offsets in bytes of UTF-8, end exclusive.
    """

    text: str
    start: int
    end: int
    first: int
    last: int

    @property
    def kind(self) -> Kind:
        """The kind of the word, from its first character."""
        return kind_of(self.text[0])


@lru_cache(maxsize=4096)
def kind_of(character: str) -> Kind:
    """Classify a character as ``space``, ``word`` (letter, number, mark) or ``other``."""
    if character.isspace():
        return "space"
    return "word" if category(character)[0] in "LNM" else "other"


def split_words(text: str, cap: int = CAP) -> list[Word]:
    """Divide a text; the pieces tile it.

    Args:
        text: any string.
        cap: maximum bytes of a piece, at least 4, so that every character fits.

    Raises:
        InputError: the text contains a lone surrogate.

    >>> [word.text for word in split_words(" Hello,  wörld 3.14!")]
    [' ', 'Hello', ',', '  ', 'wörld', ' ', '3', '.', '14', '!']
    """
    words: list[Word] = []
    start = first = 0
    for piece in _pieces(text, cap):
        end, last = start + len(piece), first + len(as_bytes(piece))
        words.append(Word(piece, start, end, first, last))
        start, first = end, last
    return words


def _pieces(text: str, cap: int) -> Iterator[str]:
    for kind, run in groupby(text, kind_of):
        if kind == "other":
            yield from run
            continue
        data = as_bytes("".join(run))
        while data:
            piece = clip(data, cap)
            yield piece.decode("utf-8")
            data = data[len(piece) :]
