"""One network trained with one document pooling, so that poolings can be compared.

Everything but the pooling is the same for all of them: pairs, what is read of them, their order,
steps, loss. Queries are pooled as documents are. Each pooling has the learning rate that suits it.

``train`` makes a number of steps. ``train_until_flat`` ends when the loss on held-out pairs is
flat: an encoder that was made for one pooling needs longer for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from milepost.lab.lmk.pairs import Drawing, Pair, same_answers
from milepost.lab.lmk.reader import Reader
from milepost.train.fit_steps import fit_steps
from milepost.train.losses import info_nce
from milepost.train.schedule import order_of, rate_share
from milepost.train.until_flat import Flat, Patience, fit_until_flat


@dataclass(frozen=True, slots=True)
class Recipe:
    """How each pooling is trained.

    Attributes:
        steps: optimizer steps.
        batch: pairs a step; all other passages of the batch are a query's negatives, except for
            those that answer the same query.
        passage: least and greatest number of tokens of a passage.
        temperature: of InfoNCE.
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
        pairs: query and passage; no passage twice, or it would be its own negative.
        recipe: the same for all poolings.
        rate: highest learning rate; a tenth of the steps to reach it, then a cosine to 0.
        seed: decides the order of pairs, what is read of them and the granularities.
        say: told step and loss.

    Returns:
        The loss of each step, nats.
    """
    weights = list(reader.network.parameters())
    batches = order_of(len(pairs), recipe.batch, recipe.steps, seed)
    loss_of = _loss(reader, pairs, recipe, seed)
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
) -> tuple[list[float], Flat]:
    """Train the reader's network in place until the loss on held-out pairs is flat.

    The weights with the lowest are kept.

    Args:
        reader: see ``train``.
        pairs: see ``train``.
        held_out: pairs whose loss is watched, read alike each time: what is read of them, and the
            granularities, are drawn once.
        recipe: see ``train``; but its steps do not count.
        patience: when to end.
        rate: learning rate, reached after ``patience.every`` steps; then it stays.
        seed: see ``train``.
        say: told step and loss.

    Returns:
        The loss of each step, nats, and how the training ended.
    """
    network = reader.network
    weights = list(network.parameters())
    batches = order_of(len(pairs), recipe.batch, patience.most, seed)
    loss_of = _loss(reader, pairs, recipe, seed)
    every = range(len(held_out))
    parts = [every[at : at + recipe.batch] for at in every[:: recipe.batch]]
    losses: list[float] = []

    def validated() -> float:
        network.eval()
        same = _loss(reader, held_out, recipe, 0)  # draws the same each time
        total = sum(float(same(part)) * len(part) for part in parts)
        network.train()
        return total / len(held_out)

    def on_step(step: int, loss: float) -> None:
        losses.append(loss)
        say(step, loss)

    network.train()
    adam = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01)
    found = fit_until_flat(
        adam,
        lambda _: loss_of(next(batches)),
        validated,
        patience,
        clipped=weights,
        on_step=on_step,
    )
    network.eval()
    return losses, found


def _loss(
    reader: Reader, pairs: Sequence[Pair], recipe: Recipe, seed: int
) -> Callable[[Sequence[int]], Tensor]:
    """InfoNCE of some of the pairs, by their numbers; every call draws what is read anew."""
    drawing, drawn = Drawing(pairs, recipe.passage, seed), Random(f"{seed}/granularities")
    same = same_answers(pairs)

    def loss(numbers: Sequence[int]) -> Tensor:
        sides = []
        for texts in ([pairs[n].query for n in numbers], drawing.passages(numbers)):
            granularities = drawn.choices(recipe.granularities, k=len(texts))
            sides.append(reader.train_vectors(texts, granularities))
        answers = [same[pairs[n].words.casefold()] for n in numbers]
        ignored = torch.tensor([[n in each for n in numbers] for each in answers])
        return info_nce(sides[0], sides[1], recipe.temperature, ignored=ignored.to(sides[0].device))

    return loss
