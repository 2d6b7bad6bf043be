"""Figures on documents that nothing was chosen, and nothing learned, from.

Documents fall into ``FOLDS`` parts; what is measured on a part was chosen on the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.search.fusion import Fusion, Reranking
from milepost_eval.metrics import BUDGETS
from milepost_train.ranking.calibration import Shown, figures, probabilities, questions
from milepost_train.ranking.cases import Case
from milepost_train.ranking.choosing import Bench, Chosen, choose

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
    every = Shown(inputs, held, owner, passages[0].groups)
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
