"""Claims with a number that counts something else in a sentence: it does not support them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, dropwhile, takewhile

from milepost.checking.claims.quantity import Quantity, comparable
from milepost.checking.claims.reading import Reading, Word, within
from milepost.checking.claims.turned import clauses, counted, uncounted

_ITEM = re.compile(r",\s|;\s|\band\b")
_LAST_YEAR = re.compile(
    r"\(\s*(?:(?:FY\s?)?[12]\d{3}(?:[-/]\d\d(?:\d\d)?)?|(?:prior|previous|last) year)\s*:[^()]*\)",
    re.IGNORECASE,
)
"""What a figure of the year before stands in, behind that of the year."""
_EARLIER = re.compile(
    r"\b(?:(?:last|previous|prior|preceding) year|year (?:before|earlier)|had been"
    r"|than|against|compared|from)\b"
)
_OF_THEM = re.compile(r"(?: \w+)? of (?:them|which|whom|these|those)\b")
_PEOPLE = frozenset(["peopl", "person", "other"])  # stems of what is counted
_CASES = frozenset("at on in with for under during by".split())  # when, where or how
_EACH = frozenset(["each", "apiece", "per", "every"])


def counts_another(claim: Reading, sentence: Reading) -> bool:
    """Whether a number counts other things there, and what the claim counts stands elsewhere.

    "40 pupils" of "40 visitors, most of them pupils".
    """
    for number, other in _same_numbers(claim, sentence):
        own, there = _noun(number, claim), _noun(other, sentence)
        places = [place for word in own for place in sentence.find(word)]
        if there and places and not any(place in there for place in places):
            return True
    return False


def is_of_another_item(claim: Reading, sentence: Reading) -> bool:
    """Whether a number stands in another item of a list than the rest of the claim.

    "In Malta 400 were sold" of "in Latvia 400 were sold, in Malta 35": both items have a number,
    and a word behind the same preposition.
    """
    item = clauses(sentence, _ITEM)
    others = uncounted(claim, sentence)
    for _, other in _same_numbers(claim, sentence):
        rivals = {item(each) for each in others if each.kind == other.kind}
        for word in claim.content:
            places = sentence.find(word)
            if not places or not all(item(place) in rivals - {item(other)} for place in places):
                continue
            before = {_preposition(place, sentence) for place in places}
            if any(
                each.is_content
                and item(each) == item(other)
                and not claim.find(each)
                and _preposition(each, sentence) in before
                for each in sentence.words
            ):
                return True
    return False


def joins_items(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim takes two numbers of different items, each of which has its own pair.

    "1.05 with 10 mg" of "1.12 with 10 mg and 1.05 with 25 mg".
    """
    item = clauses(sentence, _ITEM)
    rivals = uncounted(claim, sentence)
    held = [places[0] for each in claim.quantities if len(places := counted(each, sentence)) == 1]
    return any(
        item(one) != item(other)
        and any(item(each) == item(one) and comparable(each, other) for each in rivals)
        and any(item(each) == item(other) and comparable(each, one) for each in rivals)
        for one, other in combinations((each for each in held if each.kind == "number"), 2)
    )


def is_of_last_year(claim: Reading, sentence: Reading) -> bool:
    """Whether a number stands only in "(2018: 5)", and the claim says nothing of another year."""
    spans = [found.span() for found in _LAST_YEAR.finditer(sentence.text)]
    has_date = any(each.kind == "date" for each in claim.quantities)
    if not spans or has_date or _EARLIER.search(claim.text):
        return False
    held = [counted(each, sentence) for each in claim.quantities]
    return any(places and all(within(each, spans) for each in places) for places in held)


def is_of_whole(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim says of a part what is said of the whole.

    "The balcony has 640 seats" of "640 seats, 120 of them on the balcony".
    """
    item = clauses(sentence, _ITEM)
    rest = uncounted(claim, sentence)
    parts = {item(each) for each in rest if _OF_THEM.match(sentence.text, each.end)}
    wholes = {item(place) for each in claim.quantities for place in counted(each, sentence)}
    held = [{item(place) for place in sentence.find(word)} for word in claim.content]
    return bool(wholes - parts) and any(places and places <= parts for places in held)


def lacks_each(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim alone says that a number is that of each: "100 to each of two groups"."""
    own, there = ({word.text.lower() for word in each.words} for each in (claim, sentence))
    return bool(claim.quantities and own & _EACH and not there & (_EACH | {"both", "all"}))


def excepts(claim: Reading, sentence: Reading) -> bool:
    """Whether one alone makes an exception, and both deny as much."""
    is_one = "exception" in claim.frames ^ sentence.frames
    return is_one and len(claim.negations) == len(sentence.negations)


def is_ranked(claim: Reading, sentence: Reading) -> bool:
    """Whether a sentence has "second largest" where a claim has "largest"."""
    if any(each.unit == "ordinal" for each in claim.quantities):
        return False
    ends = {each.end for each in sentence.quantities if each.unit == "ordinal"}
    return any(
        len(sentence.text[: place.start].rstrip(" -")) in ends
        for word in claim.content
        if word.text.endswith("est")
        for place in sentence.find(word)
    )


def _same_numbers(claim: Reading, sentence: Reading) -> Iterator[tuple[Quantity, Quantity]]:
    """The numbers of a claim that a sentence has in one place, and that place."""
    for each in claim.quantities:
        held = counted(each, sentence)
        if each.kind == "number" and len(held) == 1 and each.unit != "ordinal":
            yield each, held[0]


def _noun(number: Quantity, reading: Reading) -> list[Word]:
    """The content words behind a number, or behind its "of"; none of a measure without it."""
    behind = [word for word in reading.words if word.start >= number.end]
    if behind and behind[0].text.lower() == "of":
        behind = list(dropwhile(lambda word: not word.is_content, behind))
    elif number.is_measure:
        return []
    return list(takewhile(lambda word: word.is_content or word.base in _PEOPLE, behind))


def _preposition(word: Word, reading: Reading) -> str:
    """The last word in front of a word and its neighbours with capital letters.

    Prepositions that say when, where or how are one: "35 minutes on eco and 12 at full pressure".
    """
    at = word.at - 1
    while at >= 0 and (reading.words[at].is_content or reading.words[at].text.lower() == "the"):
        at -= 1
    found = reading.words[at].text.lower() if at >= 0 else ""
    return "at" if found in _CASES else found
