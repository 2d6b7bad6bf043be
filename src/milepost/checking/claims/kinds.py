"""What a place that holds a text, or nearly, says else: differences, and the sentence around."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from milepost.checking.claims.conflicts import conflicts
from milepost.checking.claims.reading import Reading, Word, read
from milepost.checking.claims.values import span_of
from milepost.documents.sentences import split
from milepost.language.detection import ENGLISH_WORDS, FOREIGN_WORDS, judge
from milepost.types import Span
from milepost.verdicts import CheckResult, DifferenceKind, Match

EXACT = ("number", "unit", "date")  # kinds of difference that are compared in every language
_SHORT = 5  # fewest words of which an English sentence has a function word
AROUND = 300  # characters on both sides of a place in which its sentence begins and ends
_PLACES = 5  # most places whose sentences are read: what is there more often is no sentence


def with_kinds(claim: str, place: Match) -> Match:
    """Say of the differences of a place that nearly holds a text which of them contradict it."""
    own, there = read(claim), read(place.text)
    english = is_english(own, place.text)
    found = [each for each in conflicts(own, there) if english or each.kind in EXACT]
    exchanged = {(one.given.lower(), one.text.lower()) for one in place.differences}
    differences = []
    for one in place.differences:
        given = one.given_start, one.given_end
        text = one.start - place.start, one.end - place.start
        kinds = (e.kind for e in found if _meets(e.given, given) or _meets(e.found, text))
        kind = next(kinds, None) or next(_changed(own, there, given, text), None)
        if kind is None and english and _denies(own, given, there) != _denies(there, text, own):
            kind = "negation"
        if kind is None and (one.text.lower(), one.given.lower()) in exchanged:
            kind = "order"
        differences.append(replace(one, kind=kind))
    return replace(place, differences=tuple(differences))


def _changed(own: Reading, there: Reading, given: Span, text: Span) -> Iterator[DifferenceKind]:
    """The kinds of numbers and dates at a difference that do not follow from each other."""
    for each in own.quantities:
        for other in there.quantities:
            is_there = _meets(span_of(each), given) and _meets(span_of(other), text)
            if is_there and each.kind == other.kind and not each.follows(other):
                yield each.kind


def _denies(reading: Reading, part: Span, other: Reading) -> bool:
    """Whether a part denies what the other text does not: "not necessary" is "unnecessary"."""
    own = [each for each in reading.negations if not any(map(other.denies, each.scope))]
    return sum(_meets(span_of(each.word), part) for each in own) % 2 == 1


def _meets(one: Span, other: Span) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def is_english(claim: Reading, text: str) -> bool:
    """Whether a claim is English; where its function words do not tell, it is what the text is."""
    if any(not word.text.isascii() and not word.is_name for word in claim.words):
        return False
    words = {word.text.lower() for word in claim.words}
    english, foreign = len(words & ENGLISH_WORDS), len(words & FOREIGN_WORDS)
    return english > foreign if english != foreign else not judge(text, 1).script


def noted(found: CheckResult, around: Sequence[str]) -> CheckResult:
    """Note where the sentences of all places, verbatim or near, deny or restrict what is there.

    ``around`` is the text from ``AROUND`` characters before the first places to as many behind.
    """
    places = found.places[:1] if found.verdict == "near" else found.places
    if len(found.text.split()) < _SHORT or len(places) > _PLACES:
        return found
    starts = [min(AROUND, each.start) for each in places]
    parts = zip(around, starts, places, strict=False)
    own = read(found.text) if found.verdict == "near" else None
    said = [_qualified(text, at, at + each.end - each.start, own) for text, at, each in parts]
    notes = [f"the sentence there says more: {' '.join(said[0].split())}"] if all(said) else []
    return replace(found, notes=(*found.notes, *notes))


def _qualified(text: str, start: int, end: int, claim: Reading | None) -> str:
    """The sentence around a part of an English text if it denies or restricts the part, else "".

    Or if it contradicts a claim of which the part has nearly all words.
    """
    spans = [each for each in split(text) if each[0] < end and start < each[1]]
    first = spans[0][0]
    whole, part = read(text[first : spans[-1][1]]), read(text[start:end])

    def is_inside(word: Word) -> bool:
        return start <= first + word.start < end

    outside = (each.scope for each in whole.negations if not is_inside(each.word))
    is_denied = any(is_inside(word) for scope in outside for word in scope)
    is_changed = bool(is_denied or whole.frames - part.frames)
    if claim is not None and not is_changed:
        is_changed = any(
            not start <= first + each.found[0] < end for each in conflicts(claim, whole)
        )
    return whole.text.strip() if is_changed and is_english(whole, text) else ""
