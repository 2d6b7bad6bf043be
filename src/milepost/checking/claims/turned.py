"""Sentences that have a claim's words in other roles: they do not support it."""

from __future__ import annotations

from collections.abc import Iterator

from milepost.checking.claims.conflicts import beside, same_place
from milepost.checking.claims.quantity import comparable
from milepost.checking.claims.reading import Reading, Word

_PREPOSITIONS = frozenset(
    "in to from by for with without against at on into under before after over of via".split()
)
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

    "Born in Rome" of "born in Pisa, and moved to Rome", and "opened in 1990" of "opened in 1980,
    and closed in 1990".
    """
    for each in claim.quantities:
        held = [other for other in sentence.quantities if comparable(each, other)]
        own = [other for other in held if each.allows(other)]
        is_taken = any(same_place(each, one, claim, sentence) for one in held if one not in own)
        words = [beside(one, sentence)[0] for one in own]
        if is_taken and own and all(word and word not in claim.by_base for word in words):
            return True
    there = list(_governed(sentence))
    for before, name in _governed(claim):
        its = {other for other, word in there if word.base == name.base}
        if its and before not in its and any(other == before for other, _ in there):
            return True
    return False


def _governed(reading: Reading) -> Iterator[tuple[str, Word]]:
    """Names right behind a preposition, each with it; of a name of several words the first."""
    for word in reading.words[1:]:
        before = reading.words[word.at - 1]
        is_joined = reading.text[before.end : word.start].isspace()
        if word.is_name and is_joined and before.text.lower() in _PREPOSITIONS:
            yield before.text.lower(), word
