"""The product model of the audit, and its fitted selection compared with the true one.

For hidden evidence the share of marked answers at each rank is known, and is compared with the
selection fitted on rank, place and length. The model is fitted once more with a constant selection,
to measure the value of these features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from milepost_lab.cet.case import Case
from milepost_lab.cet.product import fit_product

RANKS = ((1, 1), (2, 5), (6, 20), (21, None))
"""First and last rank by shared words, from 1; None: all that follow."""


@dataclass(frozen=True, slots=True)
class Selected:
    """Answering sentences of a range of ranks by shared words.

    Attributes:
        first, last: ranks, from 1; None for all that follow.
        answers: how many, marked and hidden.
        marked: share of them that is marked.
        fitted: mean of the chances to be marked that were fitted for them.
    """

    first: int
    last: int | None
    answers: int
    marked: float
    fitted: float


def fitted(
    found: Sequence[Case], *, alike: bool = False, expected: float | None = None
) -> tuple[list[dict[int, float]], tuple[Selected, ...]]:
    """Weights of the listed sentences as negatives, by EM on marked sentences, and the selection.

    The mean of ``s`` is fixed by ``expected``, or by how many answers there are in all, marked or
    hidden: more than who mines would know, and which ones they are it is not told.

    Args:
        found: questions of which one sentence each is marked.
        alike: selection has no features: one chance for all.
        expected: prior mean of ``s``; None for the share of answers that is marked.

    Returns:
        For each case sentence → weight; and the selection by rank, where there is an answer.
    """
    rows = [[case.kept, *case.listed] for case in found]
    parts = [case.features(numbers) for case, numbers in zip(found, rows, strict=True)]
    text, shown = (np.concatenate([part[kind] for part in parts]) for kind in (0, 1))
    text, shown = ((each - each.mean(0)) / (each.std(0) + 1e-9) for each in (text, shown))
    if alike:
        shown = shown[:, :0]
    labels = np.concatenate([[1.0, *(0.0 for _ in case.listed)] for case in found])
    if expected is None:
        expected = len(found) / sum(1 + len(case.hidden) for case in found)
    model = fit_product(text, shown, labels, expected=expected, strength=0.1 * len(labels))
    cuts = np.cumsum([len(numbers) for numbers in rows])[:-1]
    weights = np.split(model.weights(text, shown), cuts)
    told = [
        dict(zip(numbers, own.tolist(), strict=True))
        for numbers, own in zip(rows, weights, strict=True)
    ]
    pairs = list(zip(found, rows, strict=True))
    ranks = np.concatenate([case.ranks[numbers] for case, numbers in pairs])
    answers = np.array([n == c.kept or n in c.hidden for c, own in pairs for n in own], bool)
    chances = model.selection(shown)
    kinds = []
    for first, last in RANKS:
        own = answers & (ranks >= first) & (ranks <= (last or ranks.max()))
        if own.any():
            shares = float(labels[own].mean()), float(chances[own].mean())
            kinds.append(Selected(first, last, int(own.sum()), *shares))
    return told, tuple(kinds)
