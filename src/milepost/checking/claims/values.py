"""Numbers and dates that differ between a claim and a sentence that speaks of the same."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from milepost.checking.claims.quantity import Quantity, comparable
from milepost.checking.claims.reading import Reading, Word
from milepost.checking.claims.turned import uncounted
from milepost.checking.claims.vocabulary import base
from milepost.types import Span
from milepost.verdicts import DifferenceKind

_CLAUSE = re.compile(r"[,;:]|\band\b|\bbut\b")
_COMPARATIVES = frozenset("more less fewer later earlier older younger longer shorter".split())
_MORE = re.compile(r"\s(?:more|less|fewer|(?:low|high|small|larg|great|long|short|old|young)e?r)\b")
_COMPARED = re.compile(r"\b(?:compared (?:to|with)|versus|against|(?:up|down) from)\b")
_RELATIVE = re.compile(
    r"\b(?:years?|quarters?|months?|weeks?|days?|decades?) (?:before|earlier|later|ago|after)\b"
    r"|\b(?:previous|preceding|prior) (?:year|quarter|month|decade)\b"
)
_NEXT = re.compile(r"\b(?:following|next|subsequent) (?:year|quarter|month|week|day)\b")
"""A date that a sentence gives by another one: the second by the one before."""
_CODE = re.compile(r"\b(?:[A-Z]{2,}|Article|Section|Clause|Rule|Chapter|Appendix|Item|Room)\s$")
"""What stands in front of the number of a thing, of which a text may have others."""
_OR = re.compile(r"\s+or\s+(?:in\s+)?")
_CHANGE = frozenset(map(base, "lose gain rise fall drop grow shrink increase decrease add".split()))
"""Stems of verbs that stand right in front of how much something changed."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a claim and a sentence have in place of each other; one span may be empty."""

    kind: DifferenceKind
    given: Span
    found: Span


def span_of(word: Word | Quantity) -> Span:
    """Where a word or number stands."""
    return word.start, word.end


def replaced(claim: Reading, sentence: Reading, near: Sequence[Quantity]) -> Iterator[Conflict]:
    """Numbers and dates in whose place a sentence has others; see ``conflicts.conflicts``."""
    for each in claim.quantities:
        held = [other for other in sentence.quantities if comparable(each, other)]
        if (
            any(map(each.allows, held))
            or any(_shares_unit(each, one) for one in sentence.quantities)
            or (each.kind == "date" and _is_relative(each, sentence))
            or _is_choice(each, claim, sentence)
        ):
            continue
        held = [other for other in held if not is_change_of_value(each, other, claim)]
        same = [other for other in held if same_place(each, other, claim, sentence)]
        if not same:
            if any(map(each.allows, (*sentence.quantities, *near))):
                continue
            if each.is_measure or each.kind == "date":
                same = [other for other in uncounted(claim, sentence) if other in held]
                same = same if len(same) == 1 else []
        same = [other for other in same if not _is_no_rival(each, other, claim, sentence)]
        # Rather what stands for no other number of the claim.
        same.sort(key=lambda other: any(own.allows(other) for own in claim.quantities))
        if _CODE.search(claim.text, 0, each.start) and not all(map(sentence.says, claim.content)):
            continue
        for rival in same[:1]:
            is_unit = each.written == rival.written and (
                each.per != rival.per or (each.is_measure and each.name != rival.name)
            )
            yield Conflict("unit" if is_unit else each.kind, span_of(each), span_of(rival))


def _is_relative(date: Quantity, sentence: Reading) -> bool:
    """Whether a sentence may give a date by another one: "a year later", "the next year"."""
    is_next = _NEXT.search(sentence.text) and any(
        each.kind == "date" and 0 < date.high - each.high < 367 for each in sentence.quantities
    )
    return bool(is_next or _RELATIVE.search(sentence.text))


def _is_no_rival(each: Quantity, other: Quantity, claim: Reading, sentence: Reading) -> bool:
    """Whether one is a bound that allows the other, or one alone is a difference: "5 more"."""
    if other.is_open and not each.is_open and other.low <= each.value <= other.high:
        return True
    differences = [_MORE.match(r.text, q.end) for r, q in ((claim, each), (sentence, other))]
    return (differences[0] is None) != (differences[1] is None)


def dated(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
    """A number that the sentence has, of another date: 5 in 2019 where it was 5 in 2018, then 6."""
    for number in claim.quantities:
        if not any(map(number.allows, sentence.quantities)):
            continue
        own = [date for each, date in _by_date(number, claim) if each == number]
        there = [
            other
            for other, date in _by_date(number, sentence)
            if any(each.allows(date) for each in own)
        ]
        if there and not any(map(number.allows, there)):
            yield Conflict(number.kind, span_of(number), span_of(there[0]))


def _by_date(number: Quantity, reading: Reading) -> list[tuple[Quantity, Quantity]]:
    """The numbers comparable to one, each with its date; none where one clause has not both.

    Numbers that are compared, "40 compared to 35 in 2021", have their dates on their sides.
    """
    found = [each for each in reading.quantities if each.kind == "date" or comparable(number, each)]
    borders = [match.start() for match in _COMPARED.finditer(reading.text)]
    sides = groupby(found, key=lambda each: bisect(borders, each.start))
    parts = [[*side] for _, side in sides if borders]
    if not borders:
        parts = [found[at : at + 2] for at in range(0, len(found), 2)]
        if len(found) % 2 or len({part[0].kind for part in parts}) > 1:
            return []
    pairs = []
    for one, *others in parts:
        for other in others:
            between = reading.text[one.end : other.start].lstrip(" ,")
            if len(others) > 1 or one.kind == other.kind or _CLAUSE.search(between):
                return []
            pairs.append((one, other) if other.kind == "date" else (other, one))
    return pairs


def _shares_unit(each: Quantity, other: Quantity) -> bool:
    """Whether the same number stands without a unit: "four or six wheels", "two million more"."""
    is_number = each.kind == other.kind == "number"
    is_bare = not other.unit or other.unit in _COMPARATIVES
    return is_number and is_bare and each.written == other.written


def _is_choice(each: Quantity, claim: Reading, sentence: Reading) -> bool:
    """Whether a claim has a number of the sentence in place of one: "1889 or 1890"."""
    return any(
        _OR.fullmatch(claim.text, min(each.end, one.end), max(each.start, one.start))
        and any(map(one.allows, sentence.quantities))
        for one in claim.quantities
        if one != each
    )


def is_change_of_value(each: Quantity, other: Quantity, claim: Reading) -> bool:
    """Whether one is what something is and the other how much it changed.

    "Was 5" and "rose by 5", "lost 5" and "shrank from 12 to 7".
    """
    before = next((word.base for word in reversed(claim.words) if word.end <= each.start), "")
    if before == "be":
        return other.role == "by"
    return before in _CHANGE and other.role in ("from", "to")


def same_place(each: Quantity, other: Quantity, claim: Reading, sentence: Reading) -> bool:
    """Whether two quantities are of the same: the content word before or behind both."""
    if each.kind == "number" and each.unit and not each.is_measure and each.unit != "ordinal":
        return True
    own, there = beside(each, claim), beside(other, sentence)
    return any(one and one == two for one, two in zip(own, there, strict=True))


def beside(each: Quantity, reading: Reading) -> tuple[str, str]:
    """The stem of the content word before a quantity, and of the word right behind a number."""
    before = [word for word in reading.words if word.end <= each.start][-3:]
    behind = next((word for word in reading.words if word.start >= each.end), None)
    return (
        next((word.base for word in reversed(before) if word.is_content), ""),
        behind.base if behind and behind.is_content and each.kind == "number" else "",
    )
