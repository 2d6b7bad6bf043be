"""Training of a network with one document pooling, so that poolings can be compared.

Everything but the pooling is the same: pairs, the parts read of them, their order, steps and loss.
Queries are pooled like documents. Each pooling has the learning rate that suits it best.

``train`` runs a fixed number of steps. ``train_until_flat`` stops when the loss on held-out pairs
is flat, because an encoder made for one pooling takes longer to learn the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch
from torch import Tensor

from milepost_lab.lmk.pairs import Drawing, Pair, same_answers
from milepost_lab.lmk.reader import Reader, Text
from milepost_train.early_stopping import Flat, Patience, Resume, fit_with_early_stopping
from milepost_train.fit_steps import fit_steps
from milepost_train.losses import info_nce
from milepost_train.schedule import order_of, rate_share


@dataclass(frozen=True, slots=True)
class Recipe:
    """How each pooling is trained.

    Attributes:
        steps: optimizer steps.
        batch: pairs per step; the other passages of the batch are a query's negatives, except
            those that answer the same query.
        passage: minimum and maximum tokens of a passage.
        temperature: temperature of InfoNCE.
        granularities: one is drawn for each query and each passage (``lmk_var`` of the paper).
    """

    steps: int = 500
    batch: int = 32
    passage: tuple[int, int] = (64, 512)
    temperature: float = 0.03
    granularities: tuple[int, ...] = (32, 64, 128, 256)


def train(
    reader: Reader,
    pairs: Sequence[Pair],
    recipe: Recipe,
    rate: float,
    seed: int,
    say: Callable[[int, float], None] = lambda step, loss: None,
) -> list[float]:
    """Train the reader's network in place.

    Args:
        reader: all its parameters are trained.
        pairs: queries and passages; each passage once, or it would be its own negative.
        recipe: the same for all poolings.
        rate: peak learning rate, after a warm-up over a tenth of the steps; then a cosine to 0.
        seed: determines the order of pairs, the parts read of them and the granularities.
        say: called with step and loss.

    Returns:
        The loss of each step, nats.
    """
    weights = list(reader.network.parameters())
    batches = order_of(len(pairs), recipe.batch, recipe.steps, seed)
    loss_of = _Loss(reader, pairs, recipe, seed)
    reader.network.train()
    adam = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01)
    losses = fit_steps(
        adam,
        recipe.steps,
        lambda _: loss_of(next(batches)),
        share=rate_share,
        clipped=weights,
        on_step=say,
    )
    reader.network.eval()
    return losses


def train_until_flat(
    reader: Reader,
    pairs: Sequence[Pair],
    held_out: Sequence[Pair],
    recipe: Recipe,
    patience: Patience,
    rate: float,
    seed: int,
    say: Callable[[int, float], None] = lambda step, loss: None,
    stored: tuple[Path, str] | None = None,
) -> tuple[list[float], Flat]:
    """Train the reader's network in place until the loss on held-out pairs is flat.

    The weights with the lowest loss are kept.

    Args:
        reader: see ``train``.
        pairs: see ``train``.
        held_out: validation pairs; the parts read of them and the granularities are the same in
            every validation.
        recipe: see ``train``; its steps are ignored.
        patience: when to stop.
        rate: learning rate, constant after a warm-up over ``patience.every`` steps.
        seed: see ``train``.
        say: called with step and loss.
        stored: file that a stopped training resumes from, and a key of all that it depends on.

    Returns:
        The loss of each step, nats, and how the training ended.
    """
    network = reader.network
    weights = list(network.parameters())
    batches = order_of(len(pairs), recipe.batch, patience.most, seed)
    loss_of = _Loss(reader, pairs, recipe, seed)
    every = range(len(held_out))
    parts = [every[at : at + recipe.batch] for at in every[:: recipe.batch]]

    def validated() -> float:
        network.eval()
        same = _Loss(reader, held_out, recipe, 0)  # draws the same each time
        total = sum(float(same(part)) * len(part) for part in parts)
        network.train()
        return total / len(held_out)

    network.train()
    adam = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01)
    found = fit_with_early_stopping(
        adam,
        lambda _: loss_of(next(batches)),
        validated,
        patience,
        clipped=weights,
        on_step=say,
        resume=Resume(*stored, lambda: loss_of.draw(next(batches))) if stored else None,
    )
    network.eval()
    return list(found.losses), found


class _Loss:
    """The InfoNCE loss of pairs by number; every call draws anew the parts that are read."""

    def __init__(self, reader: Reader, pairs: Sequence[Pair], recipe: Recipe, seed: int) -> None:
        self._reader, self._pairs, self._recipe = reader, pairs, recipe
        self._drawing = Drawing(pairs, recipe.passage, seed)
        self._random = Random(f"{seed}/granularities")
        self._same = same_answers(pairs)

    def draw(self, numbers: Sequence[int]) -> list[tuple[list[Text], list[int]]]:
        """Draw the texts of both sides and their granularities."""
        queries, passages = [self._pairs[n].query for n in numbers], self._drawing.passages(numbers)
        return [
            (texts, self._random.choices(self._recipe.granularities, k=len(texts)))
            for texts in (queries, passages)
        ]

    def __call__(self, numbers: Sequence[int]) -> Tensor:
        queries, passages = (self._reader.train_vectors(*each) for each in self.draw(numbers))
        answers = [self._same[self._pairs[n].words.casefold()] for n in numbers]
        ignored = torch.tensor([[n in each for n in numbers] for each in answers])
        return info_nce(
            queries, passages, self._recipe.temperature, ignored=ignored.to(queries.device)
        )
