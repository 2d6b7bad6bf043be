"""Terms, and how well they match: BM25 at several scales.

Only ``terms`` decides what a word is. All stores keep its output unchanged, so that candidates and
exact scores agree in every store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from milepost._patterns import late
from milepost.stemming import stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
"""BM25's saturation and length normalisation: the usual values (Robertson and Zaragoza 2009)."""

SCALES = (0, 1, 3)
"""Numbers of neighbours on each side that a sentence is scored with."""

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
_TOKEN = late(
    rf"(?P<run>{UNSPACED}+)|(?P<number>\d+(?:[.,]\d+)+)"
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

    Case and accents are folded and words stemmed (see ``milepost.stemming``). Digits with their
    separators are one term; runs of a script without spaces become pairs of characters.

    Args:
        text: any text.
        without: words to skip, unstemmed and in lower case.

    >>> terms("The cells' Größe: 1,600 studies in 東京都")
    ['the', 'cell', 'gross', '1600', 'studi', 'in', '東京', '京都']
    """
    found: list[str] = []
    for match in tokens(text):
        kind, word = match.lastgroup, match.group()
        if kind == "word":
            folded = _fold(word)
            if folded and not (without and is_stop_word(word, without)):
                found.append(folded)
        elif kind == "number":
            found.append(word.replace(",", ""))
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


@lru_cache(maxsize=1 << 16)
def _fold(word: str) -> str:
    """Fold the case, accents and possessive of a word and stem it."""
    if not word.isascii():
        word = _IGNORED.sub("", unicodedata.normalize("NFKD", word.replace("’", "'")))
        # Indic signs must come back together; only Latin, Greek and Cyrillic lost theirs. Some
        # ligatures of Arabic come apart as several words.
        word = "".join(unicodedata.normalize("NFC", word).split())
    return stem(word.casefold().removesuffix("'s").replace("'", ""))


def idf(frequency: int, sentences: int) -> float:
    """Compute the inverse document frequency of a term over sentences; never negative.

    ``ln(1 + (N - f + 1/2) / (f + 1/2))``
    """
    from math import log

    return log(1.0 + (sentences - frequency + 0.5) / (frequency + 0.5))


def bm25(
    counts: Mapping[str, NDArray[np.float32]],
    lengths: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    weights: Mapping[str, float],
    mean_length: float,
    scales: Sequence[int] = SCALES,
    *,
    k1: float = K1,
    b: float = B,
) -> NDArray[np.float32]:
    """Compute BM25 of every sentence together with its neighbours, at several scales.

    At scale ``s``, the text of a sentence includes ``s`` sentences on each side in its document.
    The mean length is scaled accordingly; the rarity of terms remains that of single sentences.

    ``Σ_t w_t · f (k1 + 1) / (f + k1 (1 - b + b L / mean))``

    Args:
        counts: ``(n,)`` for each term: its frequency in each of the ``n`` sentences.
        lengths: ``(n,)``: number of terms of each sentence.
        document_offsets: ``(d + 1,)``: first sentence of each document, and ``n``.
        weights: rarity of each term.
        mean_length: mean number of terms of a sentence in the whole index.
        scales: numbers of neighbours on each side.
        k1: saturation of repeated terms; higher values saturate more slowly.
        b: strength of the length normalisation, 0–1.

    Returns:
        ``(len(scales), n)`` float32.
    """
    import numpy as np

    result = np.zeros((len(scales), len(lengths)), np.float32)
    for row, scale in enumerate(scales):
        bounds = _bounds(len(lengths), document_offsets, scale)
        reach = _sums(lengths, bounds)
        usual = max(mean_length, 1e-6) * (2 * scale + 1)
        norm = k1 * (1.0 - b + b * reach / usual)
        for term, weight in weights.items():
            often = _sums(counts[term], bounds)
            result[row] += weight * often * (k1 + 1.0) / np.maximum(often + norm, 1e-6)
    return result


def windowed(
    values: NDArray[np.float32], document_offsets: NDArray[np.int64], reach: int
) -> NDArray[np.float32]:
    """Sum each value with its ``reach`` neighbours on both sides, within documents.

    Args:
        values: ``(n,)``.
        document_offsets: ``(d + 1,)``: first row of each document, and ``n``.
        reach: number of neighbours on each side; 0 returns the values.
    """
    return _sums(values, _bounds(len(values), document_offsets, reach))


def averaged(
    values: NDArray[np.float32], document_offsets: NDArray[np.int64], reach: int
) -> NDArray[np.float32]:
    """Average each value with its ``reach`` neighbours on both sides; see ``windowed``."""
    import numpy as np

    ones = np.ones(len(values), np.float32)
    mean: NDArray[np.float32] = windowed(values, document_offsets, reach) / windowed(
        ones, document_offsets, reach
    )
    return mean


_Bounds = tuple["NDArray[np.int64]", "NDArray[np.int64]"] | None
"""First row and row after the last of what is summed for each row; None: the row itself."""


def _bounds(count: int, document_offsets: NDArray[np.int64], reach: int) -> _Bounds:
    import numpy as np

    if reach == 0 or not count:
        return None
    rows = np.arange(count)
    sizes = np.diff(document_offsets)
    low = np.maximum(rows - reach, np.repeat(document_offsets[:-1], sizes))
    high = np.minimum(rows + reach + 1, np.repeat(document_offsets[1:], sizes))
    return low, high


def _sums(values: NDArray[np.float32], bounds: _Bounds) -> NDArray[np.float32]:
    import numpy as np

    if bounds is None:
        return values
    totals = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    return (totals[bounds[1]] - totals[bounds[0]]).astype(np.float32)
