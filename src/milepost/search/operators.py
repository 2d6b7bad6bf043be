"""Words in quotation marks and words behind a minus sign: what a passage must and must not hold.

    how is "natural selection" tested -pigeons

The passages hold "natural selection" word for word and do not hold "pigeons"; asked is
"how is natural selection tested".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PHRASE = re.compile(
    r"(?P<minus>(?<!\S)-)?"
    r"(?:“(?P<english>[^“”]+)”|„(?P<german>[^„“”\"]+)[“”\"]"
    r"|«(?P<french>[^«»]+)»|»(?P<danish>[^«»]+)«"
    # A straight mark behind a word or number (5" and 6") or before a space opens nothing.
    r"|(?<!\w)\"(?=\S)(?P<straight>[^\"]+)(?<=\S)\"(?!\w))"
)
_MINUS = re.compile(r"(?<!\S)-(?P<word>[^\W\d_][^\s\"“”„«»]*)")
_TRAILING = ".,;:"
_BEHIND = ".,;:!?)]}"


@dataclass(frozen=True, slots=True)
class Operators:
    """A question and what it asks of the words of a passage.

    Attributes:
        question: without marks, minus signs and excluded words.
        phrases: what a passage must hold, in order, each once.
        excluded: what it must not hold.
    """

    question: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def read_operators(text: str) -> Operators:
    """Take the operators out of a question.

    A minus sign is one if it has white space, or nothing, before it and a letter or a quotation
    mark behind it. So "e-mail", " - ", "--json" and "-5" are not; -"5" is. A phrase ends before
    the punctuation that American English puts inside of the marks.

    >>> read_operators('how is "natural selection," tested -pigeons at -5 degrees')
    Operators(question='how is natural selection, tested at -5 degrees', \
phrases=('natural selection',), excluded=('pigeons',))
    """
    phrases: dict[str, None] = {}
    excluded: dict[str, None] = {}

    def take(match: re.Match[str]) -> str:
        inner = next(each for each in match.groups()[1:] if each is not None).strip()
        phrase = inner.rstrip(_TRAILING)
        if not any(map(str.isalnum, phrase)):
            return match[0]
        if match["minus"]:
            excluded[phrase] = None
            return " "
        phrases[phrase] = None
        return inner

    def leave_out(match: re.Match[str]) -> str:
        word = match["word"].rstrip(_BEHIND)
        excluded[word] = None
        return match["word"][len(word) :]

    # Phrases first: a minus sign inside of one is a part of it.
    pieces: list[str] = []
    at = 0
    for match in _PHRASE.finditer(text):
        pieces += (_MINUS.sub(leave_out, text[at : match.start()]), take(match))
        at = match.end()
    pieces.append(_MINUS.sub(leave_out, text[at:]))
    if not (phrases or excluded):
        return Operators(text)
    return Operators(" ".join("".join(pieces).split()), tuple(phrases), tuple(excluded))
