"""Terms: what a word is, for indexing and for search.

Only ``terms`` decides it. All stores keep its output unchanged, so that candidates and exact scores
agree in every store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise

from milepost.language.detection import ENGLISH_WORDS
from milepost.language.numbers import NUMBER, PERIODS, SAME, amount, others, western
from milepost.language.patterns import late
from milepost.language.stemming import stem
from milepost.language.tex import shown

# Accents, points and vowel signs are marks, which \w does not match, and a word must not fall
# apart at each of them; nor at a soft hyphen. The danda, the maqaf and the tsheg are punctuation.
MARKS = (
    r"[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f"
    r"\u0670\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u0f90-\u0fbc]"
)
_LETTERS = rf"[^\W_]|{MARKS}"
UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    r"\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Regular expression for a character of a script without spaces between words."""
TOKEN = (
    rf"(?P<run>{UNSPACED}+)|(?P<number>{NUMBER})"
    # An apostrophe belongs to the word where an ending follows (it's, we'll), and parts two
    # words where more does (l'arbre, O'Neill).
    rf"|(?P<word>(?:(?!{UNSPACED})(?:{_LETTERS}))+(?:['’](?:{_LETTERS}){{1,2}}(?!{_LETTERS}))?)"
)
"""Regular expression for what becomes terms, see ``tokens``."""
_TOKEN = late(TOKEN)
_DIGIT = re.compile("[0-9]")
_PERIOD_NAMES = {pair.split()[1] for pair in PERIODS}
# Hamza and madda (U+0653-0655) stay: normalisation puts them back on their letter.
IGNORED = r"[\u00ad\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u0652\u0656-\u065f\u0670]"
"""Regular expression for a mark that a folded word lacks."""
_IGNORED = re.compile(IGNORED)
_BARE = str.maketrans("ıłŁøØđĐ", "ilLoOdD")
"""Letters that are not composed of another and a mark, yet are typed without it."""

STOP_WORDS = ENGLISH_WORDS | frozenset(
    """
    a above again against all also am an as at being below do doing down during for her here hers
    i in is itself many me much no now off on once or over own same shall so up was will
    """.split()  # noqa: SIM905 - one word a line would hide the list
)
"""English function words: left out of questions (not of documents), because a question's own
words ("what", "does") are rare in the documents that answer it and would weigh most."""


def terms(text: str, without: Collection[str] = ()) -> list[str]:
    """Split a text into terms, in order and with repeats, without some lower-case words.

    Case and accents are folded and words stemmed (see ``stemming``). Numbers, units and dates have
    terms that all ways of writing them share (see ``numbers``); runs of a script without spaces
    become pairs of characters. What several words are in one form stands behind all of them.

    >>> terms("The cells' Größe: 1,600 studies in 東京都")
    ['the', 'cell', 'gross', '1600', 'studi', 'in', '東京', '京都']
    >>> terms("$1.2bn, 12 % of 1.234,5")
    ['1.2', '1200000000', 'billion', 'dollar', '12', 'percent', 'of', '1234.5']
    >>> terms("on 5 May 2024")
    ['on', '5', 'may', '2024', '2024-05-05', '2024-05']
    """
    found: list[str] = []
    for match in tokens(text):
        kind, word = match.lastgroup, match.group()
        if kind == "word":
            folded = _fold(word)
            if folded and not (without and is_stop_word(word, without)):
                found.append(folded)
        elif kind == "number":
            found.extend(_amount(word))
        else:
            run = "".join(unicodedata.normalize("NFKC", word).split())
            found.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    if ("\\" in text or "{" in text) and (plain := shown(text)) != text:
        held = set(found)
        found.extend(form for form in terms(plain, without) if form not in held)
    if forms := dict.fromkeys(_otherwise(text, found)):
        held = set(found)
        found.extend(form for form in forms if form not in held)
    return found


def tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that become terms; ``lastgroup`` is ``word``, ``number`` or ``run``.

    A run is a sequence of characters of a script without spaces.
    """
    return _TOKEN.finditer(text)


def is_stop_word(word: str, known: Collection[str] = STOP_WORDS) -> bool:
    """Whether a word is a stop word, which is left out of questions."""
    return word.lower().replace("’", "'").removesuffix("'s") in known


def question_terms(question: str) -> list[str]:
    """Return the distinct terms of a question in order, without function words.

    If a question has only function words, they are kept.
    """
    return list(dict.fromkeys(terms(question, STOP_WORDS) or terms(question)))


def words_of(question: str) -> dict[str, str]:
    """Map the terms of a question to its words as they were written, the first of each.

    Terms of scripts without spaces, two characters each, are no words.

    >>> words_of("¿Cuánto footballs?")
    {'cuanto': 'Cuánto', 'footbal': 'footballs'}
    """
    words: dict[str, str] = {}
    for match in tokens(question):
        for term in terms(match.group()) if match.lastgroup != "run" else ():
            words.setdefault(term, match.group())
    return words


def _amount(written: str) -> Iterator[str]:
    """Yield the terms of a number with its unit, in the order in which they are spoken."""
    digits, value, words, is_word = amount(written)
    if is_word:
        yield _fold(written)
    yield digits
    if value != digits:
        yield value
    yield from map(_fold, words)


def _otherwise(text: str, found: list[str]) -> Iterator[str]:
    """Yield what dates, periods and thousands are in one form, beside the terms of their words."""
    if _DIGIT.search(text):
        for form, _, _ in others(text):
            yield form
            if "-" in form and form[0] != "-":  # the month and the year, too
                yield from (form[:7], form[:4])
    if not _PERIOD_NAMES.isdisjoint(found):
        yield from filter(None, map(PERIODS.get, map(" ".join, pairwise(found))))


@lru_cache(maxsize=1 << 16)
def _fold(word: str) -> str:
    """Fold the case, accents and possessive of a word and stem it."""
    if not word.isascii():
        word = _IGNORED.sub("", unicodedata.normalize("NFKD", word.replace("’", "'")))
        # Indic signs must come back together; only Latin, Greek and Cyrillic lost theirs. Some
        # ligatures of Arabic come apart as several words.
        word = "".join(unicodedata.normalize("NFC", word).split())
        word = western(word).translate(_BARE)
    word = word.casefold().removesuffix("'s").replace("'", "")
    return stem(SAME.get(word, word))
