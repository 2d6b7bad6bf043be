"""Distillation: vectors or scores are drawn to those of a teacher, which gets no gradient."""

from __future__ import annotations

from torch import Tensor

from milepost_train.losses.precision import mean_of_rows, wide

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
