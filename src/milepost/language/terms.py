"""Terms: what a word is, for indexing and for search.

Only ``terms`` decides it. All stores keep its output unchanged, so that candidates and exact scores
agree in every store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

from milepost.language.patterns import late
from milepost.language.stemming import stem

# Accents, points and vowel signs are marks, which \w does not match, and a word must not fall
# apart at each of them; nor at a soft hyphen. The danda, the maqaf and the tsheg are punctuation.
_LETTERS = (
    r"[^\W_]|[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f"
    r"\u0670\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u0f90-\u0fbc]"
)
UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    r"\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Regular expression for a character of a script without spaces between words."""
_GROUPS = r"\d{1,3}(?:[\u00a0\u2009\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)?"
_PERCENT = r"[Pp]er ?cent|[Pp]ro[cz]ent|pour cent|por ciento|per cento"
_SCALE = r"[Bb][Nn]|[Mm][Nn]|[Tt][Nn]"
_BEHIND = rf"[ \u00a0\u202f]?(?:[%€£¥]|(?:{_PERCENT}|{_SCALE})(?!{_LETTERS}))"
# Plain digits are words, alone or before letters, and numbers before a sign of percent or a scale.
_NUMBER = (
    rf"[$€£¥][ \u00a0]?(?:{_GROUPS}|\d+(?:[.,]\d+)*)(?:{_BEHIND}|[MmKk])?(?!{_LETTERS})"
    rf"|{_GROUPS}(?:{_BEHIND})?|\d+(?:[.,]\d+)+(?:{_BEHIND})?|\d+{_BEHIND}"
)
_PARTS = late(r"([$€£¥]?)[ \u00a0]?(\d(?:[\d.,\u00a0\u2009\u202f'’]*\d)?)[ \u00a0\u202f]?(.*)")
_THOUSANDS = late(r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)")
_SPACES = str.maketrans("", "", "\u00a0\u2009\u202f'’")
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_SCALES = {
    "k": "thousand", "m": "million", "mn": "million", "bn": "billion", "tn": "trillion"
}  # fmt: skip
_TOKEN = late(
    rf"(?P<run>{UNSPACED}+)|(?P<number>{_NUMBER})"
    # An apostrophe belongs to the word where an ending follows (it's, we'll), and parts two
    # words where more does (l'arbre, O'Neill).
    rf"|(?P<word>(?:(?!{UNSPACED})(?:{_LETTERS}))+(?:['’](?:{_LETTERS}){{1,2}}(?!{_LETTERS}))?)"
)
# Hamza and madda (U+0653-0655) stay: normalisation puts them back on their letter.
_IGNORED = re.compile(r"[\u00ad\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u0652\u0656-\u065f\u0670]")

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can could did do does doing down during each few for from
    further had has have having he her here hers him his how i if in into is it its itself just me
    might more most must my no nor not now of off on once only or other our out over own same
    shall she should so some such than that the their them then there these they this those
    through to too under until up upon very was we were what when where which while who whom whose
    why will with would you your
    """.split()  # noqa: SIM905 - one word a line would hide the list
)
"""English function words: left out of questions (not of documents), because a question's own
words ("what", "does") are rare in the documents that answer it and would weigh most."""


def terms(text: str, without: Collection[str] = ()) -> list[str]:
    """Split a text into terms, in order and with repeats.

    Case and accents are folded and words stemmed (see ``stemming``). Digits with their separators
    are one term, signs of percent and money beside them are words; runs of a script without spaces
    become pairs of characters.

    Args:
        text: any text.
        without: words to skip, unstemmed and in lower case.

    >>> terms("The cells' Größe: 1,600 studies in 東京都")
    ['the', 'cell', 'gross', '1600', 'studi', 'in', '東京', '京都']
    >>> terms("$1.2bn, 12 % of 1.234,5")
    ['1.2', 'billion', 'dollar', '12', 'percent', 'of', '1234.5']
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

    >>> words_of("¿Cuánto footballs?")
    {'cuanto': 'Cuánto', 'footbal': 'footballs'}
    """
    words: dict[str, str] = {}
    for match in tokens(question):
        for term in terms(match.group()):
            words.setdefault(term, term if match.lastgroup == "run" else match.group())
    return words


def _amount(written: str) -> Iterator[str]:
    """Yield the terms of a number with its signs, in the order in which they are spoken."""
    if (parts := _PARTS.fullmatch(written)) is None:
        return
    before, digits, behind = parts.groups()
    plain = _plain(digits.translate(_SPACES))
    yield plain if plain.isascii() else _fold(plain)
    if scale := _SCALES.get(behind.lower()):
        yield scale
    elif behind and behind not in _CURRENCIES:
        yield "percent"
    if money := before or (behind if behind in _CURRENCIES else ""):
        yield stem(_CURRENCIES[money])


def _plain(digits: str) -> str:
    """Write a number without marks of thousands and with a decimal point.

    Three digits behind the only mark are thousands: both ways of writing them meet, at the price
    of decimals with three places.

    >>> [_plain(each) for each in ("1,234", "1.234", "1.234,5", "1,5", "0.125", "3.10.1998")]
    ['1234', '1234', '1234.5', '1.5', '0.125', '3.10.1998']
    """
    if _THOUSANDS.fullmatch(digits):
        return digits.replace(next(sign for sign in digits if sign in ".,"), "").replace(",", ".")
    return digits.replace(",", "." if digits.count(",") == 1 and "." not in digits else "")


@lru_cache(maxsize=1 << 16)
def _fold(word: str) -> str:
    """Fold the case, accents and possessive of a word and stem it."""
    if not word.isascii():
        word = _IGNORED.sub("", unicodedata.normalize("NFKD", word.replace("’", "'")))
        # Indic signs must come back together; only Latin, Greek and Cyrillic lost theirs. Some
        # ligatures of Arabic come apart as several words.
        word = "".join(unicodedata.normalize("NFC", word).split())
    return stem(word.casefold().removesuffix("'s").replace("'", ""))
