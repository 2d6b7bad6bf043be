"""Whether anything answers a question: a larger model reads the best passages.

The probability of the search (``ranking.Ranked.answerable``) knows how near the question is to what
was found; a judge says whether that is an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from milepost.language import detection
from milepost.search.ranking import log_odds, logistic
from milepost.types import Passage
from milepost.verdicts import ANSWERED, WindowReading

READ = 2
"""Passages that are read: they tell near misses apart better than one, and as well as three."""

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


def judged(judge: Judge, question: str, passages: Sequence[Passage], found: float) -> float:
    """Compute the probability, 0–1, that any passage answers, from that of the search.

    What is not English stays as it was ``found``: the judge reads nothing else.
    """
    best = passages[:READ]
    if any(detection.judge(text).script for text in (question, *(each.text for each in best))):
        return found
    said = [odds for each in best if (odds := _answered(judge, question, each)) is not None]
    if not said:
        return found
    odds = _BASE + _FOUND * log_odds(found) + _READ * max(said)
    return logistic(odds)


def _answered(judge: Judge, question: str, passage: Passage) -> float | None:
    hits = sorted(passage.hits, key=lambda hit: hit.start)
    best = hits.index(passage.hits[0])
    near = hits[max(0, best - AROUND) : best + AROUND + 1]
    read = judge.judge(question, [hit.text.strip() for hit in near], near.index(hits[best]))
    if read is None or read[0].verdicts is None:
        return None
    return float(read[0].verdicts[ANSWERED])
