"""Position-aware contrast: of the sentences that hold an answer, the last one is to score best.

Landmark Embedding (arXiv 2402.11573, section 3.2) weighs the ``i``-th sentence before the end of
the evidence, its *boundary*, with ``w_i = exp(-alpha i)``. The paper prints the weight inside the
logarithm of its equation 5, where it is a constant and changes no gradient. Here it stands where
it works.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_train.choices import Form
from milepost_train.losses.precision import log_sum, mean_of_rows, wide

FORMS: tuple[Form, ...] = get_args(Form)

NEVER = float("-inf")


def back_from_boundary(evidence: Sequence[int]) -> dict[int, int]:
    """Distance of each evidence sentence to the last one of its run.

    A run is a stretch of consecutive sentences; each has a boundary of its own:
    ``[3, 4, 5, 9]`` gives ``{3: 2, 4: 1, 5: 0, 9: 0}``.
    """
    back: dict[int, int] = {}
    for sentence in sorted(set(evidence), reverse=True):
        back[sentence] = back.get(sentence + 1, -1) + 1
    return back


def distances_of(owners: Tensor, evidence: Sequence[tuple[int, Sequence[int]]]) -> Tensor:
    """The distances that ``position_aware`` takes, for the landmarks of a batch.

    They are counted in the document: where a window holds the first half of a run, its
    last sentence there is not taken for the boundary.

    Args:
        owners: ``(n, 2)`` int64, text and sentence of each landmark.
        evidence: for each of q questions its text and all its evidence sentences.

    Returns:
        ``(q, n)`` int64; -1 where the sentence is not evidence.
    """
    texts, sentences = owners.unbind(dim=1)
    distance = torch.full((len(evidence), len(owners)), -1, device=owners.device)
    for row, (text, spans) in enumerate(evidence):
        for sentence, back in back_from_boundary(spans).items():
            distance[row, (texts == text) & (sentences == sentence)] = back
    return distance


def position_aware(
    scores: Tensor,
    distance: Tensor,
    negative: Tensor,
    temperature: float,
    alpha: float,
    form: Form = "outside",
) -> Tensor:
    """Contrast with a weight ``w_i = exp(-alpha i)`` on evidence ``i`` sentences off its boundary.

    Of one question, with evidence ``P``, negatives ``N``, ``s`` the scores over the temperature
    and ``p_j = exp(s_j) / sum over P and N of exp(s)``:

    - ``outside``: ``-sum w_i log p_i / sum w``; at its best ``p`` is in proportion to ``w``.
    - ``summed``: ``-log sum w_i p_i``; at its best all is on the boundaries, other evidence let go.
    - ``both_sides``: ``-mean log(w_i e^s_i / (sum_P w e^s + sum_N e^s))``; at its best the boundary
      scores *lowest* of the evidence.
    - ``boundary``: ``-mean log p_z`` over the boundaries ``z``; other evidence is negative.
    - ``apart``: ``sum w_i log(1 + sum_N e^(s_n - s_i)) / sum w``; reaches zero, asks for no order.

    ``outside`` is the one to use; the others are there to be compared with. It is the cross-entropy
    against ``t_i = w_i / sum w`` and cannot fall below the entropy of ``t``: 1.096 nats for three
    sentences at alpha = 0.08. At its best, evidence one sentence further off scores ``alpha``
    temperatures less. All are divided so that long evidence does not rule a batch.

    Args:
        scores: ``(q, n)`` similarities.
        distance: ``(q, n)`` int64, sentences back to the boundary; -1 where not evidence. Rows
            without evidence (``boundary``: without a boundary) are left out of the mean.
        negative: ``(q, n)`` bool; what is neither is left out of every sum.
        temperature: divides the scores.
        alpha: how steeply weights fall; 0 weighs all alike, the paper's 0.08 hardly less so.
        form: where the weight stands.
    """
    scaled = wide(scores) / temperature
    wanted = distance == 0 if form == "boundary" else distance >= 0
    rows = wanted.any(dim=1)
    idle = ~rows[:, None]  # left out of the mean; kept finite, since 0 * NaN is NaN
    logs = -alpha * distance.clamp(min=0).to(scaled.dtype)
    seen = (distance >= 0) | negative | idle
    # w / sum w; the softmax does not underflow where alpha is steep and the boundary not here.
    share = logs.masked_fill(~(wanted | idle), NEVER).softmax(dim=1).masked_fill(~wanted, 0.0)
    if form in ("outside", "boundary"):
        whole = log_sum(scaled, seen)[:, None]
        each = share * (whole - scaled).masked_fill(~wanted, 0.0)
        return mean_of_rows(each.sum(dim=1), rows)
    if form == "apart":
        against = log_sum(scaled, negative)[:, None]
        each = share * F.softplus(against - scaled).masked_fill(~wanted, 0.0)
        return mean_of_rows(each.sum(dim=1), rows)
    shifted = scaled + logs
    if form == "summed":
        return mean_of_rows(log_sum(scaled, seen) - log_sum(shifted, wanted | idle), rows)
    whole = log_sum(shifted, seen)[:, None]
    each = (whole - shifted).masked_fill(~wanted, 0.0)
    return mean_of_rows(each.sum(dim=1) / wanted.sum(dim=1).clamp(min=1), rows)
