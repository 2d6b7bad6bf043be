"""Sentences that have a claim's words in other roles: they do not support it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence, Set
from itertools import pairwise
from operator import attrgetter

from milepost.checking.claims.names import is_name_of_two
from milepost.checking.claims.quantity import Quantity
from milepost.checking.claims.reading import Reading, Word, within
from milepost.checking.claims.vocabulary import OPPOSITES, is_verb

CLAUSE = re.compile(r"[,;:](?=\s)|[()]|\b(?:and|but|while|whereas|after|before|when|then)\b")
_SENTENCE = re.compile(
    r";\s|,\s(?:and|but|though|while|so|yet|because|since)\b|\b(?:although|whereas)\b"
)
"""What parts clauses that may have subjects of their own."""
_LEADING = re.compile(r"(?:While|Although|Though|Whereas)\b")
"""What the clause in front of the first comma begins with."""
_HINGE = re.compile(
    r"\b(?:(?P<than>than(?<!other than))|(?P<agent>by(?! \w+ing\b))"
    r"|(?P<effect>because(?: of)?|due to|caused by|owing to|as a result of|result\w* from|thanks to"
    r"|put down to|attribut\w+ to|blamed on|driven by)"
    r"|(?P<cause>leads? to|led to|leading to|caus(?:ed|es|ing)|result(?:s|ed|ing)? in))\b"
)
"""What stands between two sides that mean something else if they change places."""
_CAUSES = ("cause", "effect")
_ARTICLES = ("a", "an", "the")
_COMMA = re.compile(r",\s+")
_AGENT = 4  # words behind "by", at most
_Held = tuple[Word | Quantity, Sequence[Word | Quantity]]
"""A part of a claim, and where a sentence has it."""

_COMPARED = re.compile(
    r"\b(?:than|compare[ds]?|comparison|versus|against|unlike|whereas|while|exceed\w*|more|less|fewer"
    r"|most|least|as|\w+er|\w+est)\b",
    re.I,
)


def have_changed(claim: Reading, sentence: Reading, word: str, other: str = "") -> bool:
    """Whether the words in front of the first such word and those behind it have changed places.

    The sentence may have another word between them.
    """
    sides = [_sides(claim, word), _sides(sentence, other or word)]
    return all(sides) and _have_changed(*sides)


def is_reversed(claim: Reading, sentence: Reading) -> bool:
    """Whether two sides of a comparison, cause and effect, or who does and suffers it, changed.

    "A fell because of B" of "A led to B"; "B was struck by A" of "A was struck by B".
    """
    if any(OPPOSITES.get(word.base, set()) & sentence.by_base.keys() for word in claim.words):
        return False  # "more than" of "fewer than"
    own, there = _hinges(claim), _hinges(sentence)
    return any(_have_changed(own[kind], there[kind]) for kind in own.keys() & there.keys())


def _have_changed(own: Sequence[Set[object]], there: Sequence[Set[object]]) -> bool:
    (left, right), (its_left, its_right) = own, there
    return bool((left & its_right) - its_left and (right & its_left) - its_right)


def _hinges(reading: Reading) -> dict[str, list[set[object]]]:
    """The stems and numbers on both sides of the first hinge of each kind, causes in front."""
    clause = clauses(reading, _SENTENCE)
    parts: list[tuple[Word | Quantity, object]] = [(word, word.base) for word in reading.content]
    parts += [(each, (each.value, each.unit)) for each in reading.quantities]
    sides: dict[str, list[set[object]]] = {}
    for hinge in reading.words:
        found = _HINGE.match(reading.text, hinge.start)
        if found is None:
            continue
        kind = found.lastgroup or ""
        near = [x for x in parts if kind in _CAUSES or clause(x[0]) == clause(hinge)]
        first = {what for part, what in near if part.start < found.start()}
        end = len(reading.text)
        if kind == "agent":  # the words right behind it
            end = reading.words[min(hinge.at + _AGENT, len(reading.words) - 1)].end
        last = {what for part, what in near if found.end() <= part.start < end}
        if kind in _CAUSES:
            sides.setdefault("cause", [last, first] if kind == "effect" else [first, last])
        else:
            sides.setdefault(kind, [first, last])
    return sides


def is_turned(claim: Reading, sentence: Reading) -> bool:
    """Whether a sentence ends with the first word of a claim, and begins with the last one.

    "The brother sold the mill to the owner" of "The owner sold the mill to the brother".
    """
    held = [
        [place.start for place in sentence.find(word)]
        for word in claim.content
        if not word.at or not is_name_of_two(claim.words[word.at - 1], word, claim)
    ]
    if len(held) < 3 or not all(held) or ("by" in claim.by_base) != ("by" in sentence.by_base):
        return False
    first, *middle, last = held
    others = [start for places in middle for start in places]
    return max(last) < min(others) and max(others) < min(first)


def reordered(claim: Reading, sentence: Reading) -> bool:
    """Whether names have changed places: "B beat A" or "A was beaten by B" of "A beat B"."""
    names = {word.base: word for word in claim.content if word.text[0].isupper()}
    places = [
        held[0].start
        for word in names.values()
        if (held := sentence.find(word)) and held[0].text[0].isupper()
    ]
    by, of_sentence = ("by" in each.by_base for each in (claim, sentence))
    is_turned = places != sorted(places)
    return len(places) > 1 and is_turned != (by != of_sentence)


def is_mirrored(claim: Reading, sentence: Reading) -> bool:
    """Whether names have changed places around one word: "B beat A" of "A beat B"."""
    return reordered(claim, sentence) and any(
        have_changed(claim, sentence, word.base) for word in claim.content if not word.is_name
    )


def replaced(claim: Reading, sentence: Reading) -> bool:
    """Whether the sentence has another word in the place of one of the claim's."""
    for word in claim.content:
        if sentence.says(word) or not word.at:
            continue
        before, behind = claim.words[word.at - 1], claim.words[word.at + 1 : word.at + 2]
        for left in sentence.by_base.get(before.base, ()):
            inside = sentence.words[left.at + 1 : left.at + 4]
            if behind:
                same = (each.at for each in inside if each.base == behind[0].base)
                inside = sentence.words[left.at + 1 : next(same, 0)]
            elif not before.is_content:
                continue
            if any(each.is_content and not claim.says(each) for each in inside):
                return True
    return False


def compares_alone(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim compares two things, and a sentence with both compares nothing."""
    than = next((word for word in claim.words if word.base == "than"), None)
    if than is None or any(0 <= each.start - than.end < 3 for each in claim.quantities):
        return False
    return _COMPARED.search(sentence.text) is None


def _sides(reading: Reading, between: str) -> list[set[str]]:
    """The stems of the content words in front of the first word of a stem, and behind it."""
    at = next((word.at for word in reading.words if word.base == between), None)
    sides = () if at is None else (reading.words[:at], reading.words[at + 1 :])
    return [{word.base for word in side if word.is_content} for side in sides]


def is_of_another(claim: Reading, sentence: Reading) -> bool:
    """Whether a number, date or name belongs to something else there.

    It stands in a clause with words of its own, and the rest of the claim in one that has another
    in its place: "Hale led" of "Ruiz led the trial, and Hale reviewed it", "opened in 1990" of
    "opened in 1980, and closed in 1990".
    """
    clause = clauses(sentence, CLAUSE)
    own = {clause(word) for word in sentence.content if not claim.find(word)}
    spoken = [(word, held) for word in claim.content if (held := sentence.find(word))]
    names = [each for each in spoken if any(place.is_name for place in each[1])]
    words = [each for each in spoken if each not in names]
    others = [word for word in sentence.content if word.is_name and not claim.find(word)]
    if _is_moved(names, words, others, own, clause):
        return True
    found = [(each, counted(each, sentence)) for each in claim.quantities]
    for kind in ("number", "date"):
        numbers = [(each, held) for each, held in found if each.kind == kind and held]
        rivals = [other for other in uncounted(claim, sentence) if other.kind == kind]
        if _is_moved(numbers, spoken, rivals, own, clause):
            return True
    return False


def is_split(claim: Reading, sentence: Reading) -> bool:
    """Whether two words of a claim stand in clauses that say something else.

    "Guests may vote" of "only members may vote, and guests must leave": each clause has another
    word in the place of the one that it lacks. A clause that begins with its verb has its subject
    in the one before.
    """
    clause = clauses(sentence, _SENTENCE)
    firsts = {clause(word): word.text.lower() for word in reversed(sentence.words)}
    if len(firsts) < 2:
        return False
    rest = [word for word in sentence.content if not claim.find(word)]
    rivals = [*rest, *uncounted(claim, sentence)]
    equal = {clause(word) for word in sentence.words if word.base == "be"}  # "the first is Rome"

    def has_rival(places: Sequence[Word | Quantity], part: Word | Quantity, before: bool) -> bool:
        return any(
            clause(rival) == clause(place)
            and ((rival.start < place.start) == before or clause(rival) in equal)
            for rival in rivals
            if isinstance(rival, type(part))
            for place in places
        )

    parts: list[Word | Quantity] = [*claim.content, *claim.quantities]
    parts.sort(key=attrgetter("start"))
    for one, other in (*pairwise(parts), *zip(parts, parts[2:], strict=False)):
        held = [
            sentence.find(part) if isinstance(part, Word) else counted(part, sentence)
            for part in (one, other)
        ]
        first, second = ({clause(place) for place in places} for places in held)
        if not first or not second or first & second:
            continue
        bound = all(not at or is_verb(firsts.get(at, "")) for at in first | second)
        if not bound and has_rival(held[1], one, True) and has_rival(held[0], other, False):
            return True
    return False


def is_crossed(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim joins an item of a list with what "respectively" says of another one."""
    held = paired(claim, sentence)
    return held is not None and held[0].isdisjoint(held[1])


def paired(claim: Reading, sentence: Reading) -> tuple[set[int], set[int]] | None:
    """Which items of the two lists of a sentence with "respectively" a claim has, if of both."""
    end = sentence.text.lower().find("respectively")
    lists = [each for each in _lists(sentence) if each[-1].start < end] if end > 0 else []
    if len(lists) < 2:
        return None

    def said(item: Word | Quantity) -> bool:
        if isinstance(item, Word):
            return bool(claim.find(item))
        return any(each.allows(item) for each in claim.quantities)

    # From the ends: what stands in front may look like an item, "At that time, Kim and Lee were".
    both = zip(reversed(lists[0]), reversed(lists[-1]), strict=False)
    held = [(at, said(one), said(other)) for at, (one, other) in enumerate(both)]
    ones, others = {at for at, one, _ in held if one}, {at for at, _, other in held if other}
    return (ones, others) if ones and others else None


def _lists(sentence: Reading) -> list[list[Word | Quantity]]:
    """What is joined by "and" and commas in front of it; of several words, those at the joint."""
    found: list[list[Word | Quantity]] = []
    inside = [(each.start, each.end) for each in sentence.quantities]
    words = [each for each in sentence.words if not within(each, inside)]
    items: list[Word | Quantity] = [each for each in words if each.text not in _ARTICLES]
    items = sorted([*items, *sentence.quantities], key=attrgetter("start"))
    for number, middle in enumerate(items[1:-1], 1):
        if isinstance(middle, Word) and middle.text == "and":
            first = number - 1
            while first and _COMMA.fullmatch(
                sentence.text[items[first - 1].end : items[first].start]
            ):
                first -= 1
            found.append([*items[first:number], items[number + 1]])
    return found


def clauses(sentence: Reading, border: re.Pattern[str]) -> Callable[[Word | Quantity], int]:
    """What tells the number of the clause that a word or number of a sentence stands in."""
    ends = [found.end() for found in border.finditer(sentence.text)]
    if _LEADING.match(sentence.text):
        ends = sorted({*ends, sentence.text.find(",")})
    return lambda place: bisect_right(ends, place.start)


def counted(quantity: Quantity, sentence: Reading) -> list[Quantity]:
    """The numbers and dates of a sentence that one of a claim may be."""
    return [other for other in sentence.quantities if quantity.allows(other)]


def uncounted(claim: Reading, sentence: Reading) -> list[Quantity]:
    """The numbers and dates of a sentence that the claim has not."""
    return [
        other
        for other in sentence.quantities
        if not any(each.allows(other) for each in claim.quantities)
    ]


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
        is_number = isinstance(moved[0][0], Quantity)
        if any(
            clause(each) == number and (is_number or (each.start < at) == is_before)
            for each in rivals
        ):
            return True
    return False
