"""Which candidates are negatives of a question: the filter against false ones, and the choice.

Unmarked sentences that a good model ranks high are often answers. So a candidate is dropped if its
landmark scores nearly as high as the evidence (positive-aware mining, arXiv 2407.15831: above 95 %
of the positive's score), if it repeats the evidence, or if it is next to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any

from pydantic.dataclasses import dataclass as checked

from milepost.language.terms import terms
from milepost.types import Span
from milepost_train.settings import CHECKED, Amount, Count, Share

LIKE_EVIDENCE = "scores like the evidence"
SAME_WORDS = "repeats the evidence"
BESIDE = "is next to the evidence"
SET_ASIDE = "heading, or may answer too"
SHORT = "too short to be looked for"
REPEATED = "repeats another negative"


@checked(frozen=True, slots=True, config=CHECKED)
class Limits:
    """How many negatives, and what is none; see ``milepost mine --help``.

    ``depth`` candidates are looked at, by landmarks and by words each; a negative has ``shortest``
    distinct terms at least.
    """

    document: Amount = 8
    collection: Amount = 8
    below: Share = 0.95
    similar: Share = 0.8
    around: Amount = 1
    depth: Count = 48
    shortest: Amount = 4


@dataclass(frozen=True)
class Candidate:
    """A sentence that might be a negative.

    Attributes:
        span: white space at its edges left out.
        score: cosine of its landmark with the question.
        near: in sentences from the nearest evidence; None in another document.
        aside: marked as neither positive nor negative.
    """

    document: str
    span: Span
    text: str
    score: float
    near: int | None = None
    aside: bool = False

    @property
    def place(self) -> tuple[str, Span]:
        """Document and span."""
        return self.document, self.span

    @cached_property
    def words(self) -> frozenset[str]:
        """Its distinct terms."""
        return frozenset(terms(self.text))


@dataclass
class Evidence:
    """The best cosine of a question's evidence with it, and the terms of each of its sentences."""

    score: float
    sentences: Sequence[frozenset[str]]
    whole: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.whole = frozenset(chain.from_iterable(self.sentences))


def reason(candidate: Candidate, evidence: Evidence, limits: Limits) -> str:
    """Why a candidate is not a negative, or "".

    The margin is a share of the positive's score where that is positive, and the same distance
    below it where it is not.

    >>> evidence = Evidence(0.6, [frozenset(terms("The queen lays the eggs."))])
    >>> reason(Candidate("d", (0, 9), "Tugs pull big ships.", 0.58), evidence, Limits())
    'scores like the evidence'
    >>> reason(Candidate("d", (0, 9), "Tugs pull big ships.", 0.56), evidence, Limits())
    ''
    """
    if candidate.near is not None and candidate.near <= limits.around:
        return BESIDE
    if candidate.aside:
        return SET_ASIDE
    if len(candidate.words) < limits.shortest:
        return SHORT
    if candidate.score > evidence.score - (1 - limits.below) * abs(evidence.score):
        return LIKE_EVIDENCE
    if any(_common(candidate.words, each) >= limits.similar for each in evidence.sentences) or (
        len(candidate.words & evidence.whole) >= limits.similar * len(candidate.words)
    ):
        return SAME_WORDS
    return ""


def choose(
    rankings: Sequence[Sequence[Candidate]],
    evidence: Evidence,
    limits: Limits,
    most: int,
    dropped: Counter[str],
) -> Iterator[dict[str, Any]]:
    """Negatives from two rankings, best first, taken in turns, as ``mining.py`` describes them."""
    looked_at: set[tuple[str, Span]] = set()
    kept: dict[frozenset[str], Candidate] = {}
    for candidate in chain.from_iterable(zip_longest(*rankings)):
        if candidate is None or candidate.place in looked_at:
            continue
        looked_at.add(candidate.place)
        why = reason(candidate, evidence, limits)
        why = why or (REPEATED if candidate.words in kept else "")
        if why:
            dropped[why] += 1
        else:
            kept[candidate.words] = candidate
    by_landmarks, by_words = ({each.place for each in ranking} for ranking in rankings)
    for each in list(kept.values())[:most]:
        by = "landmarks" if each.place in by_landmarks else "words"
        yield {
            "document": each.document,
            "span": list(each.span),
            "score": round(each.score, 4),
            "by": "both" if each.place in by_landmarks & by_words else by,
        }


def _common(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
