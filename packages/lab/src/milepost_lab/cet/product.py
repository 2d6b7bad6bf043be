"""The product model of judging, fitted by exact EM (CET, arXiv 2209.05072, errors corrected).

A label is there only if a document was shown to a judge (``s``) and is relevant (``r``):
``P(label) = r s``. Relevance is a logistic model of the text, selection one of what drives judging
(rank under the annotating retriever, position, length). With features of their own the two can be
told apart, up to a factor between them that a prior on the mean of ``s`` fixes; with the same
features they become one model, which is what the published form suffers from.

Of this the study's weights of mined negatives come (``trust``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError

Floats = NDArray[np.float64]
Array = TypeVar("Array")

TEMPERATURE = 0.05
"""Difference of cosines that makes a sentence e times as likely an answer."""

_NEWTON = 3  # steps of an M step: the likelihood asks for a rise, not for the top
_HALVINGS = 30


def true_negative(
    relevance: Array,
    selection: Array,
    *,
    most_relevant: float = 0.95,
    selected: tuple[float, float] = (0.02, 0.98),
) -> Array:
    """``P(not relevant | not labelled) = (1 - r) / (1 - r s)``, in [0, 1].

    The weight that makes an unlabelled document's expected loss, as a negative, that of the truth:
    ``P(label = 0) * weight = 1 - r``. Both probabilities are held off the ends, where a
    model that is too sure of itself would take a document out of training for good.

    Args:
        relevance: probabilities ``r``, an array or tensor of any shape.
        selection: probabilities ``s``, of that shape.
        most_relevant: upper bound of ``r``.
        selected: bounds of ``s``.
    """
    r = relevance.clip(0.0, most_relevant)  # type: ignore[attr-defined]
    s = selection.clip(*selected)  # type: ignore[attr-defined]
    weight: Array = (1.0 - r) / (1.0 - r * s)
    return weight


def trust(score: float, best: float, selected: float) -> float:
    """Probability in (0, 1] that an unmarked sentence is not an answer, from its score.

    ``true_negative`` with ``r = sigmoid((score - best) / TEMPERATURE)``: as likely an answer as not
    where it scores what the evidence does.

    Args:
        score: cosine of the sentence with the question.
        best: of the evidence.
        selected: probability that an answering sentence was marked, in (0, 1]; 1: all that is not
            marked is sure.

    >>> round(trust(0.5, 0.6, 0.5), 4), trust(0.5, 0.6, 1.0)
    (0.9366, 1.0)
    """
    if selected >= 1.0:
        return 1.0
    relevance = sigmoid(np.array((score - best) / TEMPERATURE))
    return float(true_negative(relevance, np.array(selected)))


def sigmoid(values: Floats) -> Floats:
    """``1 / (1 + exp(-values))``, without overflow."""
    result: Floats = np.exp(-np.logaddexp(0.0, -values))
    return result


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic model: ``sigmoid(features @ weights + bias)``.

    Attributes:
        weights: ``(d,)``.
        bias: a number.
    """

    weights: Floats
    bias: float

    def logits(self, features: Floats) -> Floats:
        """``(n, d)`` → ``(n,)``."""
        result: Floats = features @ self.weights + self.bias
        return result

    def __call__(self, features: Floats) -> Floats:
        """Probabilities ``(n,)`` of features ``(n, d)``."""
        return sigmoid(self.logits(features))


def logistic(
    features: Floats,
    targets: Floats,
    weights: Floats | None = None,
    *,
    start: Logistic | None = None,
    pull: float = 1e-3,
    steps: int = 50,
) -> Logistic:
    """Fit ``targets`` in [0, 1] by Newton's method; no step lowers the likelihood.

    Maximises ``sum w (t log p + (1 - t) log(1 - p)) - pull / 2 |weights|^2``; the bias is free.

    Args:
        features: ``(n, d)``.
        targets: ``(n,)``, between the ends a share of ones.
        weights: ``(n,)`` of the rows, not negative; None for one each.
        start: where to begin; None for zeros.
        pull: towards zero.
        steps: at most.
    """
    count, width = features.shape
    whole = np.concatenate((features, np.ones((count, 1))), axis=1)
    counted = np.ones(count) if weights is None else weights
    held = np.zeros(width + 1) if start is None else np.append(start.weights, start.bias)
    ridge = np.append(np.full(width, pull), 0.0)

    def height(point: Floats) -> float:
        logits = whole @ point
        likelihood = counted @ (targets * logits - np.logaddexp(0.0, logits))
        return float(likelihood - 0.5 * ridge @ point**2)

    best = height(held)
    for _ in range(steps):
        chances = sigmoid(whole @ held)
        slope = whole.T @ (counted * (targets - chances)) - ridge * held
        spread = counted * chances * (1.0 - chances)
        bend = (whole * spread[:, None]).T @ whole + np.diag(ridge + 1e-9)
        move = np.linalg.solve(bend, slope)
        for _ in range(_HALVINGS):
            tried = height(held + move)
            if tried >= best:
                break
            move = move / 2
        else:
            break
        held, rise, best = held + move, tried - best, tried
        if rise < 1e-10:
            break
    return Logistic(held[:-1], float(held[-1]))


@dataclass(frozen=True, slots=True)
class Product:
    """A fitted product model.

    Attributes:
        relevance: of the text's features.
        selection: of the features of judging.
        likelihood: penalised log-likelihood before the first round and after each; never falls.
    """

    relevance: Logistic
    selection: Logistic
    likelihood: Sequence[float]

    def weights(self, text: Floats, shown: Floats) -> Floats:
        """``true_negative`` of unlabelled rows, ``(n,)``; features as in ``fit_product``."""
        return true_negative(self.relevance(text), self.selection(shown))


def fit_product(
    text: Floats,
    shown: Floats,
    labels: Floats,
    *,
    expected: float | None = None,
    strength: float = 10.0,
    rounds: int = 300,
    pull: float = 1e-3,
    start: tuple[Logistic, Logistic] | None = None,
) -> Product:
    """Exact EM on ``P(label) = r(text) s(shown)``.

    The E step is ``P(r | label)`` and ``P(s | label)``: 1 for a labelled row, ``r (1 - s) /
    (1 - r s)`` and ``s (1 - r) / (1 - r s)`` for others. The M step raises both logistic
    likelihoods, so that of the labels never falls (Dempster, Laird and Rubin 1977).

    Args:
        text: ``(n, a)`` features of relevance.
        shown: ``(n, b)`` features of selection; ``b`` may be 0.
        labels: ``(n,)`` in [0, 1].
        expected: prior mean of ``s`` at the mean of its features, which fixes the factor
            between both models; None for no prior.
        strength: of the prior, in rows.
        rounds: at most; ends where the likelihood rises by less than 1e-9 of itself.
        pull: of the weights towards zero.
        start: both models; None for zeros.

    Raises:
        InputError: rows that do not match, labels out of [0, 1], numbers that are not finite, or
            no label at all.
    """
    _check(text, shown, labels, expected)
    rows, asked, counted = shown, np.zeros(0), np.ones(len(labels))
    if expected is not None:
        rows = np.concatenate((shown, shown.mean(axis=0, keepdims=True)))
        asked, counted = np.array([expected]), np.append(counted, strength)
    zero = (Logistic(np.zeros(part.shape[1]), 0.0) for part in (text, shown))
    relevance, selection = start or tuple(zero)

    def height() -> float:
        a, b = relevance.logits(text), selection.logits(shown)
        both = -np.logaddexp(0.0, -a) - np.logaddexp(0.0, -b)
        either = np.logaddexp(-np.logaddexp(0.0, a), -np.logaddexp(0.0, -a) - np.logaddexp(0.0, b))
        found = labels @ both + (1.0 - labels) @ either
        prior = selection.logits(rows[len(labels) :])
        found += strength * (asked @ prior - np.logaddexp(0.0, prior).sum())
        return float(
            found - 0.5 * pull * ((relevance.weights**2).sum() + (selection.weights**2).sum())
        )

    told = [height()]
    for _ in range(rounds):
        a, b = relevance.logits(text), selection.logits(shown)
        relevant = labels + (1.0 - labels) * sigmoid(a - np.logaddexp(0.0, b))
        selected = labels + (1.0 - labels) * sigmoid(b - np.logaddexp(0.0, a))
        relevance = logistic(text, relevant, start=relevance, pull=pull, steps=_NEWTON)
        selection = logistic(
            rows,
            np.concatenate((selected, asked)),
            counted,
            start=selection,
            pull=pull,
            steps=_NEWTON,
        )
        told.append(height())
        if told[-1] - told[-2] < 1e-9 * abs(told[-1]):
            break
    return Product(relevance, selection, told)


def _check(text: Floats, shown: Floats, labels: Floats, expected: float | None) -> None:
    if not len(text) == len(shown) == len(labels):
        raise InputError(
            f"{len(text)}, {len(shown)} and {len(labels)} rows", "one row of each a document"
        )
    if not all(np.isfinite(part).all() for part in (text, shown, labels)):
        raise InputError("a feature or label is not finite", "leave the row out")
    if labels.min(initial=1.0) < 0 or labels.max(initial=0.0) > 1:
        raise InputError("a label is outside of 0 to 1", "1 for labelled, 0 for not")
    if not labels.any():
        raise InputError(
            "no document is labelled", "label one or more: relevance cannot be learned without"
        )
    if expected is not None and not 0 < expected < 1:
        raise InputError(f"expected is {expected:g}", "a probability above 0, below 1")
