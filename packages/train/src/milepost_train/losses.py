"""Losses of training: tensors in, one number out, in nats where they are entropies.

Comes in: vectors or scores, boolean masks, a teacher's scores. Goes out: a mean over questions.
Refuses to know texts, tokens, models and devices; counts in float32 under any autocast; leaves
out rows that have nothing to learn from.

Contrast: what answers a question must score above what does not. Position-aware contrast: of the
sentences that hold an answer, the last one is to score best. Landmark Embedding (arXiv 2402.11573,
section 3.2) weighs the ``i``-th sentence before the end of the evidence, its *boundary*, with
``w_i = exp(-alpha i)``. The paper prints the weight inside the logarithm of its equation 5, where
it is a constant and changes no gradient. Here it stands where it works. Distillation: vectors or
scores are drawn to those of a teacher, which gets no gradient. Matryoshka: any of them over the
first numbers of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

NEVER = float("-inf")


def each_against_negatives(
    scores: Tensor, positive: Tensor, negative: Tensor, temperature: float
) -> Tensor:
    """InfoNCE with several positives, each alone against the negatives, averaged.

    For question ``q`` with positives ``P`` and negatives ``N``: ``mean over p in P of  log(1 + sum
    over n in N of exp((s_n - s_p) / t))``. Positives do not compete with each other (arXiv
    2402.11573 lets them; see its eq. 4), so the loss can reach zero for evidence of several
    sentences. ``scores`` are similarities ``(q, n)``, ``positive`` and ``negative`` bool alike;
    questions without a positive are left out of the mean.
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
    """The distances ``(q, n)`` int64 that ``position_aware`` takes; -1 where not evidence.

    They are counted in the document: where a window holds the first half of a run, its last
    sentence there is not taken for the boundary. ``owners`` ``(n, 2)`` are text and sentence of
    each landmark, ``evidence`` of each question its text and all its evidence sentences.
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

    Of one question, with evidence ``P``, negatives ``N``, ``s`` the scores over the temperature and
    ``p_j = exp(s_j) / sum over P and N of exp(s)``: ``-sum w_i log p_i / sum w``. At its best ``p``
    is in proportion to ``w``.

    It is the cross-entropy against ``t_i = w_i / sum w`` and cannot fall below the entropy of
    ``t``: 1.096 nats for three sentences at alpha = 0.08. At its best, evidence one sentence
    further off scores ``alpha`` temperatures less. It is divided so that long evidence does not
    rule a batch.

    ``scores`` are similarities ``(q, n)``, ``distance`` those of ``distances_of``, ``negative``
    bool; what is neither evidence nor negative is left out of every sum, and questions without
    evidence of the mean.
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

    ``sum over j of t_j (log t_j - log p_j)``, where ``p = softmax(scores / temperature)`` and ``t =
    softmax(teacher / teacher_temperature)``, both over the used columns of a row (arXiv 1503.02531,
    without its factor of the squared temperature). Zero where both agree, up to a constant per row.
    All three are ``(q, n)``; rows with fewer than two used columns rank nothing and are left out of
    the mean, and what the teacher has elsewhere is not read.
    """
    rows = used.sum(dim=1) > 1
    shown = used | ~rows[:, None]
    own = (wide(scores) / temperature).masked_fill(~shown, NEVER).log_softmax(dim=1)
    truth = wide(teacher.detach()).masked_fill(~used, 0.0) / teacher_temperature
    wanted = truth.masked_fill(~shown, NEVER).log_softmax(dim=1)
    apart = (wanted.masked_fill(~used, 0.0) - own.masked_fill(~used, 0.0)) * wanted.exp()
    return mean_of_rows(apart.sum(dim=1), rows)


def over_prefixes(
    loss: Callable[..., Tensor], vectors: Sequence[Tensor], sizes: Sequence[int]
) -> Tensor:
    """Any loss of vectors, over their prefixes (arXiv 2205.13147).

    ``mean over sizes d of loss(V_1[:d] / |V_1[:d]|, V_2[:d] / |V_2[:d]|, ...)``. Prefixes are
    brought to unit length, since that is how shortened vectors are compared. The mean takes the
    place of the paper's sum, so that the learning rate need not follow the number of sizes. The
    full width is among ``sizes`` only if named.
    """
    terms = [loss(*(F.normalize(wide(v[..., :size]), dim=-1) for v in vectors)) for size in sizes]
    total: Tensor = sum(terms[1:], terms[0])
    return total / len(sizes)


def wide(values: Tensor) -> Tensor:
    """``values`` in float32; float64 stays, so that gradients can be checked against differences.

    Sums of hundreds of exponentials, and differences of nearly equal scores at a temperature of
    0.02, drown in the eight bits of bfloat16.
    """
    return values if values.dtype == torch.float64 else values.float()


def similarities(left: Tensor, right: Tensor) -> Tensor:
    """Inner products ``(q, n)`` of ``(q, d)`` and ``(n, d)``, not in bfloat16 under autocast."""
    with torch.autocast(left.device.type, enabled=False):
        return wide(left) @ wide(right).T


def mean_of_rows(values: Tensor, rows: Tensor) -> Tensor:
    """Mean of ``values`` ``(q,)`` where ``rows`` ``(q,)`` bool holds; zero where it never does."""
    return values.masked_fill(~rows, 0.0).sum() / rows.sum().clamp(min=1)


def log_sum(scores: Tensor, where: Tensor) -> Tensor:
    """``log sum exp`` of each row ``(q,)`` of ``scores`` ``(q, n)``, over what ``where`` marks.

    Of nothing it is minus infinity, with a gradient of zeros; torch's own is NaN there.
    """
    rows = where.any(dim=1)
    kept = where | ~rows[:, None]
    whole = scores.masked_fill(~kept, float("-inf")).logsumexp(dim=1)
    return whole.masked_fill(~rows, float("-inf"))
