"""Sentences in which somebody else does what a claim says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from milepost.checking.claims.reading import Reading, Word, within
from milepost.checking.claims.vocabulary import OFFICES, SAYING, base

_REACH = 4  # words behind "by" that may name who does it, at most
_BEFORE = 3  # words in front of it among which the verb is, and in front of "says" who says it
_POSSESSIVE = ("'s", "’s")
_QUOTED = re.compile(r"[\"“][^\"“”]+[\"”]")
_SOURCES = frozenset(
    map(base, "report study author article document paper text page source note guide".split())
)
_PERSONS = OFFICES | frozenset(
    """
    deputy aide assistant lawyer attorney spokesman spokeswoman successor predecessor adviser agent
    wife husband widow son daughter cousin nephew niece friend rival neighbour neighbor employee
    partner colleague boss team staff
    """.split()
)


def has_other_agent(claim: Reading, sentence: Reading) -> bool:
    """Whether who is said to do something is there behind the "by" of another verb.

    "The ministry ran the study" of "The study was funded by the ministry and run by a college".
    """
    agents: dict[str, set[str]] = {}
    for by in sentence.words:
        if by.text.lower() == "by":
            before = [
                word for word in sentence.words[max(0, by.at - _BEFORE) : by.at] if word.is_content
            ]
            behind = sentence.words[by.at + 1 : by.at + 1 + _REACH]
            if before:
                agents[before[-1].base] = {word.base for word in behind if word.is_content}
    own = {word.base for word in claim.content}
    return any(
        verb in own and agent and not agent & own and any(other & own for other in agents.values())
        for verb, agent in agents.items()
    )


def is_said_by_another(claim: Reading, sentence: Reading) -> bool:
    """Whether what somebody says in a claim is there said by somebody else.

    A report or an author may be what the sentence stands in.
    """
    own, there = _speakers(claim) - _SOURCES, _speakers(sentence)
    return bool(own and there) and not own & there


def is_quoted(claim: Reading, sentence: Reading) -> bool:
    """Whether a claim tells as a fact what somebody is quoted with."""
    spans = [found.span() for found in _QUOTED.finditer(sentence.text)]
    says = any(word.text.lower() in SAYING and not within(word, spans) for word in sentence.words)
    if not says or SAYING & {word.text.lower() for word in claim.words}:
        return False
    return all(within(place, spans) for word in claim.content for place in sentence.find(word))


def _speakers(reading: Reading) -> set[str]:
    """The stems in front of a verb of saying, and behind "according to"."""
    stems: set[str] = set()
    for word in reading.words:
        near: Sequence[Word] = ()
        if word.text.lower() in SAYING:
            near = reading.words[max(0, word.at - _BEFORE) : word.at]
        elif word.base == "accord":
            near = reading.words[word.at + 1 : word.at + 1 + _REACH]
        stems.update(each.base for each in near if each.is_content)
    return stems


def is_owner(claim: Reading, sentence: Reading) -> bool:
    """Whether somebody is said to do what one of theirs does there: "the mayor's deputy"."""

    def owns(place: Word) -> bool:
        owned = sentence.words[place.at + 1 : place.at + 2]
        is_person = any(each.text.lower() in _PERSONS and not claim.find(each) for each in owned)
        return is_person and place.text.endswith(_POSSESSIVE)

    return any(
        places and all(map(owns, places))
        for word in claim.content
        if not word.text.endswith(_POSSESSIVE) and (places := sentence.find(word))
    )
