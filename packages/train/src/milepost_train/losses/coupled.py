"""Coupled negatives: what was never judged is not surely negative (CET, arXiv 2209.05072).

A document is labelled relevant only if it was shown to a judge (selected, ``s``) and is relevant
(``r``): ``P(label) = r s``. The weights are the unbiased ones, of the product model
``milepost_train.coupled.fit_product``; they need a selection model with features of its own (rank
and retriever, not the text), or both become one. The published method, whose two models train each
other, is an arm of a study: ``milepost_lab.cet.published``.
"""

from __future__ import annotations

from torch import Tensor

from milepost_train.coupled import true_negative
from milepost_train.losses.contrast import each_against_negatives
from milepost_train.losses.precision import wide


def posterior_weights(
    relevance: Tensor,
    selection: Tensor,
    *,
    most_relevant: float = 0.95,
    selected: tuple[float, float] = (0.02, 0.98),
) -> Tensor:
    """``P(not relevant | not labelled)``, in [0, 1]: ``coupled.true_negative``, no gradient.

    Args:
        relevance: probabilities ``r``, any shape.
        selection: probabilities ``s``, of that shape.
        most_relevant: upper bound of ``r``.
        selected: bounds of ``s``.
    """
    return true_negative(
        wide(relevance.detach()),
        wide(selection.detach()),
        most_relevant=most_relevant,
        selected=selected,
    )


def effective_sample_size(weights: Tensor) -> Tensor:
    """``(sum w)^2 / sum w^2``: how many equal weights are worth as much; 0 where all are zero.

    To be watched in training: (1.1, 1.2, 1.3, 50) is worth 1.15 examples, capped at 3 it is 3.27.
    """
    scaled = wide(weights) / weights.max().clamp(min=1e-30)  # squares neither vanish nor overflow
    return scaled.sum().square() / scaled.square().sum().clamp(min=1e-30)


def weighted_contrast(
    scores: Tensor, positive: Tensor, negative: Tensor, weights: Tensor, temperature: float
) -> Tensor:
    """``each_against_negatives`` with a weight on each negative.

    ``mean over p in P of  log(1 + sum over n in N of w_n exp((s_n - s_p) / t))``. Positive 2
    against (1, 3), t = 1: 1.407606 with weights (1, 1), 0.898205 with (1, 0.4).

    Args:
        scores: ``(q, n)`` similarities.
        positive: ``(q, n)`` bool; rows without any are left out of the mean.
        negative: ``(q, n)`` bool.
        weights: ``(q, n)``, from ``posterior_weights``; read at negatives only, 0 leaves one out.
        temperature: divides the scores.
    """
    weighed, counted = weigh(scores, negative, weights, temperature)
    return each_against_negatives(weighed, positive, counted, temperature)


def weigh(
    scores: Tensor, negative: Tensor, weights: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    """Scores and negatives in which a negative of weight ``w`` counts as ``w`` of them.

    ``s + t log w`` at negatives, for whatever contrast comes after; 0 leaves one out.

    Args:
        scores: ``(q, n)`` similarities.
        negative: ``(q, n)`` bool.
        weights: ``(q, n)``, read at negatives only; no gradient.
        temperature: of the contrast.

    Returns:
        The scores, and the negatives that are left.
    """
    counted = negative & (weights > 0)
    logs = wide(weights.detach()).masked_fill(~counted, 1.0).log()
    return wide(scores) + temperature * logs, counted
