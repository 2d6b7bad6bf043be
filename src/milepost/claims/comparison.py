"""How much of a claim a sentence says, with its neighbours, and what exactly differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from milepost.claims.conflicts import Conflict, conflicts, replaced, unanswered
from milepost.claims.reading import Reading, Word
from milepost.claims.vocabulary import EXCLUSIVE, ORDINALS


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim beside a sentence.

    Attributes:
        coverage: 0-1, the share of the claim's words, numbers and dates that the sentence or its
            neighbours have.
        shared: 0-1, the share that the sentence itself has, of what does not differ.
        is_whole: every name, number and date of the claim is there, and no word that restricts it
            is on one side only.
        conflicts: what differs.
        cohesion: 0-1, the share of neighbouring words of the claim that are near each other in one
            of the texts, of those that are in it.
    """

    coverage: float
    shared: float
    is_whole: bool
    conflicts: tuple[Conflict, ...]
    cohesion: float


def compare(claim: Reading, sentence: Reading, around: Sequence[Reading] = ()) -> Comparison:
    """Compare a claim with a sentence.

    Args:
        claim: one sentence.
        sentence: of a document.
        around: sentences beside it, and headings above it: they may name what it speaks of.
    """
    texts = (sentence, *around)
    differing = conflicts(claim, sentence, around)
    spans = [each.given for each in differing]
    missing = [word for word in claim.content if not _holds(word, claim, texts)]
    lost = [
        each
        for each in claim.quantities
        if not any(each.allows(other) for text in texts for other in text.quantities)
    ]
    total = len(claim.content) + len(claim.quantities)
    rest = [word for word in claim.content if not _inside(word.start, spans)]
    numbers = [each for each in claim.quantities if not _inside(each.start, spans)]
    own = sum(_holds(word, claim, (sentence,)) for word in rest) + sum(
        any(each.allows(other) for other in sentence.quantities) for each in numbers
    )
    return Comparison(
        1.0 - (len(missing) + len(lost)) / total if total else 0.0,
        own / (len(rest) + len(numbers)) if rest or numbers else 0.0,
        not lost
        and not any(word.is_name for word in missing)
        and _is_unrestricted(claim, texts)
        and not unanswered(claim, texts)
        and not replaced(claim, sentence),
        differing,
        _cohesion(claim, texts),
    )


def _inside(start: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low <= start < high for low, high in spans)


def _holds(word: Word, claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether a text has a word, or the last word of the name whose first word it is."""
    if any(text.find(word) for text in texts):
        return True
    if not word.is_name or word.at + 1 >= len(claim.words):
        return False
    behind = claim.words[word.at + 1]
    if not behind.is_name or claim.text[word.end : behind.start].strip():
        return False
    for text in texts:
        for place in text.find(behind):
            before = text.words[place.at - 1] if place.at else None
            if place.is_name and (before is None or not before.is_name):
                return True
    return False


def _is_unrestricted(claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether no "only" and no "second" stands on one side alone."""
    own = {word.text.lower() for word in claim.words}
    there = {word.text.lower() for text in texts for word in text.words}
    if bool(own & EXCLUSIVE) and not there & EXCLUSIVE:
        return False
    for word in texts[0].words[:-1]:
        if word.text.lower() in ORDINALS - own:
            behind = texts[0].words[word.at + 1]
            if behind.is_content and claim.find(behind):
                return False
    return True


def _cohesion(claim: Reading, texts: Sequence[Reading]) -> float:
    pairs = near = 0
    for one, other in pairwise(claim.content):
        held = False
        seen = False
        for text in texts:
            a, b = text.find(one), text.find(other)
            if a and b:
                seen = True
                held = held or any(abs(x.at - y.at) <= 6 for x in a for y in b)
        pairs += seen
        near += held
    return near / pairs if pairs else 1.0
