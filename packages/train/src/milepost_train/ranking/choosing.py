"""The few numbers beside weights and trees, each the best of a short list.

Length penalty: most evidence within the budgets. Passage growth: best overlap of the first passage
with the evidence. Reranker: weight, least cosine and neighbours' share with most evidence. Then the
calibration is fitted. Every task and setting counts alike.

Figures are cross-fitted: documents fall into ``FOLDS`` parts, and what is measured on a part was
chosen on the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product, starmap
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from milepost.search.fusion import Fusion, Reranking
from milepost.search.ranking import answered, reranked
from milepost.search.reranking import Reread
from milepost_eval.metrics import BUDGETS
from milepost_train.ranking.cases import Case, Floats, evidence, overlap
from milepost_train.ranking.learning import (
    Doubles,
    Shown,
    calibrate,
    figures,
    probabilities,
    questions,
    shown,
)

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
        own = asdict(self)
        return {**(own.pop("rerank") or {}), **own}


@dataclass(eq=False)
class Bench:
    """Cases with their scores; figures are computed when they are asked for, and once.

    ``before`` are the scores of all sentences of each case, before landmarks and reranking are
    added, ``reread`` what the reranker found in each; None without one.
    """

    cases: Sequence[Case]
    before: Sequence[Floats]
    reread: Sequence[Reread] | None = None
    _known: dict[tuple[object, ...], Any] = field(init=False, default_factory=dict)

    def scores(self, rerank: Reranking | None) -> Sequence[Floats]:
        """Scores of all sentences of each case."""
        own = [score + case.extra for case, score in zip(self.cases, self.before, strict=True)]
        added = self._added(rerank)
        return own if added is None else [a + b for a, b in zip(own, added, strict=True)]

    def _added(self, rerank: Reranking | None) -> Sequence[Floats] | None:
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

        return self._once(("evidence", rerank, *penalties), make)

    def overlap(self, rerank: Reranking | None) -> Doubles:
        """F1 of the first passage for each growth threshold, ``(thresholds, cases)``."""

        def make() -> Doubles:
            both = list(zip(self.cases, self.scores(rerank), strict=True))
            return np.array([[overlap(*each, most) for each in both] for most in GROWTH_THRESHOLDS])

        return self._once(("overlap", rerank), make)

    def shown(self, rerank: Reranking | None, growth_threshold: float) -> Shown:
        """The passages of a search."""
        return self._once(
            ("shown", rerank, growth_threshold),
            lambda: shown(
                self.cases, self.scores(rerank), growth_threshold, self.before, self._added(rerank)
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
    answerable = tuple(calibrate(anything.inputs, anything.held, anything.weights))
    return Chosen(LENGTH_PENALTIES[penalty], growth, calibration, answerable, rerank)


FOLDS = 5
MIN_SCORES = (0.1, 0.2, 0.3, 0.5)
"""Minimum scores at which is told what a search would show of a question."""
Key = tuple[str, str]


def folds(keys: Iterable[Key], seed: int) -> dict[Key, int]:
    """Task and document → part, 0 to ``FOLDS - 1``; every task is dealt out evenly."""

    def place(key: Key) -> tuple[str, bytes]:
        return key[0], hashlib.sha256(f"{seed} {key[0]} {key[1]}".encode()).digest()

    return {key: number % FOLDS for number, key in enumerate(sorted(set(keys), key=place))}


@dataclass(frozen=True, slots=True)
class Crossfit:
    """What numbers give on documents that they were not chosen on.

    Attributes:
        found: ``(cases, budgets)`` float64, evidence found within each of ``BUDGETS``.
        probability: log loss and calibration error, with the default and with the fitted numbers.
        errors: task → calibration error of its passages, with the fitted numbers.
        answerable: ``(cases,)`` float64, the probability that any passage answers.
        chosen: the numbers for each part.
    """

    found: NDArray[np.float64]
    probability: dict[str, dict[str, float]]
    errors: dict[str, float]
    answerable: NDArray[np.float64]
    chosen: tuple[Chosen, ...]


def crossfit(
    bench: Bench, parts: Mapping[Key, int], penalties: Sequence[float] | None = None
) -> Crossfit:
    """Measure each part with numbers chosen on the others.

    ``penalties`` are for each part the length penalty without reranking; None for no reranker.
    """
    of = np.array([parts[case.key] for case in bench.cases])
    found = np.zeros((len(bench.cases), len(BUDGETS)))
    answerable = np.zeros(len(bench.cases))
    passages: list[Shown] = []
    said: list[NDArray[np.float64]] = []
    chosen: list[Chosen] = []
    for part in range(FOLDS):
        mine = of == part
        numbers = choose(bench, ~mine, None if penalties is None else penalties[part])
        found[mine] = bench.evidence(numbers.rerank, (numbers.length_penalty,))[0][mine]
        shown = bench.shown(numbers.rerank, numbers.growth_threshold).of(mine)
        passages.append(shown)
        said.append(probabilities(shown, numbers.calibration))
        anything = questions(shown, said[-1], bench.answers(numbers.rerank))
        answerable[anything.owner] = probabilities(anything, numbers.answerable)
        chosen.append(numbers)
    inputs, held, owner = (
        np.concatenate([getattr(each, name) for each in passages])
        for name in ("inputs", "held", "owner")
    )
    every = Shown(inputs, held, owner, passages[0].counts)
    unfitted = Fusion().calibration if penalties is None else Reranking().calibration
    fitted = np.concatenate(said)
    figures_of = {
        "default": figures(every, probabilities(every, unfitted)),
        "fitted": figures(every, fitted),
    }
    errors = errors_by_task(bench.cases, every, fitted)
    return Crossfit(found, figures_of, errors, answerable, tuple(chosen))


def errors_by_task(
    cases: Sequence[Case], shown: Shown, said: NDArray[np.float64]
) -> dict[str, float]:
    """Task → calibration error of the probabilities said of its passages, ``(p,)``."""
    errors: dict[str, float] = {}
    for task in dict.fromkeys(case.task for case in cases):
        mine = np.array([case.task == task for case in cases])
        errors[task] = figures(shown.of(mine), said[mine[shown.owner]])["calibration error"]
    return errors


def by_task(
    cases: Sequence[Case],
    found: NDArray[np.float64] | NDArray[np.bool_],
    settings: Sequence[str] = ("document", "collection"),
) -> dict[str, dict[str, list[float]]]:
    """Setting → task → mean of the values ``(cases, n)``, per cent; ``mean`` is that of tasks."""
    table: dict[str, dict[str, list[float]]] = {}
    for setting in settings:
        rows: dict[str, list[NDArray[Any]]] = {}
        for case, values in zip(cases, found, strict=True):
            if case.setting == setting:
                rows.setdefault(case.task, []).append(values)
        if rows:
            means = {task: 100 * np.mean(values, axis=0) for task, values in rows.items()}
            means["mean"] = np.mean(list(means.values()), axis=0)
            table[setting] = {task: np.round(each, 2).tolist() for task, each in means.items()}
    return table


def reached(
    cases: Sequence[Case], answerable: NDArray[np.float64]
) -> dict[str, dict[str, list[float]]]:
    """Setting → task → questions that are answerable by each of ``MIN_SCORES``, per cent.

    Of ``document`` many should, of ``elsewhere`` and ``absent`` few. ``answerable``, ``(cases,)``:
    the probability that any passage answers.
    """
    enough = answerable[:, None] >= np.array(MIN_SCORES)
    table = by_task(cases, enough, ("document", "elsewhere", "absent"))
    for tasks in table.values():
        del tasks["mean"]
    return table
