"""Citations of an answer: which sentence cites which passage, and whether the passage says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from milepost.documents import split
from milepost.quotes import fold, occurrences, stripped
from milepost.types import Hit, Passage, Span

Verdict = Literal[
    "verbatim",
    "near",
    "supported",
    "contradicted",
    "related",
    "unsupported",
    "unquoted",
    "misquoted",
    "missing",
]
"""What holds of a citation:

- ``verbatim``: the sentence, or what it quotes, stands in the passage word for word. Once checked,
  the passage does not contradict what is said beside a quote, but may be only related to it.
- ``near``: the sentence stands in the passage but for some words, none of which contradicts it.
- ``supported``: it quotes nothing, and a sentence of the passage says so in other words.
- ``contradicted``: a sentence of the passage says something else in an exact point.
- ``related``: it quotes nothing, and the passage is about it: it may support or contradict it.
- ``unsupported``: the passage is not about it, or improbably.
- ``unquoted``: it quotes nothing from the passage, and it was not checked further.
- ``misquoted``: it puts words in quotation marks that none of the passages it cites has.
- ``missing``: there is no passage of that number.
"""

# In a range, longer numbers are years.
_ONE = r"(?:passages?\s+)?(?:\d{1,2}\s*[-‐‑–]\s*\d{1,2}|\d{1,4})"
_CITED = re.compile(
    rf"\s?[\[【]\s*({_ONE}(?:\s*[,;]\s*{_ONE})*)\s*[\]】](?:\(#[^\s()]*\)|(?!\(\S+\)))",
    re.IGNORECASE,
)
"""Numbers in brackets: ``[1, 3-4]``, in Markdown also ``[Passage 1](#1)``; other links are not."""
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」")
_WORD = re.compile(r"\w{2}")
_EDGES = " \t\n.,;:!?…"
_GAP = re.compile(r"\s*(?:\[\s*)?(?:\.\.\.|…)(?:\s*\])?\s*")
"""An ellipsis, which leaves out words of the passage."""


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence of a document that holds evidence about a sentence of an answer.

    Attributes:
        number: of the passage that has it, from 1; None where it is in none that was sent.
        score: the probability, 0–1, that its passage holds evidence about the sentence; None where
            it says it word for word or nearly.
    """

    number: int | None
    document: str
    start: int
    end: int
    page: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of an answer and a passage that it cites.

    Attributes:
        number: of the passage, from 1, as it is written in the answer.
        start, end: the sentence in the answer's text, in code points.
        sentence: its words, without citations.
        verdict: see ``Verdict``.
        quotes: what was found or not found: the words in quotation marks, or the sentence where it
            has none.
        spans: where what was found stands in the document of the passage: the quotes, or the
            sentence that supports it.
        support: what supports it: of ``supported`` in the passage, of ``unsupported`` elsewhere.
    """

    number: int
    start: int
    end: int
    sentence: str
    verdict: Verdict
    quotes: tuple[str, ...]
    spans: tuple[Span, ...]
    support: Support | None = None


def cited_sentences(answer: str) -> Iterator[tuple[Span, str, tuple[int, ...]]]:
    """Each sentence of an answer: its place, its words without citations, the numbers it cites.

    Numbers in brackets inside quotation marks are words of the passage, not citations. A line of
    citations alone belongs to the sentence before it.

    >>> list(cited_sentences("Bees build cells [1][3]. They live."))
    [((0, 25), 'Bees build cells.', (1, 3)), ((25, 35), 'They live.', ())]
    """
    held: tuple[Span, str, tuple[int, ...]] | None = None
    quoted = [match.span() for match in _QUOTED.finditer(answer)]
    for start, end in _joined(split(answer), quoted):
        marks = [
            match
            for match in _CITED.finditer(answer, start, end)
            if not any(low <= match.start(1) < high for low, high in quoted)
        ]
        numbers = [number for match in marks for number in _numbers(match[1])]
        words = answer[start:end]
        for match in reversed(marks):
            words = words[: match.start() - start] + words[match.end() - start :]
        words = words.strip()
        if held and numbers and not any(map(str.isalnum, words)):
            (first, _), before, cited = held
            held = (first, end), before, tuple(dict.fromkeys((*cited, *numbers)))
            continue
        if held:
            yield held
        held = (start, end), words, tuple(dict.fromkeys(numbers))
    if held:
        yield held


def _numbers(cited: str) -> Iterator[int]:
    for part in re.split("[,;]", cited):
        ends = [int(each) for each in re.findall(r"\d+", part)]
        yield from range(min(ends), max(ends) + 1)


def _joined(sentences: Sequence[Span], quoted: Sequence[Span]) -> Iterator[Span]:
    """Sentences, those that one quote holds together as one."""
    start = 0
    for _, end in sentences:
        if not any(low < end < high for low, high in quoted):
            yield start, end
            start = end


def check_citations(answer: str, passages: Sequence[Passage]) -> list[Citation]:
    """Check every citation of an answer against the passage that it names, numbered from 1."""
    found: list[Citation] = []
    for (start, end), sentence, numbers in cited_sentences(answer):
        cited = {n: passages[n - 1] for n in numbers if 1 <= n <= len(passages)}
        quotes = _quotes(sentence)
        lost = [
            quote
            for quote in quotes
            if not any(find_quote(quote, passage.text) for passage in cited.values())
        ]
        for number in numbers:
            verdict, held, places = _verdict(sentence, quotes, lost, cited.get(number))
            found.append(Citation(number, start, end, sentence, verdict, held, places))
    return found


def _verdict(
    sentence: str, quotes: Sequence[str], lost: Sequence[str], passage: Passage | None
) -> tuple[Verdict, tuple[str, ...], tuple[Span, ...]]:
    if passage is None:
        return "missing", (), ()
    if lost:
        return "misquoted", tuple(lost), ()
    spans = {quote: _place(quote, passage) for quote in quotes or [sentence]}
    held = {quote: span for quote, span in spans.items() if span is not None}
    if not held:
        return "unquoted", (), ()
    return "verbatim", tuple(held), tuple(held.values())


def _place(quote: str, passage: Passage) -> Span | None:
    """Where a quote stands in the document: in the best sentence that has it, else first."""
    parts: list[Hit | Passage] = [*passage.hits, passage]
    for part in parts:
        if span := find_quote(quote, part.text):
            return part.start + span[0], part.start + span[1]
    return None


def _quotes(sentence: str) -> list[str]:
    """What a sentence puts in quotation marks; a mark or a letter alone is no quote."""
    return [
        next(filter(None, match.groups()))
        for match in _QUOTED.finditer(sentence)
        if _WORD.search(match[0])
    ]


def outside_quotes(sentence: str) -> str:
    """What a sentence says outside quotation marks."""
    return _QUOTED.sub(" ", sentence)


def without_marks(sentence: str) -> str:
    """The words of a sentence and of its quotes, without the quotation marks."""
    return _QUOTED.sub(lambda match: next(filter(None, match.groups())), sentence)


def find_quote(quote: str, passage: str) -> Span | None:
    r"""Where a quote stands in a passage: from its first word to its last, whole words.

    White space, hyphens at the ends of lines, case and typography may differ, and marks at the
    quote's edges do not count. The parts of a quote with an ellipsis must come in their order.

    >>> find_quote("cells … of wax.", "Bees build cells\nmade of wax, and live there.")
    (11, 28)
    """
    text = fold(passage)
    start, end = -1, 0
    for part in _GAP.split(quote.strip(_EDGES)):
        given = stripped(part.strip(_EDGES))
        if not given.letters:
            continue
        found = next((each for each in occurrences(given, text) if each.start >= end), None)
        if found is None:
            return None
        start, end = (found.start if start < 0 else start), found.end
    return (start, end) if start >= 0 else None
