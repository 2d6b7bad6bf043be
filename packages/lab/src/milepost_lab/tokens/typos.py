"""Typing errors, drawn: what a fast typist does to the letters of a question.

Each letter or digit of a text is hit with a given probability by one of three errors: swapped with
the letter behind it, dropped, or followed by another letter of the same text. White space and
punctuation stay, so words stay apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from milepost.errors import InputError
from milepost_lab.model.bytes.words import kind_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATES = (0.0, 0.05, 0.1, 0.2)
"""Shares of letters that are hit, as tables have them."""

_BUCKETS = 4096
_LEAST, _MOST = 2, 4


def typos(text: str, rate: float, rng: np.random.Generator) -> str:
    """The text with errors.

    Args:
        text: any string.
        rate: chance of each letter to be hit, 0 to 1.
        rng: draws; the same state gives the same errors.

    Raises:
        InputError: the rate is not a share.
    """
    if not 0 <= rate <= 1:
        raise InputError(f"an error rate of {rate} is not a share of letters", "0 to 1")
    letters = [character for character in text if kind_of(character) == "word"]
    left = list(text)
    written: list[str] = []
    place = 0
    while place < len(left):
        character = left[place]
        place += 1
        if kind_of(character) != "word" or rng.random() >= rate:
            written.append(character)
            continue
        kind = int(rng.integers(3))
        if kind == 0 and place < len(left) and kind_of(left[place]) == "word":
            written += [left[place], character]
            place += 1
        elif kind == 1:
            continue
        else:
            written += [character, letters[int(rng.integers(len(letters)))]]
    return "".join(written)


def gram_vector(words: list[str]) -> NDArray[np.float32]:
    """A control without parameters: the mean over words of their hashed n-grams of bytes.

    Grams of 2 to 4 bytes of ``<word>`` (lower case, its ends marked); each is a place and a sign
    out of a hash that is the same on every machine; a word's grams are averaged.

    Args:
        words: as ``split_words`` gives them, without white space.

    Returns:
        ``(4096,)`` at unit length; zeros without a word.
    """
    from zlib import crc32

    total = np.zeros(_BUCKETS, np.float64)
    for word in words:
        data = b"<" + word.lower().encode() + b">"
        grams = [
            data[start : start + size]
            for size in range(_LEAST, _MOST + 1)
            for start in range(len(data) - size + 1)
        ]
        for gram in grams:
            mixed = crc32(gram)
            total[mixed % _BUCKETS] += (1 if mixed & 0x80000000 else -1) / len(grams)
    size = np.linalg.norm(total)
    return (total / size if size > 0 else total).astype(np.float32)
