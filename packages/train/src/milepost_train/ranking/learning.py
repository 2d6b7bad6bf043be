"""What a fit learns: the fusion's weights, the trees, and the probabilities of passages.

**Weights**: a question's signals → share of landmarks (gate) and scale shift. The objective is the
metric itself. Evidence found is measured on a grid of (gate, shift) for every question, and the
grid is interpolated, so that gradients reach the weights of the signals. Every task counts alike,
and a task on which fusion loses to landmarks or words alone counts ``HARM`` times that loss more.
Adam (Kingma and Ba 2015) from zero: no seed, no threads.

**Trees**: gradient boosting (LightGBM) over the features of sentences, as plain arrays.

**Probabilities** of passages: Platt scaling (Platt 1999) by the formula of ``search/ranking.py``.
Log-odds of a passage are a weighted sum of what stands in ``inputs``; the weights, ``calibration``
in the manifest, are fitted by log loss. Tasks weigh alike, and one question in five has no answer,
in the fit and in the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost._optional import require
from milepost.encoder.engine.openvino import usable_cpus
from milepost.search.features import FEATURES
from milepost.search.fusion import SIGNALS, Fusion
from milepost.search.ranking import less_likely, log_mass, log_odds, share_of_scores, size_odds
from milepost.search.trees import Trees
from milepost_eval.probabilities import bins_of
from milepost_train.ranking.cases import Case, Floats, Signals, passages, within_budgets

Doubles = NDArray[np.float64]

_ANSWERED = "document", "collection"
UNANSWERED = 0.2
"""Share of the questions that nothing answers: people mostly ask what they expect to find. Set by
hand."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The passages that searches show.

    Attributes:
        inputs: ``(p, 5)`` float64, or ``(p, 7)`` with a reranker: what their probability follows
            from.
        held: ``(p,)`` float64, 1 where a passage holds evidence.
        owner: ``(p,)`` int64, the number of its case.
        counts: what each case counts, ``(cases,)`` float64, see ``counts_of_settings``.
    """

    inputs: Doubles
    held: Doubles
    owner: NDArray[np.int64]
    counts: Doubles

    def of(self, chosen: NDArray[np.bool_]) -> Shown:
        """The passages of some cases, ``(cases,)`` bool."""
        part = chosen[self.owner]
        return Shown(self.inputs[part], self.held[part], self.owner[part], self.counts)

    @property
    def weights(self) -> Doubles:
        """What each passage counts, ``(p,)``, summing to 1."""
        weights: Doubles = self.counts[self.owner]
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
    inputs: list[list[float]] = []
    held: list[float] = []
    owner: list[int] = []
    for number, (case, score, first) in enumerate(zip(cases, scores, before, strict=True)):
        mass = log_mass(score)
        for part in passages(case, score, growth_threshold):
            best = np.sort(first[part])[::-1]
            row = [1.0, float(best[0]), float(np.log1p(logistic(best[1:]).sum()))]
            if added is not None:
                row += [float(added[number][part].max()), 1.0 - case.vocab_coverage]
            row += [share_of_scores(score, part, mass), size_odds(case.lengths, part)]
            inputs.append(row)
            held.append(float(case.gains[part].sum() > 0))
            owner.append(number)
    counts = counts_of_settings(cases)
    return Shown(np.array(inputs), np.array(held), np.array(owner, np.int64), counts)


def counts_of_settings(cases: Sequence[Case]) -> Doubles:
    """What each case counts, ``(cases,)``: tasks alike, and the share ``UNANSWERED`` has no answer.

    Half of that is about another document and half near misses, if there are both.
    """
    sizes = Counter((case.task, case.setting) for case in cases)
    tasks = Counter(setting for _, setting in sizes)
    settings = Counter(setting in _ANSWERED for setting in tasks)

    def counts(case: Case) -> float:
        answered = case.setting in _ANSWERED
        share = (1.0 - UNANSWERED if answered else UNANSWERED) / settings[answered]
        return share / tasks[case.setting] / sizes[case.task, case.setting]

    return np.array([counts(case) for case in cases])


def questions(of: Shown, said: Doubles, answers: Sequence[float | None]) -> Shown:
    """A row for each case that shows a passage: whether any answers follows from the best.

    ``said`` are the probabilities of the passages, ``(p,)``, and ``answers`` of every case the
    reranker's highest log-odds that a window answers, None if it does not say. ``inputs`` is
    ``(cases, 2)``.
    """
    cases, row = np.unique(of.owner, return_inverse=True)
    best, held = np.zeros(len(cases)), np.zeros(len(cases))
    np.maximum.at(best, row, said)
    np.maximum.at(held, row, of.held)
    least = [less_likely(log_odds(p), answers[n]) for p, n in zip(best, cases, strict=True)]
    return Shown(np.stack([np.ones(len(cases)), least], axis=1), held, cases, of.counts)


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


GATES = np.array([-2.0, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2.0, 3.0, 5.0])
SHIFTS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
HARM = 3.0
L2 = 0.01
STEPS, RATE = 500, 0.05
DEEPEST = 400


def grid(asked: Signals, fusion: Fusion) -> Doubles:
    """Evidence found for every gate and shift, mean of the budgets, ``(gates, shifts)``."""
    result = np.zeros((len(GATES), len(SHIFTS)))
    for column, shift in enumerate(SHIFTS):
        sides = []
        for curve, table in ((asked.landmarks, fusion.landmark), (asked.words, fusion.words)):
            mass = np.exp([base + tilt * shift for base, tilt in table])
            sides.append((mass / mass.sum()) @ curve)
        for row, gate in enumerate(GATES):
            share = 1.0 / (1.0 + np.exp(-gate))
            result[row, column] = found(asked, share * sides[0] + (1 - share) * sides[1])
    return result


def found(asked: Signals, score: Doubles | Floats) -> float:
    """Evidence found by the best sentences of a score, mean of the budgets."""
    order = np.argsort(-score, kind="stable")[:DEEPEST]
    return float(within_budgets(asked.lengths[order], asked.gains[order]).mean())


def learn_weights(
    tasks: Sequence[str], signals: Doubles, grids: Doubles, alone: Doubles
) -> tuple[dict[str, float], dict[str, float]]:
    """``Fusion.gate`` and ``Fusion.scale_shift`` by gradient descent on the interpolated metric.

    Of each question: its task, its signals ``(q, signals)``, the evidence found on its ``grid``,
    ``(q, gates, shifts)``, and by landmarks alone and words alone, ``(q, 2)``.
    """
    names = sorted(set(tasks))
    member = np.array([[float(task == name) for task in tasks] for name in names])
    member /= member.sum(axis=1, keepdims=True)
    rival = (member @ alone).max(axis=1)
    weights = np.zeros((2, signals.shape[1]))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        shift = np.tanh(signals @ weights[1])
        at_gate, by_gate = _between(signals @ weights[0], GATES)
        at_shift, by_shift = _between(shift, SHIFTS)
        here, ahead = (np.matmul(part[:, None], grids)[:, 0] for part in (at_gate, by_gate))
        by_task = member @ (here * at_shift).sum(axis=1)
        # Loss: -mean of tasks + harm + penalty.
        pull = (-1.0 - HARM * (rival > by_task)) / len(names) @ member
        gate_slope = pull * (ahead * at_shift).sum(axis=1)
        shift_slope = pull * (here * by_shift).sum(axis=1) * (1 - shift**2)
        slope = np.stack([gate_slope @ signals, shift_slope @ signals])
        slope[:, 1:] += 2 * L2 * weights[:, 1:] / (weights.shape[1] - 1)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        size = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        weights -= RATE * mean / (1 - 0.9**step) / size
    gate, scale_shift = (
        {name: round(float(value), 3) for name, value in zip(SIGNALS, part, strict=True)}
        for part in weights
    )
    return gate, scale_shift


def _between(values: Doubles, knots: Doubles) -> tuple[Doubles, Doubles]:
    """Weights of linear interpolation and their slopes, ``(n, knots)`` each; flat outside."""
    clipped = np.clip(values, knots[0], knots[-1] - 1e-5)
    low = np.clip(np.searchsorted(knots, clipped, side="right") - 1, 0, len(knots) - 2)
    step = knots[low + 1] - knots[low]
    part = (clipped - knots[low]) / step
    rows = np.arange(len(values))
    weights, slopes = np.zeros((2, len(values), len(knots)))
    weights[rows, low], weights[rows, low + 1] = 1 - part, part
    inside = (values == clipped) / step
    slopes[rows, low], slopes[rows, low + 1] = -inside, inside
    return weights, slopes


SETTINGS = {"document": 1.0, "collection": 0.5, "elsewhere": 0.5}
"""What a setting counts; tasks count alike, whatever their number of questions."""
ROUNDS = 800
_PARAMETERS: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_data_in_leaf": 500,
    "min_sum_hessian_in_leaf": 1e-3,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "lambda_l2": 20.0,
    "deterministic": True,
    "force_row_wise": True,  # else the faster of two ways is timed, and they round differently
    "verbose": -1,
}
_ZERO = float(np.float32(1e-35))
"""What LightGBM takes for 0, and so for more than a threshold of the same size below 0."""


def case_weights(cases: Sequence[Case]) -> NDArray[np.float64]:
    """What each case counts: every task alike, every setting by ``SETTINGS``, ``(cases,)``."""
    sizes = Counter((case.task, case.setting) for case in cases)
    return np.array([SETTINGS[each.setting] / sizes[each.task, each.setting] for each in cases])


def learn_trees(cases: Sequence[Case], seed: int, rounds: int = ROUNDS) -> Trees:
    """So many boosted trees by log loss; they tell which sentences hold evidence."""
    lightgbm: Any = require("lightgbm", extra="train")
    repeats = [len(case.rows) for case in cases]
    data = lightgbm.Dataset(
        np.concatenate([case.columns for case in cases]),
        np.concatenate([case.gains[case.rows] > 0 for case in cases]).astype(float),
        weight=np.repeat(1e3 * case_weights(cases), repeats),
        feature_name=[name.replace("±", "pm").replace(" ", "_") for name in FEATURES],
    )
    parameters = {**_PARAMETERS, "num_threads": usable_cpus(), "seed": seed}
    return arrays_of(lightgbm.train(parameters, data, rounds).dump_model())


def arrays_of(dumped: Mapping[str, Any]) -> Trees:
    """The trees of ``Booster.dump_model()`` as plain arrays."""
    nodes: list[list[float]] = []  # feature, threshold, left, right and value, as in ``Trees``

    def add(node: Mapping[str, Any]) -> tuple[int, int, int]:
        """Add a node and what is below it; its number, the rows it was learned from, its depth."""
        at = len(nodes)
        nodes.append([-1, 0.0, at, at, node.get("leaf_value", 0.0)])
        if "leaf_value" in node:
            return at, node.get("leaf_count", 1), 0
        places, rows, depths = zip(
            *(add(node[side]) for side in ("left_child", "right_child")), strict=True
        )
        whole = sum(nodes[place][4] * count for place, count in zip(places, rows, strict=True))
        split = node["split_feature"], _rounded_down(node["threshold"])
        nodes[at] = [*split, *places, whole / sum(rows)]
        return at, sum(rows), 1 + max(depths)

    made = [add(tree["tree_structure"]) for tree in dumped["tree_info"]]
    kinds = (np.int16, np.float32, np.int32, np.int32, np.float32)
    columns = map(np.array, zip(*nodes, strict=True), kinds)
    roots, _, depths = zip(*made, strict=True)
    table: list[Any] = [np.array(roots, np.int32), *columns, max(depths)]
    return Trees(tuple(FEATURES), *table)


def _rounded_down(threshold: float) -> float:
    """In float32, so that a float32 column is "at most" this where LightGBM says so."""
    bound = np.float32(threshold)
    if float(bound) > threshold or float(bound) == -_ZERO:
        bound = np.nextafter(bound, np.float32(-np.inf))
    return float(bound)
