"""The places of a text that nearly hold a quotation, and which words differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from milepost.quotes.alignment import Pair, align
from milepost.quotes.folding import Folded, fold
from milepost.quotes.gaps import ends_word, is_negative, starts_word
from milepost.quotes.stretches import stretches
from milepost.quotes.verbatim import Occurrence, mismatches
from milepost.quotes.words import AmountSpan, Words, amounts_in, weight, words
from milepost.types import Span
from milepost.verdicts import Difference

NEAR = 0.75
"""Similarity from which a place counts: at most a quarter of the words, by weight, differ."""

MAX_WORDS = 5_000
"""Words of the longest quotation that is aligned, some ten pages; longer ones take too long."""

_MAX_PLACES = 5

_GROUPS = ".,:/'\u00a0\u2007\u2009\u202f"
_NUMBER_BEFORE = re.compile(rf"(?:\d[\d{_GROUPS}]*)?$")
_NUMBER_BEHIND = re.compile(rf"(?:[{_GROUPS}]\d+)*(?:[\^\u207a\u207b]\S*)?")


def near(given: Folded, text: Folded) -> list[Occurrence]:
    """Find the places that nearly hold a quotation, most similar first, none inside of another.

    Only stretches that share rare words with the quotation are aligned, and no quotation of more
    than ``MAX_WORDS`` words. Places that hold it word for word are left out.
    """
    asked = words(given)
    if not 0 < len(asked.forms) <= MAX_WORDS:
        return []
    amounts = amounts_in(given.text)
    places: list[Occurrence] = []
    for start, end in stretches(asked, text):
        own, there = _cut(asked, amounts, fold(text.text[start:end]))
        total = sum(map(weight, own.forms))
        cost, pairs = align(own.forms, there.forms, own.values | there.values)
        if cost <= (1.0 - NEAR) * total:
            place = _place(own, there, pairs, cost / total)
            if place is not None and place.similarity >= NEAR:
                places.append(place.moved(start))
    places.sort(key=lambda place: (-place.similarity, place.start))
    apart: list[Occurrence] = []
    for place in places:
        if all(place.end <= other.start or other.end <= place.start for other in apart):
            apart.append(place)
    return apart[:_MAX_PLACES]


def _cut(given: Words, amounts: list[AmountSpan], text: Folded) -> tuple[Words, Words]:
    """The words of both texts; an amount that they write differently is one word in both."""
    own = _by_value(given.folded.text, amounts)
    held = amounts_in(text.text) if amounts else []
    other = _by_value(text.text, held)
    differ = {value for value in own.keys() & other.keys() if own[value] != other[value]}
    if not differ:
        return given, words(text)
    # Two readings of a date are at one place.
    chosen = (
        list({each[0]: each for each in found if each[2] in differ}.values())
        for found in (amounts, held)
    )
    return words(given.folded, next(chosen)), words(text, next(chosen))


def _by_value(text: str, amounts: list[AmountSpan]) -> dict[str, set[str]]:
    """The ways in which each amount is written, apart from white space and case."""
    found: dict[str, set[str]] = {}
    for start, end, value in amounts:
        found.setdefault(value, set()).add("".join(text[start:end].casefold().split()))
    return found


def _place(given: Words, text: Words, pairs: list[Pair], cost: float) -> Occurrence | None:
    """The place of an alignment, with its differences; None where there is none."""
    pairs = _with_first(given, text, pairs)
    differs = [i is None or j is None or given.forms[i] != text.forms[j] for i, j in pairs]
    parted = set(_parted(given, text, pairs, differs))
    if not parted and not any(differs):
        return None
    total = sum(map(weight, given.forms))
    for number in parted:
        differs[number] = True
        cost += weight(given.forms[pairs[number][0] or 0]) / total
    held = [j for _, j in pairs if j is not None]
    start, end = text.start(held[0]), text.end(held[-1])
    own_text, other_text = given.folded.text, text.folded.text
    differences = []
    for own, other in _spans(given, text, pairs, differs):
        low, high = _whole_number(other_text, other, (start, end))
        start, end = min(start, low), max(end, high)
        differences.append(Difference(own_text[slice(*own)], other_text[low:high], *own, low, high))
    return Occurrence(start, end, (), max(0.0, 1.0 - cost), tuple(differences))


def _with_first(given: Words, text: Words, pairs: list[Pair]) -> list[Pair]:
    """An alignment with a first word that the text has not beside the word in its place.

    "All of us" beside "Some of us": to leave "Some" out costs nothing. "We go" beside "We don't
    go": so it does to leave out "We".
    """
    (first, missing), *rest = pairs
    behind = rest[0][1] if rest else None
    if missing is not None or not behind or not text.forms[behind - 1][0].isalnum():
        return pairs
    if first is not None and behind > 1 and text.forms[behind - 2] == given.forms[first]:
        return [(first, behind - 2), (None, behind - 1), *rest]
    return [(first, behind - 1), *rest]


def _spans(
    given: Words, text: Words, pairs: list[Pair], differs: list[bool]
) -> Iterator[tuple[Span, Span]]:
    """Where the quotation and the text differ; neighbouring words are one difference."""
    given_at = given.start(0)  # where the last word before a difference ends
    at = text.start(next(j for _, j in pairs if j is not None))
    for is_different, group in groupby(range(len(pairs)), differs.__getitem__):
        inside = [pairs[number] for number in group]
        own = [i for i, _ in inside if i is not None]
        other = [j for _, j in inside if j is not None]
        if is_different:
            yield (
                (given.start(own[0]), given.end(own[-1])) if own else (given_at, given_at),
                (text.start(other[0]), text.end(other[-1])) if other else (at, at),
            )
        given_at = given.end(own[-1]) if own else given_at
        at = text.end(other[-1]) if other else at


def _parted(given: Words, text: Words, pairs: list[Pair], differs: list[bool]) -> Iterator[int]:
    """Numbers of the pairs whose words are equal and, with the gaps beside them, are not."""
    for is_different, group in groupby(range(len(pairs)), differs.__getitem__):
        if is_different:
            continue
        run = list(group)
        own = [i for i, _ in (pairs[number] for number in run) if i is not None]
        other = [j for _, j in (pairs[number] for number in run) if j is not None]
        first, at = int(given.firsts[own[0]]), int(text.firsts[other[0]])
        ends = (text.lasts[other] - at).tolist()
        for letter in mismatches(given.folded, first, text.folded, at, ends[-1]):
            signs = (
                is_negative(given.folded, first + letter + 1),
                is_negative(text.folded, at + letter + 1),
            )
            for side in (letter + 1,) if signs[0] != signs[1] else (letter, letter + 1):
                yield run[next(n for n, end in enumerate(ends) if side < end)]
        begins = first > 0 or starts_word(given.folded, text.folded, at)
        if not begins or is_negative(given.folded, first) != is_negative(text.folded, at):
            yield run[0]
        if run[-1] == len(pairs) - 1 and not ends_word(text.folded, at + ends[-1] - 1):
            yield run[-1]


def _whole_number(text: str, span: Span, place: Span) -> Span:
    """A difference at an edge of its place, with all of the number that it is a part of."""
    start, end = span
    if start == place[0] and text[start : start + 1].isdigit():
        rest = _NUMBER_BEFORE.search(text[max(0, start - 40) : start])
        start -= len(rest[0]) if rest else 0
    if end == place[1] and text[end - 1 : end].isdigit():
        rest = _NUMBER_BEHIND.match(text[end : end + 40])
        end += len(rest[0]) if rest else 0
    return start, end
