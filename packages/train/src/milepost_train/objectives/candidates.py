"""The passages of a step: the right ones, hard ones of each query, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost_train.data import Pair, Text
from milepost_train.objectives.given_scores import Given
from milepost_train.objectives.passages import Passages


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the queries of a step are to choose from.

    Attributes:
        texts: the ``n`` passages: query i is answered by the i-th, hard negatives come after.
        right: ``(q, n)``: who answers whom, other pairs' passages included.
        trusted: ``(q, n)``: probability that a negative does not answer, in [0, 1].
        given: the scores that came with the pairs.
    """

    texts: list[Text]
    right: NDArray[np.bool_]
    trusted: Tensor
    given: Given


def candidates(chosen: Sequence[Pair], most: int, passages: Passages, random: Random) -> Candidates:
    """The passages of a step.

    Args:
        chosen: the queries with their passages.
        most: hard negatives of each query, drawn where its pair has more. Nothing is drawn at 0.
        passages: knows which are the same.
        random: draws.
    """
    texts = [pair.text for pair in chosen]
    doubts: list[tuple[int, int, float]] = []
    scored: list[list[tuple[int, float]]] = []
    for row, pair in enumerate(chosen):
        count = len(pair.negatives)
        weights = (*pair.weights, *(1.0,) * (count - len(pair.weights)))
        scores: tuple[float | None, ...] = (*pair.scores[1:], *(None,) * count)[:count]
        held = list(zip(pair.negatives, weights, scores, strict=True))
        scored.append([(row, pair.scores[0])] if pair.scores else [])
        room = min(most, count)
        for text, weight, score in random.sample(held, room) if room else []:
            doubts.append((row, len(texts), weight))
            if score is not None:
                scored[row].append((len(texts), score))
            texts.append(text)
    kinds = [passages.number(text) for text in texts]
    right = np.array([[k in passages.right(pair) for k in kinds] for pair in chosen], bool)
    trusted = torch.ones(right.shape)
    for row, column, weight in doubts:
        trusted[row, column] = weight
    return Candidates(texts, right, trusted, Given.of(scored))
