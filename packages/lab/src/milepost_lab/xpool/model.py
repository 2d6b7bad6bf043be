"""X-Pool's score, loss and training; equations 1 to 5 are ``milepost_lab.pooling.conditioned``.

6. s(t, v) = cos(t, z)                        t as given, not LN(t)
7. loss = (CE(t → v) + CE(v → t)) / 2         of scores times exp(scale), at most 100
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_lab.data.landmarked import Landmarked
from milepost_lab.pooling import module
from milepost_lab.pooling.base import padded
from milepost_lab.pooling.conditioned import Conditioned
from milepost_lab.training import fit

LARGEST_SCALE = math.log(100)
TILE = 1 << 20


@dataclass(frozen=True, slots=True)
class Recipe:
    """How X-Pool is trained on frozen landmarks; the weights after the last step are the result.

    Attributes:
        steps: optimizer steps.
        batch: documents per step, each with one question.
        rate: highest learning rate.
        landmarks: most landmarks of a document in a step: the evidence, and others drawn anew.
        scale: initial scale of the scores, which is trained.
        decay: weight decay of the maps.
        heads, temperature: of the pooling.
    """

    steps: int = 200
    batch: int = 16
    rate: float = 3e-4
    landmarks: int = 128
    scale: float = 20.0
    decay: float = 0.2
    heads: int = 1
    temperature: float = 1.0


def loss(scores: Tensor, log_scale: Tensor) -> Tensor:
    """Equation 7: scores ``(q, q)``, query i is answered by text i; nats."""
    scaled = scores * log_scale.clamp(max=LARGEST_SCALE).exp()
    right = torch.arange(len(scores))
    return (F.cross_entropy(scaled, right) + F.cross_entropy(scaled.T, right)) / 2


def batch_scores(made: Conditioned, queries: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    """Equation 6 of all pairs: queries ``(q, d)``, texts ``(b, n, d)`` → ``(q, b)``."""
    vectors = made(states, mask, queries=queries.expand(len(states), -1, -1))
    return F.cosine_similarity(vectors, queries[None], dim=-1).T


@torch.no_grad()
def pair_scores(
    made: Conditioned,
    data: Landmarked,
    only: NDArray[np.bool_] | None = None,
    asked: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Equation 6 of every question and document, ``(questions, documents)``; -inf outside ``only``.

    Texts are read one by one and their questions in tiles: all vectors at once would be
    questions × documents × d numbers.

    Args:
        made: trained or not.
        data: questions and documents.
        only: ``(questions, documents)``: pairs to score; None for all.
        asked: ``(questions, d)``: what documents are pooled for instead of the questions, to
            measure the effect of conditioning.
    """
    queries = torch.from_numpy(data.queries)
    conditions = queries if asked is None else torch.from_numpy(asked)
    scores = np.full((len(queries), len(data.lengths)), -np.inf, np.float32)
    for number, part in enumerate(data.texts()):
        rows = np.arange(len(queries)) if only is None else np.flatnonzero(only[:, number])
        states, mask = padded([torch.from_numpy(part)])
        step = max(1, TILE // max(len(part), part.shape[1]))
        for at in range(0, len(rows), step):
            some = rows[at : at + step]
            vectors = made(states, mask, queries=conditions[some][None])[0]
            scores[some, number] = F.cosine_similarity(vectors, queries[some], dim=-1).numpy()
    return scores


def train(
    data: Landmarked,
    recipe: Recipe,
    seed: int,
    on_step: Callable[[int], None] = lambda step: None,
) -> tuple[Conditioned, list[float]]:
    """Train ``xpool``, and return it in evaluation mode with the loss of each step.

    Raises:
        InputError: all questions are about one document.
    """
    width = data.states.shape[1]
    asked = [np.flatnonzero(data.answers == number) for number in range(len(data.lengths))]
    known = [number for number, questions in enumerate(asked) if len(questions)]
    if len(known) < 2:
        raise InputError("questions about one document teach nothing", "more training documents")
    made = module("xpool", width, seed=seed, heads=recipe.heads, temperature=recipe.temperature)
    assert isinstance(made, Conditioned)
    scale = nn.Parameter(torch.tensor(math.log(recipe.scale)))
    maps = [weight for weight in made.parameters() if weight.dim() > 1]
    others = [weight for weight in made.parameters() if weight.dim() <= 1]
    random = np.random.default_rng(seed)

    def step_loss(_: int) -> Tensor:
        documents = random.choice(known, min(recipe.batch, len(known)), replace=False)
        questions = [int(random.choice(asked[number])) for number in documents]
        texts = [
            torch.from_numpy(_sample(data, each, recipe.landmarks, random)) for each in questions
        ]
        states, mask = padded(texts)
        return loss(
            batch_scores(made, torch.from_numpy(data.queries[questions]), states, mask), scale
        )

    groups = [{"params": maps, "weight_decay": recipe.decay}, {"params": [*others, scale]}]
    losses = fit(groups, step_loss, recipe.steps, recipe.rate, on_step=on_step)
    made.eval()
    return made, losses


def _sample(
    data: Landmarked, question: int, most: int, random: np.random.Generator
) -> NDArray[np.float32]:
    """Landmarks of a question's document: all, or the evidence and randomly drawn others."""
    states = data.document(int(data.answers[question]))
    if len(states) <= most:
        return states
    kept = list(data.evidence[question])[:most]
    rest = np.setdiff1d(np.arange(len(states)), kept)
    return states[[*kept, *random.choice(rest, most - len(kept), replace=False)]]
