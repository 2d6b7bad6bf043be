"""What exactly differs between a claim and a sentence that speaks of the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise

from milepost.checking.claims.names import is_name_of_two
from milepost.checking.claims.quantity import Quantity
from milepost.checking.claims.reading import Negation, Reading, Word
from milepost.checking.claims.turned import have_changed, reordered
from milepost.checking.claims.values import Conflict, dated, replaced, span_of
from milepost.checking.claims.vocabulary import OPPOSITES, QUANTIFIERS, base, is_prefixed
from milepost.types import Span

_OTHERWISE = re.compile(r"\b(?:otherwise|or else|if not)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:without|before|until|unless)\b")
_NEEDED = frozenset(map(base, "need require only must with after once".split()))
"""Stems of words that say in another way that something is not without a condition."""
_ORDER = {base("after"), base("before")}
_HAVE_OR_BE = frozenset(["be", "have"])  # stems


def conflicts(
    claim: Reading, sentence: Reading, near: Sequence[Quantity] = ()
) -> tuple[Conflict, ...]:
    """What differs from a sentence, in the order of the claim.

    A number that is ``near`` it is no difference, unless the same is counted.
    """
    found = chain(
        replaced(claim, sentence, near),
        dated(claim, sentence),
        _denials(claim, sentence),
        _prefixed(claim, sentence),
        _opposites(claim, sentence),
        _shares(claim, sentence),
        _names(claim, sentence),
    )
    return tuple(sorted(set(found), key=lambda each: (each.given, each.found, each.kind)))


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
            if focus is None or any(map(other.denies, negation.scope)):
                continue
            if own.frames != other.frames or any(_OTHERWISE.search(e.text) for e in (own, other)):
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
            is_aside = negation.word.text.lower() in ("of", "than", "to")
            if is_aside and not all(map(sentence.says, claim.content)):
                continue  # "replaced X by Y" of "uses Y instead of X"
            at = other.find(focus)[0].start
            word = span_of(negation.word)
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


def unanswered(claim: Reading, texts: Sequence[Reading]) -> bool:
    """Whether a claim denies what no text denies."""
    return any(
        negation.scope and not any(any(map(text.denies, negation.scope)) for text in texts)
        for negation in claim.negations
    )


def denied_alone(sentence: Reading, claim: Reading) -> bool:
    """Whether a sentence denies a word of a claim that denies nothing of it."""
    return any(
        any(map(claim.find, negation.scope)) and not any(map(claim.denies, negation.scope))
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
                yield Conflict("negation", span_of(word), span_of(other))
                break


def _opposites(claim: Reading, sentence: Reading) -> Iterator[Conflict]:
    for word, other in opposed(claim, sentence):
        before = [each for each in claim.words[max(0, word.at - 3) : word.at] if each.is_content]
        if before and not sentence.find(before[-1]):
            continue  # the sentence says it of something else
        # "The total increased, with a decrease in costs" says both.
        if not sentence.by_base.keys() & OPPOSITES[other.base]:
            yield Conflict("opposite", span_of(word), span_of(other))


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
                yield Conflict("quantity", span_of(word), span_of(other))


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
    if at < 0 or there < 0 or there >= len(sentence.words):
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
