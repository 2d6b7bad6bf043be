"""Contrast: what answers a question must score above what does not. Means over questions, nats."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from milepost_train.losses.precision import log_sum, mean_of_rows, wide


def each_against_negatives(
    scores: Tensor, positive: Tensor, negative: Tensor, temperature: float
) -> Tensor:
    """InfoNCE with several positives, each alone against the negatives, averaged.

    For question ``q`` with positives ``P`` and negatives ``N``:
    ``mean over p in P of  log(1 + sum over n in N of exp((s_n - s_p) / t))``.
    Positives do not compete with each other (arXiv 2402.11573 lets them; see its eq. 4), so the
    loss can reach zero for evidence of several sentences.

    Args:
        scores: ``(q, n)`` similarities.
        positive: ``(q, n)`` bool; rows without any are left out of the mean.
        negative: ``(q, n)`` bool.
        temperature: divides the scores.
    """
    scaled = wide(scores) / temperature
    against = log_sum(scaled, negative)
    # Positives are few: what is as large as the scores costs memory in batches of thousands.
    row, column = positive.nonzero(as_tuple=True)
    each = F.softplus(against[row] - scaled[row, column])
    count = positive.sum(dim=1)
    return (each / count[row]).sum() / (count > 0).sum().clamp(min=1)


def any_against_negatives(
    scores: Tensor, positive: Tensor, negative: Tensor, temperature: float
) -> Tensor:
    """InfoNCE in which at least one positive must win: weak labels ("somewhere in here").

    ``log(1 + sum over N exp(s_n / t) / sum over P exp(s_p / t))``. Arguments as above.
    """
    scaled = wide(scores) / temperature
    rows = positive.any(dim=1)
    # A row left out keeps its scores: infinities have no gradient to be multiplied by zero.
    best = log_sum(scaled, positive | ~rows[:, None])
    return mean_of_rows(F.softplus(log_sum(scaled, negative) - best), rows)


def means_of(vectors: Tensor, owner: Tensor, owners: int) -> Tensor:
    """Document vectors: normalised mean of each owner's landmarks (LMK, arXiv 2601.21525).

    ``owner`` ``(n,)`` int64 names for each of the landmarks ``(n, d)`` one of ``owners`` documents.
    """
    rows = wide(vectors)
    sums = rows.new_zeros(owners, rows.shape[1]).index_add(0, owner, rows)
    return F.normalize(sums, dim=-1)
