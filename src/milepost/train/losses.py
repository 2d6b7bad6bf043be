"""Losses of landmark training; each is a mean over questions, in nats."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


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
    scaled = scores / temperature
    against = scaled.masked_fill(~negative, float("-inf")).logsumexp(dim=1, keepdim=True)
    each = F.softplus(against - scaled).masked_fill(~positive, 0.0)
    count = positive.sum(dim=1)
    rows = count > 0
    return (each.sum(dim=1)[rows] / count[rows]).mean()


def any_against_negatives(
    scores: Tensor, positive: Tensor, negative: Tensor, temperature: float
) -> Tensor:
    """InfoNCE in which at least one positive must win: weak labels ("somewhere in here").

    ``log(1 + sum over N exp(s_n / t) / sum over P exp(s_p / t))``. Arguments as above.
    """
    scaled = scores / temperature
    against = scaled.masked_fill(~negative, float("-inf")).logsumexp(dim=1)
    best = scaled.masked_fill(~positive, float("-inf")).logsumexp(dim=1)
    return F.softplus(against - best).mean()


def away_from(vectors: Tensor, targets: Tensor) -> Tensor:
    """Distillation: mean of one minus the cosine of unit vectors ``(n, d)`` and their targets."""
    return (1.0 - (vectors * targets).sum(dim=-1)).mean()


def means_of(vectors: Tensor, owner: Tensor, owners: int) -> Tensor:
    """Document vectors: normalised mean of each owner's landmarks (LMK, arXiv 2601.21525).

    Args:
        vectors: ``(n, d)`` landmarks.
        owner: ``(n,)`` int64, the document of each.
        owners: number of documents.
    """
    sums = torch.zeros(owners, vectors.shape[1], dtype=vectors.dtype).index_add(0, owner, vectors)
    return F.normalize(sums, dim=-1)
