"""Probabilities of passages: Platt scaling (Platt 1999) by the formula of ``search/ranking.py``.

Log-odds of a passage are a weighted sum of what stands in ``inputs``; the weights, ``calibration``
in the manifest, are fitted by log loss. Every task and setting weighs alike, in the fit and in the
figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from milepost.search.ranking import less_likely, log_odds, others
from milepost_eval.probabilities import bins_of
from milepost_train.ranking.cases import Case, Floats, passages

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shown:
    """The passages that searches show.

    Attributes:
        inputs: ``(p, 4)`` float64, or ``(p, 6)`` with a reranker: what their probability follows
            from.
        held: ``(p,)`` float64, 1 where a passage holds evidence.
        owner: ``(p,)`` int64, the number of its case.
        groups: for each case a number for its task and setting, ``(cases,)`` int64.
    """

    inputs: Doubles
    held: Doubles
    owner: NDArray[np.int64]
    groups: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_]) -> Shown:
        """The passages of some cases, ``(cases,)`` bool."""
        part = chosen[self.owner]
        return Shown(self.inputs[part], self.held[part], self.owner[part], self.groups)

    @property
    def weights(self) -> Doubles:
        """``(p,)``, summing to 1: every task and setting alike, by its cases."""
        group = self.groups[self.owner]
        cases = np.unique(np.stack([group, self.owner]), axis=1)[0]
        sizes = np.bincount(cases, minlength=int(self.groups.max(initial=0)) + 1)
        weights: Doubles = 1.0 / sizes[group]
        weights /= weights.sum()
        return weights


def shown(
    cases: Sequence[Case],
    scores: Sequence[Floats],
    growth_threshold: float,
    before: Sequence[Floats],
    added: Sequence[Floats] | None = None,
) -> Shown:
    """The five best passages of every case.

    ``scores`` are of all sentences of each, in whose order passages are made, ``before`` those
    before landmarks and reranking were added, ``added`` what reranking added (None: no reranker).
    """
    names: dict[tuple[str, str], int] = {}
    groups = [names.setdefault((case.task, case.setting), len(names)) for case in cases]
    inputs: list[list[float]] = []
    held: list[float] = []
    owner: list[int] = []
    for number, (case, score, first) in enumerate(zip(cases, scores, before, strict=True)):
        for part in passages(case, score, growth_threshold):
            best = np.sort(first[part])[::-1]
            row = [1.0, float(best[0]), float(np.log1p(logistic(best[1:]).sum()))]
            if added is not None:
                row += [float(added[number][part].max()), 1.0 - case.vocab_coverage]
            row.append(others(len(case.document_offsets) - 1))
            inputs.append(row)
            held.append(float(case.gains[part].sum() > 0))
            owner.append(number)
    return Shown(
        np.array(inputs), np.array(held), np.array(owner, np.int64), np.array(groups, np.int64)
    )


def questions(of: Shown, said: Doubles, answers: Sequence[float | None]) -> Shown:
    """A row for each case that shows a passage: whether any answers follows from the best.

    ``said`` are the probabilities of the passages, ``(p,)``, and ``answers`` of every case the
    reranker's highest log-odds that a window answers, None if it does not say. ``inputs`` is
    ``(cases, 3)``.
    """
    cases, row = np.unique(of.owner, return_inverse=True)
    best, held, crowd = np.zeros(len(cases)), np.zeros(len(cases)), np.zeros(len(cases))
    np.maximum.at(best, row, said)
    np.maximum.at(held, row, of.held)
    crowd[row] = of.inputs[:, -1]
    least = [less_likely(log_odds(p), answers[n]) for p, n in zip(best, cases, strict=True)]
    return Shown(np.stack([np.ones(len(cases)), least, crowd], axis=1), held, cases, of.groups)


def calibrate(inputs: Doubles, held: Doubles, weights: Doubles) -> list[float]:
    """A number for each column, by weighted log loss; four decimals.

    Newton's method with half steps, until no number moves by 1e-9. A ridge of 1e-6 keeps the
    numbers finite where a column tells evidence perfectly.
    """
    share = weights / weights.sum()
    ridge = 1e-6 * np.eye(inputs.shape[1])
    numbers = np.zeros(inputs.shape[1])
    loss = _objective(inputs, held, share, numbers)
    for _ in range(100):
        said = logistic(inputs @ numbers)
        slope = inputs.T @ (share * (said - held)) + ridge @ numbers
        curve = (inputs * (share * said * (1 - said))[:, None]).T @ inputs + ridge
        step = np.linalg.solve(curve, slope)
        while (tried := _objective(inputs, held, share, numbers - step)) > loss:
            step /= 2
            if np.abs(step).max() < 1e-9:
                break
        numbers, loss = numbers - step, min(tried, loss)
        if np.abs(step).max() < 1e-9:
            break
    return [round(float(value), 4) for value in numbers]


def probabilities(of: Shown, calibration: Sequence[float]) -> Doubles:
    """What the numbers say of each passage, ``(p,)``, 0–1."""
    return logistic(of.inputs @ np.array(calibration))


def figures(of: Shown, said: Doubles) -> dict[str, float]:
    """Log loss and expected calibration error of the probabilities said, ``(p,)``.

    The error is that of ``milepost_eval.probabilities.calibration``, of weighted passages.
    """
    weights = of.weights
    gaps = np.bincount(bins_of(said), weights * (said - of.held))
    return {
        "log loss": round(log_loss(said, of.held, weights), 4),
        "calibration error": round(float(np.abs(gaps).sum()), 4),
    }


def log_loss(said: Doubles, held: Doubles, weights: Doubles) -> float:
    """Weighted mean of ``-ln`` of the probability that was said of what is true."""
    clipped = np.clip(said, 1e-9, 1 - 1e-9)
    return float(-(weights * (held * np.log(clipped) + (1 - held) * np.log(1 - clipped))).sum())


def logistic(values: NDArray[np.floating]) -> Doubles:
    """``1 / (1 + e^-x)`` in float64."""
    result: Doubles = 1.0 / (1.0 + np.exp(-np.clip(values.astype(np.float64), -60, 60)))
    return result


def _objective(inputs: Doubles, held: Doubles, share: Doubles, numbers: Doubles) -> float:
    loss = log_loss(logistic(inputs @ numbers), held, share)
    return loss + 0.5e-6 * float(numbers @ numbers)
