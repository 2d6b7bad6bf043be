"""Token F1 of an answer, as LongBench measures it (Bai et al. 2024, ``qa_f1_score``).

It is the F1 of SQuAD (Rajpurkar et al. 2016).
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable

from milepost.terms import UNSPACED

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_PARTS = re.compile(rf"{UNSPACED}|(?:(?!{UNSPACED}).)+")


def f1(answer: str, references: Iterable[str]) -> float:
    """The best F1 with one of the reference answers, 0–1.

    ``2pr / (p + r)`` with ``p`` the share of the answer's words that the reference has too, and
    ``r`` the share of the reference's words that the answer has; repeats count.

    >>> round(f1("In Paris, the capital.", ["Paris", "the capital of France"]), 3)
    0.5
    """
    return max((_f1(words(answer), words(reference)) for reference in references), default=0.0)


def words(text: str) -> list[str]:
    """Words in lower case, without ASCII punctuation and English articles.

    Where spaces do not show words (Chinese, Japanese, Thai …), each character counts as one and
    the punctuation between them as none.

    >>> words("The well-known Cat's 東京。")
    ['wellknown', 'cats', '東', '京']
    """
    plain = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION))
    return [part for word in plain.split() for part in _parts(word)]


def _parts(word: str) -> list[str]:
    """The word itself, or the characters of a script without spaces."""
    parts = _PARTS.findall(word)
    return parts if len(parts) == 1 else [part for part in parts if not _is_punctuation(part)]


def _is_punctuation(part: str) -> bool:
    return all(unicodedata.category(letter).startswith("P") for letter in part)


def _f1(answer: list[str], reference: list[str]) -> float:
    shared = (Counter(answer) & Counter(reference)).total()
    # 2pr / (p + r) with p = shared / len(answer) and r = shared / len(reference)
    return 2 * shared / (len(answer) + len(reference)) if shared else 0.0
