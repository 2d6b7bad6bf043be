"""Where in a text an alignment with a quotation is worth its time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

from milepost._numpy import NDArray, np
from milepost.quotes.folding import Folded
from milepost.quotes.gaps import is_unspaced
from milepost.quotes.words import Words

_PLACES = 16  # maximum number of stretches: those that share the rarest words with the quotation
_SHARE = 0.2  # share of the quotation's words, by rarity, that a stretch must hold
_ANCHORS = 256  # words of the quotation that are looked for, the longest ones
_FEW = 8  # words that find a place among many like it; with fewer, the short ones are needed
_FREQUENT = 3_000  # times in the text from which a word says too little of where the quotation is


def stretches(given: Words, text: Folded) -> list[tuple[int, int]]:
    """Start and end, in code points of the text, of stretches that may nearly hold a quotation.

    The quotation's words are looked for in the folded text, each at all its places. A pair of
    places votes for a diagonal: how far the quotation would have to be moved. An alignment with
    few words added or missing lies on neighbouring diagonals. Best first; they may overlap.
    """
    size, count = len(given.folded.letters), len(text.letters)
    diagonals, numbers, rarity = _votes(given, text.letters)
    if not len(diagonals):
        return []
    width = max(60, math.ceil(0.5 * size))
    buckets = (diagonals + size) // width  # diagonals begin at -size
    # A word of the quotation votes once for a pair of neighbouring buckets.
    many = len(rarity)
    distinct = np.unique(np.concatenate((buckets * many + numbers, (buckets + 1) * many + numbers)))
    score = np.bincount(distinct // many, rarity[distinct % many])
    order = np.argsort(-score, kind="stable")[: max(2, min(_PLACES, 40_000 // size))]
    found = []
    for bucket in order[score[order] >= _SHARE * rarity.sum()].tolist():
        low = (bucket - 1) * width - size
        first, last = max(0, low - 20), min(count, low + 2 * width + size + 20)
        if first < last:
            # With the signs around: "-5".
            start = int(text.places[first - 1]) + 1 if first else 0
            found.append((start, int(text.places[last]) if last < count else len(text.text)))
    return found


def _votes(
    given: Words, letters: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Diagonals of pairs of equal places, which place of the quotation it is, and its rarity."""
    found = [
        (np.array(list(_places(anchor, letters)), np.int64), positions)
        for anchor, positions in _anchors(given).items()
    ]
    rare = [each for each in found if len(each[0]) <= _FREQUENT]
    if any(len(places) for places, _ in rare):
        found = rare
    votes = [(places, position) for places, positions in found for position in positions]
    rarity = [math.log1p(len(letters) / (1.0 + len(places))) for places, _ in votes]
    numbers = [np.full(len(places), number, np.int64) for number, (places, _) in enumerate(votes)]
    none = np.empty(0, np.int64)
    return (
        np.concatenate([none, *(places - position for places, position in votes)]),
        np.concatenate([none, *numbers]),
        np.array(rarity, np.float64),
    )


def _anchors(given: Words) -> dict[str, list[int]]:
    """Long words and numbers, with their places among the quotation's letters.

    In scripts without spaces it is runs of three characters; where there are few, all words.
    """
    letters = given.folded.letters
    spans = list(zip(given.firsts.tolist(), given.lasts.tolist(), strict=True))
    chosen = [(a, b) for a, b in spans if b - a > 3 or letters[a].isdigit()]
    unspaced = [(a, b) for a, b in spans if is_unspaced(letters[a])]
    for _, run in groupby(enumerate(unspaced), lambda item: item[1][0] - item[0]):
        ends = [span for _, span in run]
        chosen += [(ends[n][0], ends[min(n + 2, len(ends) - 1)][1]) for n in range(len(ends))]
    if len(chosen) < _FEW:
        chosen += spans
    chosen = sorted(set(chosen), key=lambda span: span[0] - span[1])[:_ANCHORS]
    found: dict[str, list[int]] = {}
    for a, b in chosen:
        found.setdefault(letters[a:b], []).append(a)
    return found


def _places(anchor: str, letters: str) -> Iterator[int]:
    at = letters.find(anchor)
    while at >= 0:
        yield at
        at = letters.find(anchor, at + 1)
