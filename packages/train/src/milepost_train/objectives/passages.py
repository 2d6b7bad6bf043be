"""The passages of the pairs: which are the same, who answers what, what a step chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from random import Random

import numpy as np
from numpy.typing import NDArray

from milepost_train.data import Pair, Text
from milepost_train.objectives.base import need

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
