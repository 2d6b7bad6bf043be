"""What exactly differs between a claim and a sentence that speaks of the same."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise

from milepost.checking.claims.names import is_name_of_two
from milepost.checking.claims.quantity import Quantity, comparable
from milepost.checking.claims.reading import Negation, Reading, Word
from milepost.checking.claims.turned import have_changed, reordered
from milepost.checking.claims.vocabulary import OPPOSITES, QUANTIFIERS, base, is_prefixed
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
_CODE = re.compile(r"\b(?:[A-Z]{2,}|Article|Section|Clause|Rule|Chapter|Appendix|Item|Room)\s$")
"""What stands in front of the number of a thing, of which a text may have others."""
_OTHERWISE = re.compile(r"\b(?:otherwise|or else|if not)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:without|before|until|unless)\b")
_NEEDED = frozenset(map(base, "need require only must with after once".split()))
"""Stems of words that say in another way that something is not without a condition."""
_OR = re.compile(r"\s+or\s+(?:in\s+)?")
_CHANGE = frozenset(map(base, "lose gain rise fall drop grow shrink increase decrease add".split()))
"""Stems of verbs that stand right in front of how much something changed."""
_ORDER = {base("after"), base("before")}
_HAVE_OR_BE = frozenset(["be", "have"])  # stems


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a claim and a sentence have in place of each other; one span may be empty."""

    kind: DifferenceKind
    given: Span
    found: Span


def conflicts(
    claim: Reading, sentence: Reading, around: Sequence[Reading] = ()
) -> tuple[Conflict, ...]:
    """What differs from a sentence, in the order of the claim.

    A number that its neighbours ``around`` have is no difference.
    """
    found = chain(
        _quantities(claim, sentence, around),
        _dated(claim, sentence),
        _denials(claim, sentence),
        _prefixed(claim, sentence),
        _opposites(claim, sentence),
        _shares(claim, sentence),
        _names(claim, sentence),
    )
    return tuple(sorted(set(found), key=lambda each: (each.given, each.found, each.kind)))


def _span(word: Word | Quantity) -> Span:
    return word.start, word.end


def _quantities(claim: Reading, sentence: Reading, around: Sequence[Reading]) -> Iterator[Conflict]:
    near = [other for reading in around for other in reading.quantities]
    for each in claim.quantities:
        held = [other for other in sentence.quantities if comparable(each, other)]
        if any(map(each.allows, held)) or any(
            _shares_unit(each, one) for one in sentence.quantities
        ):
            continue
        if each.kind == "date" and _is_relative(each, sentence):
            continue
        if _is_choice(each, claim, sentence):
            continue
        held = [other for other in held if not is_change_of_value(each, other, claim)]
        same = [other for other in held if same_place(each, other, claim, sentence)]
        if not same:
            if any(map(each.allows, (*sentence.quantities, *near))):
                continue
            free = [
                other
                for other in sentence.quantities
                if not any(own.allows(other) for own in claim.quantities)
            ]
            if each.is_measure or each.kind == "date":
                same = [other for other in free if other in held]
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
            yield Conflict("unit" if is_unit else each.kind, _span(each), _span(rival))


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


def _dated(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
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
            yield Conflict(number.kind, _span(number), _span(there[0]))


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


def _denials(claim: Reading, sentence: Reading) -> list[Conflict]:
    """The negations of one side; two, one on each, answer each other: "no … may" and "may not"."""
    found = list(_negations(claim, sentence))
    sides = [len(each.negations) for each in (claim, sentence)]
    return [] if sides == [1, 1] and len(found) == 2 else found


def _negations(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
    """A negation of what the other text says, where that denies nothing in any way."""
    for own, other, is_claim in ((claim, sentence, True), (sentence, claim, False)):
        for negation in own.negations:
            focus = _denied(negation, own, other)
            if focus is None or answered(negation.scope, other) or own.frames != other.frames:
                continue
            if _OTHERWISE.search(own.text) or _OTHERWISE.search(other.text):
                continue
            if _bounds_date(negation, own) and not _bounds_date(negation, other):
                continue
            if _CONDITION.search(own.text, negation.word.end) and other.by_base.keys() & _NEEDED:
                continue  # "not without a ticket" of "need a ticket"
            if base("before") in own.by_base and "first" in other.by_base:  # "never … before"
                continue
            if is_claim and any(
                each.value == 0.0 and each.kind == "number" for each in other.quantities
            ):
                continue
            at = other.find(focus)[0].start
            word = _span(negation.word)
            yield Conflict("negation", *((word, (at, at)) if is_claim else ((at, at), word)))


def _denied(negation: Negation, own: Reading, other: Reading) -> Word | None:
    """The first word that a negation denies everywhere: "not cover labour" where parts are."""
    for word in negation.scope[:2]:
        if not other.find(word) or not word.is_denied:
            return None
        if all(place.is_denied for place in own.find(word)):
            return word
    return None


def _bounds_date(negation: Negation, reading: Reading) -> bool:
    """Whether a text has a date behind words of a negation, "not be sold before 2020"."""
    held = [place for word in negation.scope[:1] for place in reading.find(word)]
    return any(
        each.role in ("before", "after") and any(word.start < each.start for word in held)
        for each in reading.quantities
    )


def answered(scope: Sequence[Word], other: Reading) -> bool:
    """Whether a text denies one of some words too."""
    return any(map(other.denies, scope))


def unanswered(claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether a claim denies what no text denies."""
    return any(
        negation.scope and not any(answered(negation.scope, text) for text in texts)
        for negation in claim.negations
    )


def denied_alone(sentence: Reading, claim: Reading) -> bool:
    """Whether a sentence denies a word of a claim that denies nothing of it."""
    return any(
        any(map(claim.find, negation.scope)) and not answered(negation.scope, claim)
        for negation in sentence.negations
    )


def _prefixed(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
    """Words that are the same but for "un-" or the like in front."""
    for word in claim.words:
        if sentence.find(word):
            continue
        for other in sentence.words:
            if (
                is_prefixed(word.text, other.text)
                and not claim.find(other)
                and word.is_denied == other.is_denied
            ):
                yield Conflict("negation", _span(word), _span(other))
                break


def _opposites(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
    for word, other in opposed(claim, sentence):
        # "The total increased, with a decrease in costs" says both.
        if not sentence.by_base.keys() & OPPOSITES[other.base]:
            yield Conflict("opposite", _span(word), _span(other))


def opposed(claim: Reading, sentence: Reading) -> Iterator[tuple[Word, Word]]:
    """Words of a claim that a sentence has not, and words of it that mean the opposite."""
    if reordered(claim, sentence):  # "A is larger than B" of "B is smaller than A"
        return
    for word in claim.words:
        if word.base in sentence.by_base or word.base not in OPPOSITES:
            continue
        for opposite in sorted(OPPOSITES[word.base]):
            places = sentence.by_base.get(opposite, ())
            is_denied = bool(claim.negations) != bool(sentence.negations)
            if is_denied and {word.base, opposite} == _ORDER:  # "not before" of "after"
                continue
            if places and have_changed(claim, sentence, word.base, opposite):
                continue  # "A before B" of "B after A"
            for other in places:
                if opposite not in claim.by_base and word.is_denied == other.is_denied:
                    yield word, other
                    break


def _shares(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
    for word, share, focus in _shared(claim):
        for other, there, place in _shared(sentence):
            is_number = isinstance(word, Quantity) and isinstance(other, Quantity)
            if focus.base != place.base or is_number:
                continue
            is_apart = (share == 1.0 and there < 1.0) or (share - 0.4) * (there - 0.4) < -0.05
            # "some" holds where "all" does
            if is_apart and not (share < there and share == 0.3):
                yield Conflict("quantity", _span(word), _span(other))


def _shared(reading: Reading) -> Iterator[tuple[Word | Quantity, float, Word]]:
    """Words for a share of all, the share, and what it is a share of."""
    for word in reading.words:
        share = QUANTIFIERS.get(word.text.lower())
        behind = reading.words[word.at + 1 : word.at + 5]
        focus = next((each for each in behind if each.is_content), None)
        if share is None or focus is None:
            continue
        before = reading.words[word.at - 1].text.lower() if word.at else ""
        if share == 1.0 and (behind[0].text.lower() == "but" or before == "not"):
            share = 0.8 if before != "not" else 0.5  # "all but three", "not all"
        yield word, share, focus
        subject = _subject(word, reading)
        if subject is not None:
            yield word, share, subject
    for each in reading.quantities:
        behind_it = [word for word in reading.words if word.start >= each.end][:4]
        focus = next((word for word in behind_it if word.is_content), None)
        if focus and each.unit == "percent" and behind_it[0].text.lower() == "of":
            yield each, each.value / 100, focus


def _subject(word: Word, reading: Reading) -> Word | None:
    """The noun in front of a quantifier and its verb: "the houses were not all sold"."""
    before = list(reversed(reading.words[max(0, word.at - 3) : word.at]))
    while before and (before[0].text.lower() == "not" or before[0].base in _HAVE_OR_BE):
        del before[0]
    is_subject = before and before[0].is_content
    joined = is_subject and not re.search(r"[^\w\s]", reading.text[before[0].end : word.start])
    return before[0] if joined else None


def _names(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
    """A name in the place of another: the words on both sides are the same."""
    for first, last in _runs(claim, sentence):
        name = claim.words[first:last]
        for start, end in _runs(sentence, claim):
            other = sentence.words[start:end]
            is_whole = not any(word.is_name for word in claim.words[last : last + 1])
            begins = first == start == 0 and is_whole
            if (
                begins or _is_same_side(claim, first - 1, sentence, start - 1, last=False)
            ) and _is_same_side(claim, last, sentence, end, last=True):
                yield Conflict(
                    "name", (name[0].start, name[-1].end), (other[0].start, other[-1].end)
                )
                break


def _is_same_side(claim: Reading, at: int, sentence: Reading, there: int, *, last: bool) -> bool:
    """Whether the words before or behind two names are the same, or both texts end there."""
    if last and at == len(claim.words):
        if there == len(sentence.words):
            return True
        rest = sentence.text[sentence.words[there - 1].end :].lstrip()
        return not rest or rest[0] in ".,;:)("
    if at < 0 or there < 0 or there >= len(sentence.words) or at >= len(claim.words):
        return False
    return claim.words[at].base == sentence.words[there].base


def _runs(reading: Reading, other: Reading) -> Iterator[Span]:
    """First and last of the words of each name, without words that the other text has."""
    names = [word for word in reading.words if word.is_name]
    names += [word for word, last in pairwise(reading.words) if is_name_of_two(word, last, reading)]
    own = sorted({word.at for word in names if not other.find(word)})
    for _, run in groupby(enumerate(own), lambda each: each[1] - each[0]):
        places = [at for _, at in run]
        yield places[0], places[-1] + 1
