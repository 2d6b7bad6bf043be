"""The passages of a step: the right ones, and hard ones of each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from milepost_train.data import Pair, Text
from milepost_train.objectives.passages import Passages


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the queries of a step are to choose from.

    Attributes:
        texts: the ``n`` passages: query i is answered by the i-th, hard negatives come after.
        right: ``(q, n)``: who answers whom, other pairs' passages included.
    """

    texts: list[Text]
    right: NDArray[np.bool_]


def candidates(
    chosen: Sequence[Pair], maximum: int, passages: Passages, random: Random
) -> Candidates:
    """The passages of a step."""
    texts = [pair.text for pair in chosen]
    for pair in chosen:
        count = min(maximum, len(pair.negatives))
        texts += random.sample(pair.negatives, count) if count else []
    kinds = [passages.number(text) for text in texts]
    right = np.array([[k in passages.right(pair) for k in kinds] for pair in chosen], bool)
    return Candidates(texts, right)
