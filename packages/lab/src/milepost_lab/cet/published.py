"""The losses of the published method: two models that weigh each other's negatives.

As in the code of the paper (CET, arXiv 2209.05072): a relevance and a selection model are trained
together on the same pairs, and the score of either sets the weight of a negative for the other.
These are pairwise scores, whose level is free, so they are not probabilities.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from milepost_train.losses.precision import wide


def published_weights(scores: Tensor, temperature: float) -> Tensor:
    """``1 + exp(scores / temperature)``, without bound and gradient.

    The code of the paper writes ``1 / (1 - sigmoid(u))``: the same number, but infinite in float32
    from ``u = 17`` on.

    Args:
        scores: any shape: the *other* model's scores of the unlabelled documents.
        temperature: "debias ratio" of the paper's code.
    """
    return 1.0 + (wide(scores.detach()) / temperature).exp()


def weighted_pairs(
    positive: Tensor, negative: Tensor, weights: Tensor, *, self_normalised: bool = True
) -> Tensor:
    """Weighted pairwise cross-entropy: ``weighted mean of log(1 + exp(s_n - s_p))``.

    Args:
        positive: ``(n,)`` scores of labelled documents.
        negative: ``(n,)`` scores of the unlabelled one beside each.
        weights: ``(n,)``, not negative; where all are zero, so is the mean.
        self_normalised: divide by the sum of the weights, and not, as published, by their number,
            which scales the learning rate too.
    """
    losses = F.softplus(wide(negative) - wide(positive))
    total = (wide(weights) * losses).sum()
    return total / (wide(weights).sum().clamp(min=1e-30) if self_normalised else losses.numel())


def coupled_pairs(
    relevance: tuple[Tensor, Tensor],
    selection: tuple[Tensor, Tensor],
    weighing: tuple[Tensor, Tensor],
    temperature: float,
) -> tuple[Tensor, Tensor]:
    """One step: the losses of both models, each under the other's weights.

    No weight is bounded and their sum is not divided out.

    Args:
        relevance: the relevance model's scores ``(n,)`` of positives and of negatives.
        selection: the selection model's, of the same pairs.
        weighing: both models' scores of the negatives without dropout, which set the weights.
        temperature: see ``published_weights``.

    Returns:
        The relevance model's loss and the selection model's.
    """
    first, second = (
        weighted_pairs(*own, published_weights(other, temperature), self_normalised=False)
        for own, other in ((relevance, weighing[1]), (selection, weighing[0]))
    )
    return first, second
