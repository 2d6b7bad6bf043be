"""The few numbers beside weights and trees, each the best of a short list.

Length penalty: most evidence within the budgets. Passage growth: best overlap of the first passage
with the evidence. Reranker: weight, least cosine and neighbours' share with most evidence. Then the
calibration is fitted. Every task and setting counts alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product, starmap
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from milepost.search.fusion import Reranking
from milepost.search.ranking import answered, reranked
from milepost.search.reranking import Reread
from milepost_train.ranking.calibration import (
    Doubles,
    Shown,
    calibrate,
    probabilities,
    questions,
    shown,
)
from milepost_train.ranking.cases import Case, Floats, evidence, overlap

LENGTH_PENALTIES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
GROWTH_THRESHOLDS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
WEIGHTS = (0.0, 8.0, 12.0, 16.0, 20.0, 25.0, 32.0, 40.0)
MIN_COSINES = (0.0, 0.2, 0.4)
NEIGHBOUR_SHARES = (0.0, 0.2, 0.4, 0.6)

Made = TypeVar("Made")
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen; ``rerank`` is None without a reranker."""

    length_penalty: float
    growth_threshold: float
    calibration: tuple[float, ...]
    answerable: tuple[float, ...]
    rerank: Reranking | None = None

    def fields(self) -> dict[str, Any]:
        """As they stand in the manifest: in ``fusion``, or in its ``rerank``."""
        own = {
            "length_penalty": self.length_penalty,
            "growth_threshold": self.growth_threshold,
            "calibration": list(self.calibration),
            "answerable": list(self.answerable),
        }
        if self.rerank is None:
            return own
        return {**asdict(self.rerank), **own}


class Bench:
    """Cases with their scores; figures are computed when they are asked for, and once.

    ``before`` are the scores of all sentences of each case, before landmarks and reranking are
    added, ``reread`` what the reranker found in each; None without one.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        before: Sequence[Floats],
        reread: Sequence[Reread] | None = None,
    ) -> None:
        self.cases, self.before, self.reread = cases, before, reread
        self._known: dict[tuple[object, ...], Any] = {}

    def scores(self, rerank: Reranking | None) -> Sequence[Floats]:
        """Scores of all sentences of each case."""
        own = [score + case.extra for case, score in zip(self.cases, self.before, strict=True)]
        added = self._added(rerank)
        return own if added is None else [a + b for a, b in zip(own, added, strict=True)]

    def _added(self, rerank: Reranking | None) -> Sequence[Floats] | None:
        """What reranking adds to the scores of each case."""
        if rerank is None or self.reread is None:
            return None
        return [
            reranked(found.cosines, case.document_offsets, rerank, case.vocab_coverage)
            for case, found in zip(self.cases, self.reread, strict=True)
        ]

    def evidence(self, rerank: Reranking | None, penalties: Sequence[float]) -> Doubles:
        """Evidence found within each budget, ``(penalties, cases, 3)``."""

        def make() -> Doubles:
            both = list(zip(self.cases, self.scores(rerank), strict=True))
            return np.array([[evidence(*each, penalty) for each in both] for penalty in penalties])

        return self._once(("evidence", _key(rerank), *penalties), make)

    def overlap(self, rerank: Reranking | None) -> Doubles:
        """F1 of the first passage for each growth threshold, ``(thresholds, cases)``."""

        def make() -> Doubles:
            both = list(zip(self.cases, self.scores(rerank), strict=True))
            return np.array([[overlap(*each, most) for each in both] for most in GROWTH_THRESHOLDS])

        return self._once(("overlap", _key(rerank)), make)

    def shown(self, rerank: Reranking | None, growth_threshold: float) -> Shown:
        """The passages of a search."""
        return self._once(
            ("shown", _key(rerank), growth_threshold),
            lambda: shown(
                self.cases,
                self.scores(rerank),
                growth_threshold,
                self.before,
                self._added(rerank),
            ),
        )

    def answers(self, rerank: Reranking | None) -> list[float | None]:
        """Of each case the highest log-odds that a window answers, see ``ranking.answered``."""
        if rerank is None or self.reread is None:
            return [None] * len(self.cases)
        return [answered(each) for each in self.reread]

    def mean(self, values: Doubles, of: Mask, settings: Sequence[str]) -> float:
        """Mean over settings of the mean over tasks of the values ``(cases,)``."""
        found: dict[str, dict[str, list[float]]] = {}
        for case, value, counts in zip(self.cases, values.tolist(), of.tolist(), strict=True):
            if counts and case.setting in settings:
                found.setdefault(case.setting, {}).setdefault(case.task, []).append(value)
        means = [np.mean([np.mean(each) for each in by.values()]) for by in found.values()]
        return float(np.mean(means))

    def _once(self, key: tuple[object, ...], make: Callable[[], Made]) -> Made:
        if key not in self._known:
            self._known[key] = make()
        made: Made = self._known[key]
        return made


def choose(bench: Bench, of: Mask, length_penalty: float | None = None) -> Chosen:
    """The best numbers for the cases ``of`` a mask, ``(cases,)``.

    ``length_penalty`` is that of the search without reranking, at which the reranker's numbers are
    compared; None chooses for the search without reranking.
    """
    both = ("document", "collection")
    rerank = None
    if length_penalty is not None:
        every = starmap(Reranking, product(WEIGHTS, MIN_COSINES, NEIGHBOUR_SHARES))
        # Without a weight the others are nothing.
        tried = [r for r in every if r.weight or not (r.min_cosine or r.neighbour_share)]
        found = [bench.evidence(each, (length_penalty,))[0].mean(axis=1) for each in tried]
        rerank = tried[int(np.argmax([bench.mean(each, of, both) for each in found]))]
    by_penalty = bench.evidence(rerank, LENGTH_PENALTIES).mean(axis=2)
    penalty = int(np.argmax([bench.mean(each, of, both) for each in by_penalty]))
    by_growth = [bench.mean(each, of, ("document",)) for each in bench.overlap(rerank)]
    growth = GROWTH_THRESHOLDS[int(np.argmax(by_growth))]
    passages = bench.shown(rerank, growth).of(of)
    calibration = tuple(calibrate(passages.inputs, passages.held, passages.weights))
    said = probabilities(passages, calibration)
    anything = questions(passages, said, bench.answers(rerank))
    settings = np.array([case.setting for case in bench.cases])[anything.owner]
    weights = kinds_alike(anything.weights, settings)
    answerable = tuple(calibrate(anything.inputs, anything.held, weights))
    return Chosen(LENGTH_PENALTIES[penalty], growth, calibration, answerable, rerank)


def kinds_alike(weights: Doubles, settings: NDArray[np.str_]) -> Doubles:
    """Weigh questions that their document nearly answers like those of other documents.

    Few tasks have near misses; alike by task they would count for little, and they are what
    is hard to tell.
    """
    elsewhere, absent = (weights[settings == each].sum() for each in ("elsewhere", "absent"))
    if not elsewhere or not absent:
        return weights
    scaled: Doubles = np.where(settings == "absent", weights * elsewhere / absent, weights)
    return scaled


def _key(rerank: Reranking | None) -> object:
    return rerank and (rerank.weight, rerank.min_cosine, rerank.neighbour_share)
