"""Position-aware contrast: of the sentences that hold an answer, the last one is to score best.

Landmark Embedding (arXiv 2402.11573, section 3.2) weighs the ``i``-th sentence before the end of
the evidence, its *boundary*, with ``w_i = exp(-alpha i)``. The paper prints the weight inside the
logarithm of its equation 5, where it is a constant and changes no gradient. Here it stands where
it works.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from milepost_train.losses.precision import log_sum, mean_of_rows, wide

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
    scores: Tensor, distance: Tensor, negative: Tensor, temperature: float, alpha: float
) -> Tensor:
    """Contrast with a weight ``w_i = exp(-alpha i)`` on evidence ``i`` sentences off its boundary.

    Of one question, with evidence ``P``, negatives ``N``, ``s`` the scores over the temperature
    and ``p_j = exp(s_j) / sum over P and N of exp(s)``: ``-sum w_i log p_i / sum w``. At its best
    ``p`` is in proportion to ``w``.

    It is the cross-entropy against ``t_i = w_i / sum w`` and cannot fall below the entropy of
    ``t``: 1.096 nats for three sentences at alpha = 0.08. At its best, evidence one sentence
    further off scores ``alpha`` temperatures less. It is divided so that long evidence does not
    rule a batch.

    Args:
        scores: ``(q, n)`` similarities.
        distance: ``(q, n)`` int64, sentences back to the boundary; -1 where not evidence. Rows
            without evidence are left out of the mean.
        negative: ``(q, n)`` bool; what is neither is left out of every sum.
        temperature: divides the scores.
        alpha: how steeply weights fall; 0 weighs all alike, the paper's 0.08 hardly less so.
    """
    scaled = wide(scores) / temperature
    wanted = distance >= 0
    rows = wanted.any(dim=1)
    idle = ~rows[:, None]  # left out of the mean; kept finite, since 0 * NaN is NaN
    logs = -alpha * distance.clamp(min=0).to(scaled.dtype)
    # w / sum w; the softmax does not underflow where alpha is steep and the boundary not here.
    share = logs.masked_fill(~(wanted | idle), NEVER).softmax(dim=1).masked_fill(~wanted, 0.0)
    whole = log_sum(scaled, wanted | negative | idle)[:, None]
    each = share * (whole - scaled).masked_fill(~wanted, 0.0)
    return mean_of_rows(each.sum(dim=1), rows)
