"""Distillation: vectors or scores are drawn to those of a teacher, which gets no gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from milepost_train.losses.precision import log_sum, mean_of_rows, wide

NEVER = float("-inf")


def away_from(vectors: Tensor, targets: Tensor) -> Tensor:
    """Distillation: mean of one minus the cosine of unit vectors ``(n, d)`` and their targets."""
    return (1.0 - (wide(vectors) * wide(targets)).sum(dim=-1)).mean()


def divergence(
    scores: Tensor,
    teacher: Tensor,
    used: Tensor,
    temperature: float,
    teacher_temperature: float = 1.0,
) -> Tensor:
    """Kullback-Leibler divergence of the student's ranking from the teacher's, mean over questions.

    ``sum over j of t_j (log t_j - log p_j)``, where ``p = softmax(scores / temperature)`` and
    ``t = softmax(teacher / teacher_temperature)``, both over the used columns of a row
    (arXiv 1503.02531, without its factor of the squared temperature). Zero where both agree, up
    to a constant per row.

    Args:
        scores: ``(q, n)`` of the student.
        teacher: ``(q, n)``; only what is used is read, the rest may hold anything.
        used: ``(q, n)`` bool; rows with fewer than two rank nothing and are left out of the mean.
        temperature: divides the scores.
        teacher_temperature: divides the teacher's.
    """
    rows = used.sum(dim=1) > 1
    shown = used | ~rows[:, None]
    own = (wide(scores) / temperature).masked_fill(~shown, NEVER).log_softmax(dim=1)
    truth = wide(teacher.detach()).masked_fill(~used, 0.0) / teacher_temperature
    wanted = truth.masked_fill(~shown, NEVER).log_softmax(dim=1)
    apart = (wanted.masked_fill(~used, 0.0) - own.masked_fill(~used, 0.0)) * wanted.exp()
    return mean_of_rows(apart.sum(dim=1), rows)


def margin_error(scores: Tensor, teacher: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """MarginMSE (arXiv 2010.02666): squared error of positive-over-negative margins.

    ``mean over p in P, n in N of ((s_p - s_n) - (t_p - t_n))^2``, mean over questions. With
    ``d = s - t`` it is counted as ``var_P d + var_N d + (mean_P d - mean_N d)^2``, which is the
    same without a row for every pair.

    Args:
        scores: ``(q, n)`` of the student.
        teacher: ``(q, n)``, on the scale that the student's scores are to have.
        positive: ``(q, n)`` bool.
        negative: ``(q, n)`` bool; rows that lack either kind are left out of the mean.
    """
    used = positive | negative
    off = wide(scores) - wide(teacher.detach()).masked_fill(~used, 0.0)
    middles, spread = [], torch.zeros_like(off[:, 0])
    for kind in (positive, negative):
        count = kind.sum(dim=1).clamp(min=1)
        middle = off.masked_fill(~kind, 0.0).sum(dim=1) / count
        aside = (off - middle[:, None]).masked_fill(~kind, 0.0)
        spread = spread + aside.square().sum(dim=1) / count
        middles.append(middle)
    rows = positive.any(dim=1) & negative.any(dim=1)
    return mean_of_rows(spread + (middles[0] - middles[1]).square(), rows)


def listwise(
    scores: Tensor,
    places: Tensor,
    teacher: Tensor,
    temperature: float,
    *,
    known: Tensor | None = None,
) -> Tensor:
    """Distillation of bge-m3 (arXiv 2402.03216), which LMK (arXiv 2601.21525) trains with.

    A question's own passages ``p_0 ... p_(G-1)``, the positive first, with the teacher's scores;
    all passages of the batch ``D``. With ``w = softmax(teacher)``:
    ``sum over i of  w_i * -log( exp(s_i / t) / sum over d in D without p_0 ... p_(i-1) of
    exp(s_d / t) )``: each own passage is a positive of its weight, and no negative of those after
    it. Two passages scored 2 and 1 among (2, 1, 0.5, -1), teacher (1, 0), t = 0.5: 0.213521.

    A positive known without teacher scores is (100, -100, ...), which is InfoNCE.

    Args:
        scores: ``(q, n)`` over all passages of the batch.
        places: ``(q, G)`` int64, columns of the question's own passages; -1 fills a short row,
            rows of nothing else are left out of the mean.
        teacher: ``(q, G)``; what stands beside a -1 is not read.
        temperature: divides the scores.
        known: ``(q, n)`` bool: passages that answer a question too, such as its own a second
            time; what is none of its own passages there is left out of ``D``. The paper has none.
    """
    scaled = wide(scores) / temperature
    used = places >= 0
    rows = used.any(dim=1)
    columns = places.clamp(min=0)
    own = scaled.gather(1, columns)
    # One column more takes the writes of what fills short rows.
    n = scaled.shape[1]
    mine = torch.zeros(len(scaled), n + 1, dtype=torch.bool, device=scaled.device)
    mine = mine.scatter(1, torch.where(used, places, n), True)[:, :n]
    rest = log_sum(scaled, ~mine if known is None else ~(mine | known))
    # For passage i the passages from i on; an unused one counts for itself only, to stay finite.
    group = places.shape[1]
    onward = torch.ones(group, group, dtype=torch.bool, device=scores.device).triu()
    itself = torch.eye(group, dtype=torch.bool, device=scores.device)
    rivals = own[:, None, :].masked_fill(~((onward & used[:, None, :]) | itself), NEVER)
    beside = rest[:, None, None].expand(-1, group, 1)
    whole = torch.cat([rivals, beside], dim=2).logsumexp(dim=2)
    idle = ~rows[:, None]
    truth = wide(teacher.detach()).masked_fill(~used, 0.0).masked_fill(~(used | idle), NEVER)
    weights = truth.softmax(dim=1)
    return mean_of_rows((weights * (whole - own).masked_fill(~used, 0.0)).sum(dim=1), rows)
