"""One network trained with one document pooling, so that poolings can be compared.

Everything but the pooling is the same for all of them: pairs, what is read of them, their order,
steps, loss. Queries are pooled as documents are. Each pooling has the learning rate that suits it.
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
    network = reader.network
    weights = list(network.parameters())
    batches = order_of(len(pairs), recipe.batch, recipe.steps, seed)
    drawing, drawn = Drawing(pairs, recipe.passage, seed), Random(f"{seed}/granularities")
    same = same_answers(pairs)

    def loss(_: int) -> Tensor:
        numbers = next(batches)
        sides = []
        for texts in ([pairs[n].query for n in numbers], drawing.passages(numbers)):
            granularities = drawn.choices(recipe.granularities, k=len(texts))
            sides.append(reader.train_vectors(texts, granularities))
        answers = [same[pairs[n].words.casefold()] for n in numbers]
        ignored = torch.tensor([[n in each for n in numbers] for each in answers])
        return info_nce(sides[0], sides[1], recipe.temperature, ignored=ignored.to(sides[0].device))

    network.train()
    adam = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01)
    losses = fit_steps(adam, recipe.steps, loss, share=rate_share, clipped=weights, on_step=say)
    network.eval()
    return losses
