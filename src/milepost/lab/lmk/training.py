"""One network trained with one document pooling, so that poolings can be compared.

Everything but the pooling is the same for all of them: pairs, their order, where the round of
positions starts in each text, steps, rate, loss. Queries are pooled as documents are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from milepost.lab.lmk.long_bert import LongBert
from milepost.lab.lmk.readouts import Pooling, pooled_row
from milepost.model.lmk import Row, pad, pool
from milepost.model.lmk_model import Granularity
from milepost.train.fit_steps import fit_steps
from milepost.train.losses import info_nce
from milepost.train.schedule import order_of, rate_share

Sentences = Sequence[Sequence[int]]
"""A text: token ids of each sentence, without special tokens."""


@dataclass(frozen=True, slots=True)
class LmkRecipe:
    """How each pooling is trained.

    Attributes:
        steps: optimizer steps.
        batch: pairs a step; all other passages of the batch are a query's negatives.
        rate: highest learning rate, after a linear warm-up over a tenth of the steps; then it
            falls along a cosine to 0.
        temperature: of InfoNCE.
        granularities: what ``lmk`` draws from, once for each query and each passage.
    """

    steps: int = 50
    batch: int = 32
    rate: float = 1e-4
    temperature: float = 0.03
    granularities: tuple[Granularity, ...] = (32, 64, 128, 256)


class PooledReader:
    """A network and a pooling: texts in, one unit vector each out.

    Args:
        model: reads any length.
        pooling: which states make a vector.
        opening: id of ``[CLS]``.
        closing: id of ``[SEP]``, the landmark.
        dtype: products of matrices are of this type, sums and vectors float32.
    """

    def __init__(
        self,
        model: LongBert,
        pooling: Pooling,
        *,
        opening: int,
        closing: int,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        self.model, self.pooling = model, pooling
        self._opening, self._closing, self._dtype = opening, closing, dtype

    def train_vectors(
        self,
        texts: Sequence[Sentences],
        granularities: Sequence[Granularity],
        offsets: Sequence[int],
    ) -> Tensor:
        """Vectors ``(n, d)`` with a graph.

        Args:
            texts: short ones.
            granularities: one a text; only ``lmk`` looks at them.
            offsets: one a text, where its positions start.
        """
        rows = [self._row(*each) for each in zip(texts, granularities, strict=True)]
        places = torch.tensor(offsets, dtype=torch.int64)
        return self._pooled(*self._states(rows, places))

    def vectors(
        self,
        texts: Sequence[Sentences],
        granularity: Granularity,
        *,
        most: int | None = None,
        tokens: int = 16_384,
    ) -> Tensor:
        """Vectors ``(n, d)`` of texts read in one pass each, however long.

        Args:
            texts: any lengths.
            granularity: of ``lmk``.
            most: pooled states of ``mean``, see ``pooled_row``.
            tokens: a batch has as many texts of like length as fit in.
        """
        rows = [self._row(text, granularity, most) for text in texts]
        found: dict[int, Tensor] = {}
        with torch.inference_mode():
            for numbers in _batches([len(row.ids) for row in rows], tokens):
                some = self._pooled(*self._states([rows[n] for n in numbers]))
                found.update(zip(numbers, some, strict=True))
        return torch.stack([found[n] for n in range(len(rows))])

    def windowed(self, text: Sentences, size: int, granularity: Granularity) -> Tensor:
        """Sum of the pooled states of each window, ``(windows, d)`` float32.

        Windows of ``size`` tokens are read one by one, without halo. Some rows added, to unit
        length, are the vector of the stretch of text that they cover.
        """
        rows = [self._row(window, granularity) for window in windows_of(text, size)]
        parts = []
        with torch.inference_mode():
            for at in range(0, len(rows), 32):
                states, used = self._states(rows[at : at + 32])
                parts.append((states.float() * used[:, :, None]).sum(1))
        return torch.cat(parts)

    def _row(self, text: Sentences, granularity: Granularity, most: int | None = None) -> Row:
        return pooled_row(
            text,
            self.pooling,
            opening=self._opening,
            closing=self._closing,
            granularity=granularity,
            most=most,
        )

    def _states(self, rows: Sequence[Row], offsets: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Pooled states ``(b, m, d)``, and which of them are there, ``(b, m)`` bool."""
        padded = pad(rows, 0)
        most = max(len(row.landmarks) for row in rows)
        marks = torch.zeros(len(rows), most, dtype=torch.int64)
        used = torch.zeros(len(rows), most, dtype=torch.bool)
        for number, row in enumerate(rows):
            marks[number, : len(row.landmarks)] = torch.tensor(row.landmarks)
            used[number, : len(row.landmarks)] = True
        ids, valid = torch.from_numpy(padded.ids), torch.from_numpy(padded.mask)
        lower = self._dtype != torch.float32
        with torch.autocast("cpu", dtype=self._dtype if lower else torch.bfloat16, enabled=lower):
            return self.model(ids, valid, marks, offsets), used

    @staticmethod
    def _pooled(states: Tensor, used: Tensor) -> Tensor:
        return pool(states, used, used)


def windows_of(text: Sentences, size: int) -> list[list[list[int]]]:
    """Runs of ``size`` tokens, the last one shorter; a sentence at an edge is cut in two.

    >>> windows_of([[1, 2], [3, 4, 5]], 3)
    [[[1, 2], [3]], [[4, 5]]]
    """
    windows: list[list[list[int]]] = [[]]
    room = size
    for sentence in text:
        left = list(sentence)
        while left:
            if not room:
                windows.append([])
                room = size
            windows[-1].append(left[:room])
            left, room = left[room:], room - len(left[:room])
    return windows


def train(
    reader: PooledReader,
    pairs: Sequence[tuple[Sentences, Sentences]],
    recipe: LmkRecipe,
    seed: int,
    say: Callable[[int, float], None] = lambda step, loss: None,
) -> list[float]:
    """Train the reader's network in place by InfoNCE within the batch.

    The token table stays as it is: some thousand texts say nothing of most of 30,000 tokens.

    Args:
        reader: all its parameters train but the token table.
        pairs: query and passage; no passage twice, or it would be its own negative.
        recipe: the same for all poolings.
        seed: decides the order of pairs, positions and granularities.
        say: told step and loss.

    Returns:
        The loss of each step, nats.
    """
    model = reader.model
    model.bert.embeddings["word_embeddings"].weight.requires_grad_(False)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    # Two generators: granularities, which one pooling alone heeds, must not move the positions.
    places, drawn = Random(f"{seed}/positions"), Random(f"{seed}/granularities")
    round_trip = model.bert.max_tokens - 1
    batches = order_of(len(pairs), recipe.batch, recipe.steps, seed)

    def loss(_: int) -> Tensor:
        numbers, sides = next(batches), []
        for side in (0, 1):
            texts = [pairs[n][side] for n in numbers]
            offsets = [places.randrange(round_trip) for _ in texts]
            granularities = drawn.choices(recipe.granularities, k=len(texts))
            sides.append(reader.train_vectors(texts, granularities, offsets))
        return info_nce(sides[0], sides[1], recipe.temperature)

    adam = torch.optim.AdamW(weights, lr=recipe.rate, weight_decay=0.01)
    return fit_steps(adam, recipe.steps, loss, share=rate_share, clipped=weights, on_step=say)


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Numbers of texts, short ones first, so many that the padded batch keeps to ``tokens``."""
    some: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if some and (len(some) + 1) * lengths[number] > tokens:
            yield some
            some = []
        some.append(number)
    if some:
        yield some
