"""Whether a passage says, in other words, what a sentence cites it for: asked of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

from milepost.answers.citations import Citation, Support, outside_quotes, without_marks
from milepost.checking.claims.vocabulary import NEGATIONS
from milepost.errors import BadQuestion
from milepost.language.terms import STOP_WORDS, terms
from milepost.types import Hit, Passage
from milepost.verdicts import CheckResult, Match

LIKELY = 0.5  # the probability from which a passage supports a sentence: that of Index.check
_SMALL = STOP_WORDS - NEGATIONS  # words that claim nothing beside a quote
_PASSAGES = 20  # passages that a check gives: the cited one need not be the best


class Checker(Protocol):
    """``Index.check``, or what stands for it."""

    def __call__(
        self, text: str, documents: Sequence[str], *, min_score: float, k: int
    ) -> CheckResult:
        """Whether a text is in documents, word for word, nearly, or in other words."""


def with_support(
    citations: Iterable[Citation], passages: Sequence[Passage], check: Checker
) -> Iterator[Citation]:
    """Judge the citations that quote nothing, and sentences that say more than what they quote.

    Such a sentence stays ``verbatim`` unless the passage contradicts it, or is not about it and
    its quotes are not the most of it: a probability says little of a few words around a quote.
    One whose rest is only related may be false. Each sentence is checked once, against the
    documents of all passages.
    """
    names = list(dict.fromkeys(passage.document for passage in passages))

    @cache
    def checked(sentence: str) -> CheckResult | None:
        try:
            return check(sentence, names, min_score=LIKELY, k=_PASSAGES)
        except BadQuestion:  # it has neither letter nor digit
            return None

    for citation in citations:
        beside = _beside(citation.sentence) if citation.verdict == "verbatim" else 0.0
        found = None
        if citation.verdict == "unquoted" or beside:
            found = checked(without_marks(citation.sentence))
        if found is None:
            yield citation
            continue
        bare = replace(citation, quotes=(), spans=())
        judged = _judged(bare, passages[citation.number - 1], passages, found)
        is_worse = judged.verdict == "contradicted" or (
            judged.verdict == "unsupported" and beside >= 0.5
        )
        yield judged if is_worse or not beside else citation


def _beside(sentence: str) -> float:
    """The share of its words, but for small ones, that a sentence has beside its quotes, 0–1.

    0 for a sentence without quotes.
    """
    outside = outside_quotes(sentence)
    if outside == sentence:
        return 0.0
    words = len(terms(without_marks(sentence), _SMALL))
    return min(1.0, len(terms(outside, _SMALL)) / max(1, words))


def _judged(
    citation: Citation, passage: Passage, passages: Sequence[Passage], found: CheckResult
) -> Citation:
    places = [each for each in found.places if _shared(passage, each.document, each)]
    spans = tuple((each.start, each.end) for each in places)
    if places and found.verdict in ("verbatim", "near"):
        if all(any(each.kind for each in place.differences) for place in places):
            return replace(citation, verdict="contradicted", spans=spans)
        return replace(citation, verdict=found.verdict, spans=spans)
    if places and found.verdict in ("supported", "contradicted"):
        support = _best(found.passages, lambda document, hit: _shared(places[0], document, hit))
        support = support and replace(support, number=citation.number)
        return replace(citation, verdict=found.verdict, spans=spans, support=support)
    support = _best(found.passages, lambda document, hit: _shared(passage, document, hit))
    if support is not None:
        span = (support.start, support.end)
        support = replace(support, number=citation.number)
        return replace(citation, verdict="related", spans=(span,), support=support)
    elsewhere = _best(found.passages, lambda *_: True)
    if found.places and found.verdict in ("verbatim", "near"):
        first = found.places[0]
        elsewhere = Support(None, first.document, first.start, first.end, first.page, None)
    if elsewhere is not None:
        elsewhere = replace(elsewhere, number=_number(elsewhere, passages))
    return replace(citation, verdict="unsupported", support=elsewhere)


def _best(found: Iterable[Passage], wanted: Callable[..., bool]) -> Support | None:
    """The most probable sentence among those wanted, with the probability of its passage.

    Of a passage whose best sentence is not among them, the probability of the sentence counts.
    """
    best: Support | None = None
    for passage in found:
        hit = next((hit for hit in passage.hits if wanted(passage.document, hit)), None)
        if hit is None:
            continue
        score = passage.score if hit is passage.hits[0] else hit.score
        if score >= LIKELY and (best is None or best.score is None or score > best.score):
            best = Support(None, passage.document, hit.start, hit.end, passage.page, score)
    return best


def _shared(passage: Passage | Match, document: str, place: Match | Hit | Support) -> bool:
    return passage.document == document and (
        max(passage.start, place.start) < min(passage.end, place.end)
    )


def _number(support: Support, passages: Sequence[Passage]) -> int | None:
    held = (n for n, each in enumerate(passages, 1) if _shared(each, support.document, support))
    return next(held, None)
