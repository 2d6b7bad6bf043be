"""Stage I: queries and their passages, the other passages of the batch as negatives.

Also the passages of the pairs: which are the same, who answers what, what a step chooses from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost_train.data import Pair, Text
from milepost_train.losses import any_against_negatives, means_of, similarities
from milepost_train.material import Material
from milepost_train.objectives.base import Encode, marked, need, over_pairs, read_question
from milepost_train.settings import PairsStage

_RARE = 0.02
"""Share of the passages that may hold a token for it to be rare."""


class Passages:
    """Every passage once, by a number."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.texts: list[Text] = []
        self._numbers: dict[bytes, int] = {}
        self.answers: dict[bytes, set[int]] = {}
        for pair in pairs:
            self.answers.setdefault(pair.ids.tobytes(), set()).add(self.number(pair.text))
        self._pooled = len(self.texts)

    def number(self, text: Text) -> int:
        """The number of a passage; a new one is taken in."""
        number = self._numbers.setdefault(text.ids.tobytes(), len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def __len__(self) -> int:
        """Passages that answer some query: those from which may be drawn at random."""
        return self._pooled

    def right(self, pair: Pair) -> set[int]:
        """Numbers of all passages that answer a pair's query."""
        return self.answers[pair.ids.tobytes()]

    def nearest(self, pair: Pair, maximum: int) -> list[int]:
        """Passages that look like an answer and are none, best first.

        They share the query's rarest tokens: rarities are summed.
        """
        scores = self._rarity(pair.ids)
        right = self.right(pair)
        order = np.argsort(-scores, kind="stable")[: maximum + len(right)]
        return [int(n) for n in order if scores[n] > 0 and int(n) not in right][:maximum]

    def _rarity(self, query: NDArray[np.int32]) -> NDArray[np.float32]:
        tokens, holders = self._postings
        scores = np.zeros(len(self), np.float32)
        for token in np.unique(query):
            first, last = np.searchsorted(tokens, [token, token + 1])
            if 0 < last - first <= max(10, _RARE * len(self)):
                scores[holders[first:last]] += np.log(len(self) / (last - first))
        return scores

    @cached_property
    def _postings(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Tokens, ascending, and the passage that has each; once for each passage."""
        own = [np.unique(text.ids) for text in self.texts[: len(self)]]
        tokens = np.concatenate(own)
        holders = np.repeat(np.arange(len(own), dtype=np.int32), [len(each) for each in own])
        order = np.argsort(tokens, kind="stable")
        return tokens[order], holders[order]


def need_pairs(pairs: Sequence[Pair]) -> None:
    """Raise an ``InputError`` if there are fewer than two pairs."""
    need(len(pairs) > 1, "the data has no pairs of query and passage", "name pairs in [data]")


def candidates(
    chosen: Sequence[Pair], maximum: int, passages: Passages, random: Random
) -> tuple[list[Text], NDArray[np.bool_]]:
    """The ``n`` passages of a step: query i is answered by the i-th, hard negatives come after.

    ``maximum`` hard negatives of each query are drawn where its pair has more; at 0 nothing is.
    Beside them ``(q, n)``: who answers whom, other pairs' passages included.
    """
    texts = [pair.text for pair in chosen]
    for pair in chosen:
        count = min(maximum, len(pair.negatives))
        texts += random.sample(pair.negatives, count) if count else []
    kinds = [passages.number(text) for text in texts]
    return texts, np.array([[k in passages.right(pair) for k in kinds] for pair in chosen], bool)


class Pairs:
    """Steps of stage I."""

    def __init__(self, stage: PairsStage, material: Material) -> None:
        need_pairs(material.pairs)
        self.stage, self.material = stage, material
        self._passages = Passages(material.pairs)

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        stage, material = self.stage, self.material
        chosen = random.sample(material.pairs, min(stage.pairs, len(material.pairs)))
        texts, same = candidates(chosen, stage.negatives, self._passages, random)
        whole = [
            stage.landmarks == "passage" or (stage.landmarks == "both" and random.random() < 0.5)
            for _ in texts
        ]
        ids = [read_question(pair, stage, material, random) for pair in chosen]
        rows = [_units(text, one) for text, one in zip(texts, whole, strict=True)]
        owner = torch.tensor([n for n, row in enumerate(rows) for _ in row])

        def contrast(scores: Tensor, right: Tensor) -> Tensor:
            return any_against_negatives(scores, right, ~right, stage.temperature)

        def loss(asking: Tensor, landmarks: Tensor) -> Tensor:
            place = owner.to(landmarks.device)
            right = marked(same, landmarks)
            found = means_of(landmarks, place, len(texts))
            document = contrast(similarities(asking, found), right)
            if all(whole):
                return document
            return document + contrast(similarities(asking, landmarks), right[:, place])

        value, spread = over_pairs(encode, stage, material, ids, rows, loss)
        right = torch.from_numpy(same)
        level = contrast(torch.zeros(same.shape), right)
        if not all(whole):
            level = level + contrast(torch.zeros(len(chosen), len(owner)), right[:, owner])
        return {"loss": value, "floor": level.item(), "spread": spread}


def _units(text: Text, whole: bool) -> list[np.ndarray]:
    """What each landmark closes: the passage, or its sentences one by one."""
    return [text.ids] if whole else [text.sentence(n) for n in range(len(text.spans))]
