"""Coupled negatives: what was never judged is not surely negative (CET, arXiv 2209.05072).

A document is labelled relevant only if it was shown to a judge (selected, ``s``) and is relevant
(``r``): ``P(label) = r s``. A relevance model and a selection model are trained together, and each
tells the other how far to trust an unlabelled document.

Two kinds of weights. ``published_weights`` are those of the paper's code, for comparison: of
pairwise scores, whose level is free, so they are not probabilities. ``posterior_weights`` are
the unbiased ones, of the product model ``milepost.train.coupled.fit_product``; they need a
selection model with features of its own (rank and retriever, not the text), or both become one.
"""

from __future__ import annotations

import math

import torch.nn.functional as F
from torch import Tensor

from milepost.train.coupled import true_negative
from milepost.train.losses.contrast import each_against_negatives
from milepost.train.losses.precision import wide


def published_weights(scores: Tensor, temperature: float = 2.0, most: float = 3.0) -> Tensor:
    """``1 + exp(min(u, most))`` with ``u = scores / temperature``; no gradient.

    The code of the paper writes ``1 / (1 - sigmoid(u))``: the same number, but infinite in float32
    from ``u = 17`` on, and unbounded in any case. By default one weight is at most 21 times the
    least, which is 1.

    Args:
        scores: any shape: the *other* model's scores of the unlabelled documents.
        temperature: "debias ratio" of the paper's code.
        most: bound of ``u``.
    """
    return 1.0 + (wide(scores.detach()) / temperature).clamp(max=most).exp()


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


def weighted_mean(losses: Tensor, weights: Tensor, *, self_normalised: bool = True) -> Tensor:
    """``sum w l / sum w``, or ``mean of w l`` as published, which scales the learning rate too.

    Args:
        losses: ``(n,)``.
        weights: ``(n,)``, not negative; where all are zero, so is the mean.
        self_normalised: divide by the sum of the weights, not by their number.
    """
    total = (wide(weights) * wide(losses)).sum()
    if self_normalised:
        return total / wide(weights).sum().clamp(min=1e-30)
    return total / max(losses.numel(), 1)


def weighted_pairs(
    positive: Tensor, negative: Tensor, weights: Tensor, *, self_normalised: bool = True
) -> Tensor:
    """Weighted pairwise cross-entropy: ``weighted mean of log(1 + exp(s_n - s_p))``.

    Args:
        positive: ``(n,)`` scores of labelled documents.
        negative: ``(n,)`` scores of the unlabelled one beside each.
        weights: ``(n,)``, from the other model.
        self_normalised: see ``weighted_mean``.
    """
    losses = F.softplus(wide(negative) - wide(positive))
    return weighted_mean(losses, weights, self_normalised=self_normalised)


def coupled_pairs(
    relevance: tuple[Tensor, Tensor],
    selection: tuple[Tensor, Tensor],
    *,
    weighing: tuple[Tensor, Tensor] | None = None,
    temperature: float = 2.0,
) -> tuple[Tensor, Tensor]:
    """One step as published: the losses of both models, each under the other's weights.

    No weight is bounded and their sum is not divided out.

    Args:
        relevance: the relevance model's scores ``(n,)`` of positives and of negatives.
        selection: the selection model's, of the same pairs.
        weighing: both models' scores of the negatives without dropout, which set the weights; None
            for those of the pairs.
        temperature: see ``published_weights``.

    Returns:
        The relevance model's loss and the selection model's.
    """
    by_relevance, by_selection = weighing or (relevance[1], selection[1])
    first, second = (
        weighted_pairs(*own, published_weights(other, temperature, math.inf), self_normalised=False)
        for own, other in ((relevance, by_selection), (selection, by_relevance))
    )
    return first, second


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
