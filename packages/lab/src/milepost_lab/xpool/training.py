"""Training of X-Pool on frozen landmarks, to rank documents by a question.

A step samples documents and a question of each, pools every document for every question, and
minimises InfoNCE in both directions (arXiv 2203.15086, where the encoders train as well). No
checkpoint is selected: the weights after the last step are the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_lab.data.landmarked import Landmarked
from milepost_lab.model.pooling import PoolModule, module, padded
from milepost_lab.model.pooling.xpool import XPool
from milepost_train.fit_steps import fit_steps
from milepost_train.losses.contrast import each_against_negatives
from milepost_train.schedule import rate_share

MOST_SCALE = math.log(100)
"""Upper bound of the logarithm of the scores' scale, as in CLIP."""


@dataclass(frozen=True, slots=True)
class XPoolRecipe:
    """The recipe of a training.

    Attributes:
        steps: optimizer steps.
        batch: documents per step, each with one question; at most all of them.
        rate: peak learning rate, after a linear warm-up over a tenth of the steps; then it
            falls along a cosine to 0.
        landmarks: maximum number of landmarks of a document in a step: those of the evidence, and
            others drawn anew each time.
        scale: initial scale of the scores, which is trained.
        decay: weight decay of the maps.
    """

    steps: int = 200
    batch: int = 16
    rate: float = 3e-4
    landmarks: int = 128
    scale: float = 20.0
    decay: float = 0.2


@torch.random.fork_rng(devices=[])
def train(
    data: Landmarked,
    recipe: XPoolRecipe,
    seed: int,
    *,
    settings: Mapping[str, Any] | None = None,
    say: Callable[[int, float], None] = lambda step, loss: None,
) -> tuple[PoolModule, list[float]]:
    """Train ``xpool`` from its initial weights.

    Args:
        data: training documents and questions.
        recipe: how to train.
        seed: seed of initial weights, batches and dropout.
        settings: settings of the operator.
        say: called with step and loss.

    Returns:
        The module in evaluation mode, and the loss of each step in nats.

    Raises:
        InputError: all questions are about one document.
    """
    torch.manual_seed(seed)
    width = data.states.shape[1]
    asked = [np.flatnonzero(data.answers == number) for number in range(len(data.lengths))]
    known = [number for number, questions in enumerate(asked) if len(questions)]
    if len(known) < 2:
        raise InputError("questions about one document teach nothing", "more training documents")
    made = module("xpool", width, query_width=width, seed=seed, **dict(settings or {}))
    assert isinstance(made, XPool)
    scale = nn.Parameter(torch.tensor(math.log(recipe.scale)))
    maps = [weight for weight in made.parameters() if weight.dim() > 1]
    others = [weight for weight in made.parameters() if weight.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": maps, "weight_decay": recipe.decay}, {"params": [*others, scale]}],
        lr=recipe.rate,
        weight_decay=0.0,
    )
    random = np.random.default_rng(seed)
    made.train()

    def loss(_: int) -> Tensor:
        documents = random.choice(known, min(recipe.batch, len(known)), replace=False)
        questions = [int(random.choice(asked[number])) for number in documents]
        texts = [
            torch.from_numpy(_some(data, each, recipe.landmarks, random)) for each in questions
        ]
        scores = batch_scores(made, torch.from_numpy(data.queries[questions]), *padded(texts))
        return both_ways(scores, scale)

    clipped = [*made.parameters(), scale]
    losses = fit_steps(
        optimizer, recipe.steps, loss, share=rate_share, clipped=clipped, on_step=say
    )
    return made.eval(), losses


def batch_scores(made: XPool, queries: Tensor, states: Tensor, lengths: Tensor) -> Tensor:
    """Cosine of every query ``(q, d)`` with every text's vector for it, ``(q, texts)``."""
    vectors = made(states, lengths, queries.expand(len(states), -1, -1))
    return F.cosine_similarity(vectors, queries[None], dim=-1).T


def both_ways(scores: Tensor, log_scale: Tensor) -> Tensor:
    """Mean of the cross-entropies query → text and text → query, nats.

    Args:
        scores: ``(q, q)``, query ``i`` is answered by text ``i``.
        log_scale: the scores are multiplied by its exponential, which is 100 at most.
    """
    scaled = scores * log_scale.clamp(max=MOST_SCALE).exp()
    right = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    ways = (each_against_negatives(each, right, ~right, 1.0) for each in (scaled, scaled.T))
    return sum(ways, torch.zeros_like(log_scale)) / 2


def _some(
    data: Landmarked, question: int, most: int, random: np.random.Generator
) -> NDArray[np.float32]:
    """Landmarks of a question's document: all, or the evidence and randomly drawn others."""
    states = data.document(int(data.answers[question]))
    if len(states) <= most:
        return states
    kept = list(data.evidence[question])[:most]
    rest = np.setdiff1d(np.arange(len(states)), kept)
    return states[[*kept, *random.choice(rest, most - len(kept), replace=False)]]
