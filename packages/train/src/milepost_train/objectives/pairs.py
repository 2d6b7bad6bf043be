"""Stages I and II, of queries and their passages.

I: the other passages of the batch are negatives. II: noisy long documents, put together from
passages. A pseudo document holds the passages that answer a few queries, passages that look like
answers and passages drawn at random, shuffled. It is read in windows with halo, as the encoder
reads: what surrounds a passage is noise, and its landmarks must not be blurred by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.encoder.windows.plan import WindowSize, plan
from milepost_train.data import Pair, Text
from milepost_train.losses import any_against_negatives, means_of, similarities
from milepost_train.material import Material
from milepost_train.objectives.base import (
    Encode,
    chunks_of,
    marked,
    need,
    over_pairs,
    read_question,
    thinned,
)
from milepost_train.settings import MergedStage, PairsStage

_RARE = 0.02
"""Share of the passages that may hold a token for it to be rare."""


class Passages:
    """Every passage once, by a number; of two pairs at least."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        need(len(pairs) > 1, "the data has no pairs of query and passage", "name pairs in [data]")
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
        """Passages that are no answer and share the query's rarest tokens, best sum first."""
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


def _units(text: Text, whole: bool, most: int | None = None) -> list[NDArray[np.int32]]:
    units = [text.ids] if whole else [text.sentence(n) for n in range(len(text.spans))]
    return [tokens[:most] for tokens in units]


Units = list[tuple[int, NDArray[np.int32]]]  # of a pseudo document: passage and tokens


class Merged:
    """Steps of stage II."""

    def __init__(self, stage: MergedStage, material: Material) -> None:
        self.stage, self.material = stage, material
        self._passages = Passages(material.pairs)

    def draw(self, random: Random) -> list[tuple[list[Pair], list[int]]]:
        """Of each pseudo document its queries, and the numbers of its passages in their order."""
        stage, pairs = self.stage, self.material.pairs
        count = min(stage.documents * stage.questions, len(pairs))
        chosen = random.sample(pairs, count)
        return [
            (list(asked), self._shuffled(asked, random))
            for asked in chunks_of(chosen, stage.questions)
        ]

    def _shuffled(self, asked: Sequence[Pair], random: Random) -> list[int]:
        held: dict[int, None] = {}
        room = self.stage.tokens - 1
        for place, number in enumerate(self._offered(asked, random)):
            if number in held:
                continue
            room -= sum(len(unit) + 1 for _, unit in self._units(number))
            if room < 0 and place >= len(asked):
                break
            held[number] = None
        order = list(held)
        random.shuffle(order)
        return order

    def _offered(self, asked: Sequence[Pair], random: Random) -> Iterator[int]:
        """The right passages, then what looks like them, the best of each query first, then any."""
        yield from (self._passages.number(pair.text) for pair in asked)
        own = [self._hard(pair) for pair in asked]
        yield from (n for turn in zip_longest(*own) for n in turn if n is not None)
        # A passage has two tokens at least, its landmark among them.
        most = min(len(self._passages), self.stage.tokens // 2)
        yield from random.sample(range(len(self._passages)), most)

    def _hard(self, pair: Pair) -> list[int]:
        given = [self._passages.number(text) for text in pair.negatives][: self.stage.hard]
        missing = self.stage.hard - len(given)
        return given + (self._passages.nearest(pair, missing) if missing else [])

    def _units(self, number: int) -> Units:
        """What each landmark of a passage closes; longer than a window it cannot be."""
        whole, most = self.stage.landmarks == "passage", self.stage.window - 2
        return [(number, tokens) for tokens in _units(self._passages.texts[number], whole, most)]

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        stage, material = self.stage, self.material
        documents = self.draw(random)
        asked = [(n, pair) for n, (pairs, _) in enumerate(documents) for pair in pairs]
        ids = [thinned(pair.ids, stage.question_dropout, random) for _, pair in asked]
        rows: list[list[NDArray[np.int32]]] = []
        owners: list[tuple[int, int]] = []  # document and passage of each landmark read
        owned: list[bool] = []  # not of a halo
        for number, (_, order) in enumerate(documents):
            units = [unit for each in order for unit in self._units(each)]
            for first, own_first, own_last, last in self._windows(units):
                rows.append([tokens for _, tokens in units[first:last]])
                owners.extend((number, passage) for passage, _ in units[first:last])
                owned.extend(own_first <= n < own_last for n in range(first, last))
        kept = np.array(owned, bool)
        inside, passages = np.array(owners, np.int64)[kept].T
        right = np.zeros((len(asked), len(passages)), bool)
        wrong = np.zeros_like(right)
        for row, (number, pair) in enumerate(asked):
            answers = np.isin(passages, list(self._passages.right(pair)))
            right[row] = answers & (inside == number)
            wrong[row] = ~answers & ((inside == number) | stage.across)

        def contrast(scores: Tensor) -> Tensor:
            truth = marked(right, scores), marked(wrong, scores)
            return any_against_negatives(scores, *truth, stage.temperature)

        def loss(asking: Tensor, landmarks: Tensor) -> Tensor:
            return contrast(similarities(asking, landmarks))

        value, spread = over_pairs(encode, stage, material, ids, rows, loss, kept)
        level = contrast(torch.zeros(right.shape))
        return {"loss": value, "floor": level.item(), "spread": spread}

    def _windows(self, units: Units) -> Iterator[tuple[int, int, int, int]]:
        """First, first owned, last owned and last unit of each window, ends exclusive."""
        stage = self.stage
        costs = [len(tokens) + 1 for _, tokens in units]
        behind = 0 if self.material.causal else stage.right
        for window in plan(costs, WindowSize(stage.window, stage.left, behind, max(costs))):
            yield window.first, window.own_first, window.own_last, window.last
