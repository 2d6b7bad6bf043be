"""Whether anything answers a question, and what does so best: a larger model reads the passages.

The probability of the search (``ranking.Ranked.answerable``) knows how near the question is to what
was found; a judge says whether that is an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from milepost.language import detection
from milepost.search.ranking import log_odds, logistic
from milepost.types import Passage
from milepost.verdicts import ANSWERED, WindowReading

READ = 2
"""Passages that are read: they tell near misses apart better than one, and as well as three; of
three the best is first hardly more often."""

AROUND = 1
"""Sentences on each side of a passage's best one: all of them take half as long again, and tell
near misses apart no better."""

_BASE, _FOUND, _READ = -0.1, 0.83, 0.42
"""Constant, and weights of the log-odds of the search and of the passage that answers best, from
development questions of five tasks, one in five without an answer. More weight of the latter tells
near misses apart better, and questions about other documents worse."""


class Judge(Protocol):
    """Judges windows of sentences, as ``milepost.encoder.reranker.LandmarkReranker`` does."""

    def judge(
        self, claim: str, sentences: Sequence[str], most_about: int = 0
    ) -> tuple[WindowReading, int] | None:
        """Read sentences with a question in front: those around one that fit."""


def judged(
    judge: Judge, question: str, passages: list[Passage], found: float
) -> tuple[float, list[Passage]]:
    """Compute the probability, 0–1, that any passage answers, and put what answers best in front.

    ``found`` is the probability by the search; passages are best first. What is not English stays
    as it was: the judge reads nothing else.
    """
    best = passages[:READ]
    if any(detection.judge(text).script for text in (question, *(each.text for each in best))):
        return found, passages
    said = [odds for each in best if (odds := _answered(judge, question, each)) is not None]
    if len(said) < len(best):
        return found, passages
    odds = _BASE + _FOUND * log_odds(found) + _READ * max(said)
    return logistic(odds), _ordered(best, said) + passages[READ:]


def _ordered(best: Sequence[Passage], said: Sequence[float]) -> list[Passage]:
    """Passages by the log-odds of search and judge together; the first has the highest score.

    Of 722 development questions of six tasks, 18 then have evidence in the first passage that had
    none there before, 2 no longer. Added to a score, what the judge says makes it no truer: scores
    change places, and stay what they are.
    """
    both = [log_odds(each.score) + odds for each, odds in zip(best, said, strict=True)]
    order = sorted(range(len(best)), key=lambda number: -both[number])
    return [_scored(best[one], each.score) for one, each in zip(order, best, strict=True)]


def _scored(passage: Passage, score: float) -> Passage:
    factor = score / passage.score if passage.score else 1.0
    hits = tuple(replace(hit, score=hit.score * factor) for hit in passage.hits)
    return replace(passage, score=score, hits=hits) if factor != 1.0 else passage


def _answered(judge: Judge, question: str, passage: Passage) -> float | None:
    hits = sorted(passage.hits, key=lambda hit: hit.start)
    best = hits.index(passage.hits[0])
    near = hits[max(0, best - AROUND) : best + AROUND + 1]
    read = judge.judge(question, [hit.text.strip() for hit in near], near.index(hits[best]))
    if read is None or read[0].verdicts is None:
        return None
    return float(read[0].verdicts[ANSWERED])
