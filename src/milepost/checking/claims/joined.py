"""Sentences that say something together: a list item and its lead-in, a question and its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from milepost.documents.sentences import split
from milepost.language.lists import (
    indent_behind,
    is_lead_in,
    is_question,
    lead_in_before,
    marker_of,
)
from milepost.types import Hit

LONGEST = 1200
"""Most characters from the lead-in of a list to an item."""

_BRIEF = 6  # most words of an answer that is a number or a name, and no sentence of its own

_ASKS = re.compile(
    r"\W*(?:Q(?:uestion)?\s?\d*[.:)]\W*)?"
    r"(?:(?P<verb>am|is|are|was|were|do|does|did|can|could|should|will|would|may|must|has|have|had)"
    r"|(?P<open>how (?:many|much|long|old|often|far|large)|what|when|where|who))\b",
    re.IGNORECASE,
)
"""The beginning of a question whose answer is yes or no, and of any other one."""
_YES_OR_NO = re.compile(
    r"\W*(?:A(?:nswer)?\s?\d*[.:)]\W*)?(?:(?:unfortunately|sadly|sorry|regrettably),?\s+)?"
    r"(?:(?P<yes>(?:yes|yeah|indeed|correct|certainly|absolutely|of course)\b)(?! not\b)"
    r"|(?:no|nope|never)\b(?=\s*(?:[.,;:!]|[—–-]\s|$))"
    r"|(?:(?:of course|certainly|absolutely) )?"
    r"not\b(?=\s*(?:[.,;:!]|$)| (?:yet|really|at all|always|necessarily)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Joined:
    """What is compared with a claim: a sentence, or several as one.

    Attributes:
        hit: the sentence; from the first one on where there are several.
        words: what to read of its text, as long as that; blanks are left out.
        kind: "item" of a list, read with its lead-in; "answer", a question that is answered, read
            as a statement; "question", which says nothing.
    """

    hit: Hit
    words: str
    kind: Literal["sentence", "item", "answer", "question"] = "sentence"


def joined(hits: Sequence[Hit]) -> list[Joined]:
    """The sentences of a passage in order, each with those that it needs."""
    found: list[Joined] = []
    leads: list[_Lead] = []  # into the list that is open, and into the inner lists of its items
    for number, hit in enumerate(hits):
        before = hits[number - 1] if number and hits[number - 1].end == hit.start else None
        indent = indent_behind(before.text) if before else 0
        marker = 0 if indent is None else marker_of(hit.text)
        if before is None or (indent is not None and not marker):
            leads = []
        elif indent is not None:
            leads = _around(leads, indent, before)
        if is_question(hit.text):
            found.append(_answered(hit, hits[number + 1 : number + 2]))
        elif marker and leads and hit.start - leads[0].hit.start <= LONGEST:
            found.append(_item(hits[: number + 1], leads, marker))
        else:
            found.append(Joined(hit, hit.text))
        if is_lead_in(hit.text):
            leads = [_Lead(hit)]
        elif marker and leads and hit.text.rstrip().endswith(":"):
            leads = [*leads, _Lead(hit, marker, indent or 0)]
    return found


@dataclass(frozen=True, slots=True)
class _Lead:
    """A sentence, or an item with a marker and an indentation, behind which items follow."""

    hit: Hit
    marker: int = 0
    indent: int = -1


def _around(leads: Sequence[_Lead], indent: int, before: Hit) -> list[_Lead]:
    """The lead-ins of an item: it stands further in than those that are items.

    Whose items follow where they stand no further in, nobody knows.
    """
    if leads and leads[-1].hit is before and leads[-1].indent >= indent:
        return []
    return [each for each in leads if each.indent < indent]


def _item(hits: Sequence[Hit], leads: Sequence[_Lead], marker: int) -> Joined:
    """The last of some sentences of a list, whose marker is so long, with its lead-ins."""
    item, start = hits[-1], leads[0].hit.start
    text = "".join(each.text for each in hits if each.start >= start)
    words = ""
    for lead in leads:
        said = lead.hit.text[lead.marker :].rstrip()[:-1]  # a colon ends what a negation denies
        words = words.ljust(lead.hit.start - start + lead.marker) + said
    words = words.ljust(len(text) - len(item.text) + marker) + item.text[marker:]
    return Joined(replace(item, start=start, text=text), words, "item")


def _answered(question: Hit, following: Sequence[Hit]) -> Joined:
    """A question as what its answer makes of it; by "no" its verb becomes a negation."""
    asked = _ASKS.match(question.text)
    answer = following[0] if following and following[0].start == question.end else None
    if asked is None or answer is None or is_question(answer.text):
        return Joined(question, question.text, "question")
    said = _YES_OR_NO.match(answer.text)
    rest = question.text[asked.end() :].replace("?", " ")
    whole = replace(question, end=answer.end, text=question.text + answer.text)
    words = answer.text.split() or [""]
    has_name = any(word[0].isupper() for word in words[1:])
    is_fact = has_name or any(letter.isdigit() for letter in answer.text)
    is_brief = len(words) <= _BRIEF and words[-1].endswith((".", "!"))
    if asked["open"] and is_fact and is_brief and said is None:
        return Joined(whole, " " * asked.end() + rest + answer.text, "answer")
    if asked["verb"] and said is not None:
        verb = "" if said["yes"] else "no"
        statement = " " * asked.start("verb") + verb.ljust(len(asked["verb"])) + rest
        return Joined(whole, statement.ljust(len(whole.text)), "answer")
    return Joined(question, question.text, "question")


def with_lead_in(text: str, item: Hit) -> list[Hit]:
    """The sentences of a list up to an item, as hits, of the text in front of the item."""
    spans = split(text)
    first = lead_in_before([text[start:end] for start, end in spans])
    at = item.start - len(text)
    listed = [] if first is None else spans[first:]
    return [replace(item, start=at + a, end=at + b, text=text[a:b]) for a, b in listed]
