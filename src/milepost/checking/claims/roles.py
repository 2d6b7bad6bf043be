"""Who does what to whom: words that a claim and a sentence have in each other's places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from milepost.checking.claims.quantity import Quantity, comparable
from milepost.checking.claims.reading import Reading, Word
from milepost.checking.claims.vocabulary import BE, OPPOSITES, QUANTIFIERS, SYMMETRIC

_PIVOTS = frozenset(["before", "after", "than", "until", "because"])
_ARTICLES = frozenset("the a an his her its their this that these those".split())


@dataclass(frozen=True, slots=True)
class _Common:
    """A word, number or date that both texts have once, and where."""

    own: Word | Quantity
    other: Word | Quantity


def swapped(claim: Reading, sentence: Reading) -> tuple[_Common, _Common] | None:
    """Two words in each other's places, where all else that both texts have is in its own.

    "Germany defeated Brazil" and "Brazil defeated Germany", or "Germany was defeated by Brazil".
    """
    common = sorted(_common(claim, sentence), key=lambda each: each.own.start)
    ranks = {id(each): rank for rank, each in enumerate(sorted(common, key=_place))}
    blocks: list[list[_Common]] = []
    for each in common:
        if blocks and ranks[id(each)] == ranks[id(blocks[-1][-1])] + 1:
            blocks[-1].append(each)
        else:
            blocks.append([each])
    there = sorted(blocks, key=lambda block: _place(block[0]))
    differ = [number for number, block in enumerate(blocks) if block is not there[number]]
    if not differ:
        return _turned(common, claim, sentence)
    first, last = differ[0], differ[-1]
    if len(differ) != 2 or blocks[first] is not there[last] or last - first > 2:
        return None
    leads = [
        tuple(_lead(block[0].own, claim) for block in blocks[first : last + 1]),
        tuple(_lead(block[0].other, sentence) for block in there[first : last + 1]),
    ]
    middle = [each for block in blocks[first + 1 : last] for each in block]
    is_relation = any(
        not (isinstance(each.own, Word) and each.own.base in SYMMETRIC) for each in middle
    )
    ends = blocks[first], blocks[last]
    if leads[0] != leads[1] or "and" in leads[0] or "or" in leads[0]:
        return None
    for reading, places in (
        (claim, [block[0].own.start for block in ends]),
        (sentence, sorted(block[0].other.start for block in ends)),
    ):
        if not _is_all_common(reading, places[0], places[1], common):
            return None
    if not (is_relation if middle else leads[0][0] and leads[0][0] != leads[0][1]):
        return None
    return blocks[first][0], there[first][0]


def _is_all_common(reading: Reading, first: int, last: int, common: Sequence[_Common]) -> bool:
    """Whether both texts have all that stands between two places of one of them."""
    known = {each.own.start for each in common} | {each.other.start for each in common}
    units: list[Word | Quantity] = [*reading.content, *reading.quantities]
    if any(first <= each.start <= last and each.start not in known for each in units):
        return False
    shares = [word for word in reading.words if word.text.lower() in QUANTIFIERS]
    return not any(first <= word.start <= last for word in shares)


def is_turned(claim: Reading, word: Word, sentence: Reading, other: Word) -> bool:
    """Whether what stands before a word of a claim is behind another one in a sentence.

    "A is larger than B" says the same as "B is smaller than A".
    """
    common = list(_common(claim, sentence))
    sides = [
        (each.own.start < word.start, each.other.start < other.start)
        for each in common
        if each.own is not word
    ]
    crossed = sides.count((True, False)), sides.count((False, True))
    return all(crossed) and sum(crossed) >= len(sides) - sum(crossed)


def _place(each: _Common) -> int:
    return each.other.start


def _common(claim: Reading, sentence: Reading) -> Iterator[_Common]:
    for word in claim.words:
        if word.is_content or word.text.lower() in _PIVOTS:
            own, other = claim.find(word), sentence.find(word)
            if len(own) == len(other) == 1:
                yield _Common(word, other[0])
    for each in claim.quantities:
        held = [other for other in sentence.quantities if _is_equal(each, other)]
        if len(held) == 1:
            yield _Common(each, held[0])


def _is_equal(one: Quantity, other: Quantity) -> bool:
    return comparable(one, other) and (one.low, one.high) == (other.low, other.high)


def _lead(each: Word | Quantity, reading: Reading) -> str:
    """The function word in front of something, but for articles."""
    before = [word for word in reading.words if word.end <= each.start]
    while before and before[-1].text.lower() in _ARTICLES:
        before.pop()
    return "" if not before or before[-1].is_content else before[-1].base


def _turned(
    common: Sequence[_Common], claim: Reading, sentence: Reading
) -> tuple[_Common, _Common] | None:
    """Both texts in one order, one of them in the passive voice."""
    for before, verb, behind in zip(common, common[1:], common[2:], strict=False):
        if not (isinstance(verb.own, Word) and isinstance(verb.other, Word)):
            continue
        voices = [
            _is_passive(word, reading, end)
            for word, reading, end in (
                (verb.own, claim, behind.own.start),
                (verb.other, sentence, behind.other.start),
            )
        ]
        if None not in voices and voices[0] != voices[1]:
            return before, behind
    return None


def _is_passive(verb: Word, reading: Reading, end: int) -> bool | None:
    """Whether a verb is passive with its doer right behind it; None where that is unclear."""
    before = {word.text.lower() for word in reading.words[max(0, verb.at - 2) : verb.at]}
    behind = [word for word in reading.words[verb.at + 1 :] if word.end <= end]
    by = [word for word in behind if word.text.lower() == "by"]
    if before & BE:
        return True if by else None
    is_bare = all(word.text.lower() in _ARTICLES or word.is_content for word in behind)
    return False if is_bare and verb.text.lower().endswith("ed") else None


def mixed(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim puts together what a sentence says of several things.

    "Sales fell in Europe" of "Sales rose in Europe but fell in Asia". The subject of one part of
    a sentence may be that of the next, and what stands behind may belong to all of it.
    """
    held = [
        (word.start, {place.part: place.start for place in sentence.find(word)})
        for word in claim.content
    ]
    for each in claim.quantities:
        starts = [other.start for other in sentence.quantities if each.allows(other)]
        held.append((each.start, {sentence.part_at(start): start for start in starts}))
    held = [(start, places) for start, places in held if places]
    parts = {part for _, places in held for part in places}
    if len(parts) != 2:
        return False
    main = max(parts, key=lambda part: (sum(part in places for _, places in held), -part))
    missing = _missing(claim, sentence)
    within = [(start, places[main]) for start, places in held if main in places]
    begins = min(place for _, place in within)
    has_subject = any(place < begins for place in missing.get(main, ()))
    for start, places in held:
        if main in places:
            continue
        part, place = max(places.items())
        if not _are_parallel(main, part, sentence):
            continue
        is_behind = any(other < place for other in missing.get(part, ()))
        if is_behind or (part < main and has_subject):
            return True
        if part > main and start < min(own for own, _ in within):
            return True
    return False


def _are_parallel(one: int, other: int, sentence: Reading) -> bool:
    """Whether two parts of a sentence say the same kind of thing of different ones."""
    words = [{word.base for word in sentence.content if word.part == part} for part in (one, other)]
    if words[0] & words[1] or any(OPPOSITES.get(each, set()) & words[1] for each in words[0]):
        return True
    numbers = [
        [each for each in sentence.quantities if sentence.part_at(each.start) == part]
        for part in (one, other)
    ]
    return any(comparable(first, second) for first in numbers[0] for second in numbers[1])


def _missing(claim: Reading, sentence: Reading) -> dict[int, list[int]]:
    """Where each part of a sentence has words or numbers that a claim lacks."""
    found: dict[int, list[int]] = {}
    for word in sentence.content:
        if not claim.find(word) and not word.text.endswith("ly"):
            found.setdefault(word.part, []).append(word.start)
    for each in sentence.quantities:
        if not any(own.allows(each) for own in claim.quantities):
            found.setdefault(sentence.part_at(each.start), []).append(each.start)
    return found


def cohesion(claim: Reading, texts: Sequence[Reading]) -> float:
    """Share of neighbouring words of a claim that are near each other in a text that has both."""
    pairs = near = 0
    for one, other in pairwise(claim.content):
        places = [(text.find(one), text.find(other)) for text in texts]
        pairs += any(first and second for first, second in places)
        near += any(
            abs(x.at - y.at) <= _NEAR for first, second in places for x in first for y in second
        )
    return near / pairs if pairs else 1.0


_NEAR = 6
"""Words between two that belong together."""
