"""Sentences that have a claim's words in other roles: they do not support it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from milepost.checking.claims.quantity import Quantity
from milepost.checking.claims.reading import Reading, Word

_CLAUSE = re.compile(r"[,;:](?=\s)|[()]|\b(?:and|but|while|whereas|after|before|when|then)\b")
_Held = tuple[Word | Quantity, Sequence[Word | Quantity]]
"""A part of a claim, and where a sentence has it."""

_COMPARED = frozenset("more less fewer rather".split())


def is_swapped(claim: Reading, sentence: Reading) -> bool:
    """Whether the sides of a comparison have changed places: "more tea than milk"."""
    sides = [_sides(each) for each in (claim, sentence)]
    compared = (w.base for w in claim.words if w.text.lower() in _COMPARED or w.text.endswith("er"))
    if not all(sides) or sentence.by_base.keys().isdisjoint(compared):
        return False
    (left, right), (its_left, its_right) = sides
    moved = (left & its_right) - its_left, (right & its_left) - its_right
    return all(moved)


def _sides(reading: Reading) -> list[set[str]]:
    """The stems of the content words in front of the first "than", and behind it."""
    at = next((word.at for word in reading.words if word.text.lower() == "than"), None)
    sides = () if at is None else (reading.words[:at], reading.words[at + 1 :])
    return [{word.base for word in side if word.is_content} for side in sides]


def is_of_another(claim: Reading, sentence: Reading) -> bool:
    """Whether a number, date or name belongs to something else there.

    It stands in a clause with words of its own, and the rest of the claim in one that has another
    in its place: "Hale led" of "Ruiz led the trial, and Hale reviewed it", "opened in 1990" of
    "opened in 1980, and closed in 1990".
    """
    ends = [found.start() for found in _CLAUSE.finditer(sentence.text)]

    def clause(place: Word | Quantity) -> int:
        return bisect_left(ends, place.start)

    own = {clause(word) for word in sentence.content if not claim.find(word)}
    spoken = [(word, held) for word in claim.content if (held := sentence.find(word))]
    names = [each for each in spoken if any(place.is_name for place in each[1])]
    words = [each for each in spoken if each not in names]
    others = [word for word in sentence.content if word.is_name and not claim.find(word)]
    if _is_moved(names, words, others, own, clause):
        return True
    counted = [
        (each, [other for other in sentence.quantities if each.allows(other)])
        for each in claim.quantities
    ]
    for kind in ("number", "date"):
        numbers = [(each, held) for each, held in counted if each.kind == kind and held]
        rivals = [
            other
            for other in sentence.quantities
            if other.kind == kind and not any(each.allows(other) for each in claim.quantities)
        ]
        if _is_moved(numbers, spoken, rivals, own, clause):
            return True
    return False


def _is_moved(
    moved: Sequence[_Held],
    rest: Sequence[_Held],
    rivals: Sequence[Word | Quantity],
    own: set[int],
    clause: Callable[[Word | Quantity], int],
) -> bool:
    """Whether parts of a claim stand in another clause than its rest, which has rivals of them.

    ``own`` are the clauses with words that the claim has not.
    """
    if not moved or not rest:
        return False
    taken = {clause(place) for _, places in moved for place in places}
    shared = set.intersection(*({clause(place) for place in places} for _, places in rest))
    if not taken & own:
        return False
    first, places = rest[0]
    for number in shared - taken:
        at = next(place.start for place in places if clause(place) == number)
        is_before = moved[0][0].start < first.start
        if any(clause(each) == number and (each.start < at) == is_before for each in rivals):
            return True
    return False
