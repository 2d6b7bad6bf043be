"""Sentences that say something together: a list item and its lead-in, a question and its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from milepost.documents.sentences import split
from milepost.language.lists import is_lead_in, is_question, lead_in_before, marker_of
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
    lead_in: int | None = None
    for number, hit in enumerate(hits):
        is_next = number > 0 and hits[number - 1].end == hit.start
        is_line = not is_next or hits[number - 1].text.endswith("\n")
        marker = marker_of(hit.text) if is_line else 0
        if not is_next or (is_line and not marker):
            lead_in = None
        if is_question(hit.text):
            found.append(_answered(hit, hits[number + 1 : number + 2]))
        elif marker and lead_in is not None and hit.start - hits[lead_in].start <= LONGEST:
            found.append(_item(hits[lead_in : number + 1], marker))
        else:
            found.append(Joined(hit, hit.text))
        if is_lead_in(hit.text):
            lead_in = number
        elif marker and hit.text.rstrip().endswith(":"):
            lead_in = None  # whose items follow, nobody knows
    return found


def _item(hits: Sequence[Hit], marker: int) -> Joined:
    """The last of some sentences of a list, whose marker is so long, with the first."""
    first, *_, item = hits
    text = "".join(each.text for each in hits)
    words = first.text.rstrip()[:-1]  # a colon ends what a negation denies
    words = words.ljust(len(text) - len(item.text) + marker) + item.text[marker:]
    return Joined(replace(item, start=first.start, text=text), words, "item")


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
