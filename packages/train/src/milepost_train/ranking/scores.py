"""A case's scores, and what they find: evidence within budgets, overlap of the first passage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from milepost.search.fusion import Fusion
from milepost.search.passages import expand_hits, length_adjusted_score
from milepost.search.ranking import learned_score
from milepost.search.trees import Trees
from milepost_eval.metrics import BUDGETS
from milepost_train.ranking.cases import Case, Floats

PASSAGES = 5
"""Passages of a search that names no number."""
DEEPEST = 800
"""Sentences that are looked at to fill a budget: 3,200 characters are some thirty."""


def base_scores(case: Case, fusion: Fusion, trees: Trees | None) -> Floats:
    """Log-odds of all sentences before any reranking, ``(n,)`` float32: ``ranking.rank``'s."""
    if trees is None:
        return (fusion.odds[0] + fusion.odds[1] * case.fused).astype(np.float32)
    close = learned_score(trees, fusion.base_score_weight, case.columns)
    below = 1.0 + case.fused.max() - case.fused
    score: Floats = (close.min() - 1e-3 * below).astype(np.float32)
    score[case.rows] = close
    return score


def evidence(case: Case, score: Floats, length_penalty: float) -> NDArray[np.float64]:
    """Share of the evidence that each of ``BUDGETS`` characters holds, ``(3,)``."""
    order = np.argsort(-length_adjusted_score(score, case.lengths, length_penalty), kind="stable")[
        :DEEPEST
    ]
    return within_budgets(case.lengths[order], case.gains[order])


def within_budgets(lengths: NDArray[np.int64], gains: Floats) -> NDArray[np.float64]:
    """Share of the evidence in each budget of sentences in this order, the last one cut.

    >>> import numpy as np
    >>> within_budgets(np.array([400, 800]), np.array([0.5, 0.5], np.float32))
    array([0.75, 1.  , 1.  ])
    """
    ends, found = (np.concatenate([[0], np.cumsum(each)]) for each in (lengths, gains))
    shares: NDArray[np.float64] = np.interp(BUDGETS, ends, found)
    return shares


def overlap(case: Case, score: Floats, growth_threshold: float) -> float:
    """F1 in characters between the first passage and the sentences that hold evidence."""
    best = passages(case, score, growth_threshold, 1)[0]
    shared = case.lengths[best][case.gains[best] > 0].sum()
    both = case.lengths[best].sum() + case.lengths[case.gains > 0].sum()
    return float(2 * shared / max(1, both))


def passages(
    case: Case, score: Floats, growth_threshold: float, most: int = PASSAGES
) -> list[slice]:
    """The sentences of the best passages."""
    runs = expand_hits(
        score, case.document_offsets, case.lengths, k=most, growth_threshold=growth_threshold
    )
    return [slice(run.first, run.last) for run in runs]
