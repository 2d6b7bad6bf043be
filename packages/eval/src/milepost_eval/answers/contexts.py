"""What a language model is given of a text for a question, within a budget of tokens.

All systems get the same budget, counted by one tokenizer over what is sent: passages that overlap
are sent once, and the blank lines between passages are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from milepost.errors import InputError
from milepost.types import Document, Span
from milepost_eval.answers.tokens import TokenCounter
from milepost_eval.names import Workshop, parse
from milepost_eval.standard import unfolded
from milepost_eval.types import Place, Ranking, System

SEPARATOR = "\n\n"
"""Between two passages."""

NONE, WHOLE = "none", "whole"
CONTROLS = {
    NONE: "no context: what the language model knows",
    WHOLE: "the context itself, cut in the middle to the budget",
}
"""Systems that retrieve nothing."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is given for one question.

    Attributes:
        text: passages in the order of their document; "" for none.
        tokens: their length, at most the budget.
    """

    text: str
    tokens: int


class ContextSource(Protocol):
    """What gives contexts: a system that retrieves, or a control."""

    name: str
    fingerprint: str

    def contexts(
        self, document: Document, questions: Sequence[str], budgets: Sequence[int]
    ) -> Iterator[tuple[Context, ...]]:
        """For each question about a document one context per budget in tokens, in order."""


class NoContext:
    """``none``: the question alone. Implements ``ContextSource``."""

    name = NONE
    fingerprint = ""

    def contexts(
        self, document: Document, questions: Sequence[str], budgets: Sequence[int]
    ) -> Iterator[tuple[Context, ...]]:
        """See ``ContextSource.contexts``."""
        for _ in questions:
            yield (Context("", 0),) * len(budgets)


class CutInMiddle:
    """``whole``: beginning and end of the document, half of the budget each.

    So LongBench shortens what is too long for a language model (Bai et al. 2024). Implements
    ``ContextSource``.
    """

    name = WHOLE
    fingerprint = ""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def contexts(
        self, document: Document, questions: Sequence[str], budgets: Sequence[int]
    ) -> Iterator[tuple[Context, ...]]:
        """See ``ContextSource.contexts``; the same for all questions."""
        found = tuple(self._cut(document.text.strip(), budget) for budget in budgets)
        for _ in questions:
            yield found

    def _cut(self, text: str, budget: int) -> Context:
        count = self._counter.count(text)
        if count <= budget:
            return Context(text, count)
        head = self._counter.head(text, budget - budget // 2)
        spent = self._counter.count(head)
        tail = self._counter.tail(text[len(head) :], budget - spent)
        parts = [part for part in (head.strip(), tail.strip()) if part]
        return Context(SEPARATOR.join(parts), spent + self._counter.count(tail))


class Retrieved:
    """The best places of a system, until the budget is spent. Implements ``ContextSource``.

    Args:
        system: ranks the places of a document.
        counter: measures what is given.
    """

    def __init__(self, system: System, counter: TokenCounter) -> None:
        self.name, self.fingerprint = system.name, system.fingerprint
        self._system, self._counter = system, counter

    def contexts(
        self, document: Document, questions: Sequence[str], budgets: Sequence[int]
    ) -> Iterator[tuple[Context, ...]]:
        """See ``ContextSource.contexts``."""
        opened = self._system.open((document,))
        # What a token takes of this text, to begin with the right number of characters.
        wide = len(document.text) / max(1, self._counter.count(document.text))
        for ranking in opened.search(questions):
            yield tuple(
                _spent(document.text, ranking, budget, wide, self._counter) for budget in budgets
            )


def sources(names: Iterable[str], workshop: Workshop, counter: TokenCounter) -> list[ContextSource]:
    """What gives contexts, by name.

    Args:
        names: of systems or sets of systems, ``none`` and ``whole``.
        workshop: makes the systems.
        counter: measures contexts.

    Raises:
        InputError: a name is unknown, or its system cannot be made.
    """
    chosen = unfolded(names)
    for name in chosen:
        if name not in CONTROLS:
            try:
                parse(name)
            except InputError as error:
                raise InputError(error.problem, f"{error.hint}; or {', '.join(CONTROLS)}") from None
    found: list[ContextSource] = []
    for name in chosen:
        if name == NONE:
            found.append(NoContext())
        elif name == WHOLE:
            found.append(CutInMiddle(counter))
        else:
            found.append(Retrieved(workshop.make(name), counter))
    return found


def _spent(text: str, ranking: Ranking, budget: int, wide: float, counter: TokenCounter) -> Context:
    """The context of a ranking.

    Rankings are spent in characters, and Milepost's chooses other sentences for another budget. So
    it is asked for somewhat more until the tokens are spent, and no more than that.
    """
    size = max(1, round(budget * wide))
    before, places_before = 0, -1
    while True:
        places = ranking.spend(size)
        spans, tokens, full = filled(text, places, budget, counter)
        # Beyond the whole text each round has room for one more place: no more came, no more will.
        if full or (before >= len(text) and len(places) == places_before):
            return Context(SEPARATOR.join(text[a:b].strip() for a, b in spans), tokens)
        before, places_before = size, len(places)
        growth = 2.0 if size >= len(text) or not tokens else max(1.05, budget / tokens)
        size = max(size + 1, round(size * growth))


def filled(
    text: str, places: Iterable[Place], budget: int, counter: TokenCounter
) -> tuple[list[Span], int, bool]:
    """Take places, best first, until a budget of tokens is spent; the last one is cut.

    What was taken before is not paid for again. Places with only white space between them are
    joined.

    Returns:
        Spans in the order of the text; their tokens, at most ``budget``; whether no more fits.
    """
    kept: list[Span] = []
    lengths: dict[Span, int] = {}
    spent = 0
    for place in places:
        for start, end in _outside((place.start, place.end), kept):
            most = budget - spent
            while True:
                last = start + len(counter.head(text[start:end], most))
                tried = _joined([*kept, (start, last)], text)
                for span in tried:
                    if span not in lengths:
                        lengths[span] = counter.count(text[slice(*span)])
                over = sum(lengths[span] for span in tried) - budget
                if over <= 0:
                    break
                most -= over  # joined to what is there, it takes more tokens than alone
            kept, spent = tried, over + budget
            if last < end or not over:
                return kept, spent, True
    return kept, spent, False


def _outside(span: Span, kept: Sequence[Span]) -> list[Span]:
    """The parts of a span that no kept span covers; those are ascending and apart."""
    parts: list[Span] = []
    start, end = span
    for first, last in kept:
        if last <= start or first >= end:
            continue
        if start < first:
            parts.append((start, first))
        start = max(start, last)
    if start < end:
        parts.append((start, end))
    return parts


def _joined(spans: Iterable[Span], text: str) -> list[Span]:
    """Ascending and apart; those with only white space between them are one, empty ones none."""
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if text[slice(*span)].strip()):
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
