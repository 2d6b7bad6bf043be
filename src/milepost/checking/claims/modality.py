"""Sentences that say of another time, of a plan, of a belief or as advice what a claim says."""

from __future__ import annotations

import re

from milepost.checking.claims.reading import Reading, Word
from milepost.checking.claims.turned import CLAUSE, clauses, counted
from milepost.checking.claims.vocabulary import (
    AHEAD,
    DOUBTS,
    SAYING,
    TRYING,
    UNIVERSAL,
    is_past_form,
)

_BESIDE = frozenset(["be", "have", "not", "also", "soon", "now"])  # stems beside "will"

_ENDED = re.compile(
    r"\b(?:formerly|previously|originally|initially|at first|in the past|until|till"
    r"|former|previous(?! (?:year|quarter|month|week|day|period)s?\b)"
    r"|before (?:\d{4}|then)|from \d{4} to \d{4}"
    r"|(?<=\w )once(?! (?:a|an|per|every|the|it)\b)"
    r"|(?P<habit>(?<!is )(?<!are )(?<!be )(?<!been )(?<!was )(?<!were )(?<!being )used to))\b",
    re.IGNORECASE,
)
"""What says of a state in the past that it ended."""
_DUTY = re.compile(
    r"\b(?:must|shall|ha(?:ve|s|d) to|requir\w+|oblig\w+|mandatory|compulsory|needs? to)\b", re.I
)
_ADVICE = re.compile(
    r"\b(?:should|ought|advis\w+|recommend\w*|suggest\w*|encourag\w+|urge[sd]?|ideally)\b", re.I
)
_WAS = frozenset(["was", "were", "had", "did"])
_PRESENT = frozenset("am is are be being been have has do does done".split())


def is_ahead(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim says to be done what a sentence says will be, or was tried or agreed.

    Where it has a number or "all", what the clause with that says: "plans to plant 90 trees, of
    which 10 are planted".
    """
    clause = clauses(sentence, CLAUSE)
    near = {clause(each) for own in claim.quantities for each in counted(own, sentence)}
    every = [word for word in claim.words if word.text.lower() in UNIVERSAL]
    near |= {clause(place) for word in every for place in sentence.find(word)}
    for word in claim.content:
        places = sentence.find(word)
        places = [place for place in places if clause(place) in near] or places
        if _is_done(word, claim) and places and all(_is_ahead(place, sentence) for place in places):
            return True
    return False


def is_over(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim says of today what a sentence says of a time that ended.

    "The mill is a prison" of "the mill was formerly a prison".
    """
    ended = _ENDED.search(sentence.text)
    if not ended or _ENDED.search(claim.text) or _WAS & {each.text.lower() for each in claim.words}:
        return False
    if ended["habit"]:
        verb = next((word for word in sentence.words if word.start >= ended.end()), None)
        return verb is not None and any(word.base == verb.base for word in claim.words)
    return any(
        places and not _is_past(word) and all(map(_is_past, places))
        for word in claim.words
        if (places := sentence.by_base.get(word.base, ()))
    )


def is_advice(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim has "must" where a sentence has "should"."""
    has_duty = [_DUTY.search(each.text) is not None for each in (claim, sentence)]
    return has_duty == [True, False] and _ADVICE.search(sentence.text) is not None


def is_framed(claim: Reading, sentence: Reading) -> bool:
    """Whether a sentence doubts what it says, and the claim does not."""
    return bool((sentence.frames - claim.frames) & DOUBTS)


def _is_past(word: Word) -> bool:
    form = word.text.lower()
    return form.endswith("ed") or (is_past_form(form) and form not in _PRESENT)


def _is_done(word: Word, reading: Reading) -> bool:
    before = {each.base for each in reading.words[max(0, word.at - 2) : word.at]}
    return (_is_past(word) or "have" in before) and not _is_ahead(word, reading)


def _is_ahead(word: Word, reading: Reading) -> bool:
    """Whether a verb stands behind "will", somebody's "would", or "to" and a verb of trying."""
    before = list(reversed(reading.words[max(0, word.at - 6) : word.at]))
    while before and (before[0].base in _BESIDE or before[0].text.endswith("ly")):
        del before[0]
    if not before:
        return False
    first = before[0].text.lower()
    if first == "would":
        return any(each.text.lower() in SAYING for each in reading.words[: before[0].at])
    if first == "to":
        is_ahead = any(each.base in AHEAD for each in before[1:2])
        return is_ahead or any(each.base in TRYING for each in before[1:5])
    return first in ("will", "won't")
