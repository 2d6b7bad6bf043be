"""Coupled estimation on generated data with known truth: the published form, and EM.

Every item has five features of its text, which determine its relevance, and a score of the
retriever that selected what annotators saw. ``rho`` is the correlation of that score with the text.
A label is the product of relevance and selection. Four models of relevance are trained on the
labels and tested on the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from milepost_lab.cet.product import Floats, Logistic, fit_product, logistic, sigmoid
from milepost_lab.cet.published import published_weights

ARMS = ("naive", "published", "coupled", "oracle")
"""What is not labelled is irrelevant; the same under the paper's weights, both models on the same
features; EM on the product, with a selection model of its own features; fitted to the truth."""

_TASTE = np.array([1.5, 1.0, 0.5, 0.0, 0.0])
_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class World:
    """Generated items.

    Attributes:
        text: ``(n, 5)`` features of relevance.
        score: ``(n, 1)`` under the annotating retriever.
        chances: ``(n,)`` true ``r``.
        relevant: ``(n,)`` 0 or 1, drawn by it.
        labels: ``(n,)`` 1 where relevant and shown to a judge.
    """

    text: Floats
    score: Floats
    chances: Floats
    relevant: Floats
    labels: Floats


def world(rho: float, seed: int, count: int = 4000) -> World:
    """``r = sigmoid(1.5 x1 + x2 + .5 x3 - 1)``, ``z = rho x1 + noise``, ``s = sigmoid(3 z - 1)``.

    Args:
        rho: correlation of the annotating score with the first feature, 0 to 1.
        seed: of everything that is drawn.
        count: items.
    """
    random = np.random.default_rng(seed)
    text = random.normal(size=(count, len(_TASTE)))
    score = rho * text[:, 0] + np.sqrt(1 - rho**2) * random.normal(size=count)
    chances = sigmoid(text @ _TASTE - 1.0)
    relevant = random.random(count) < chances
    shown = random.random(count) < sigmoid(3.0 * score - 1.0)
    return World(
        text, score[:, None], chances, relevant.astype(float), (relevant & shown).astype(float)
    )


def published(
    features: Floats, labels: Floats, starts: tuple[Logistic, Logistic], temperature: float = 2.0
) -> tuple[Logistic, Logistic]:
    """Both models of the published form, pointwise: each refitted under the other's old weights.

    No weight is bounded, as published.

    Args:
        features: ``(n, d)``, the same for both.
        labels: ``(n,)``.
        starts: relevance and selection before the first round.
        temperature: "debias ratio".

    Returns:
        The relevance model and the selection model after 30 rounds.
    """
    models = starts
    for _ in range(_ROUNDS):
        scores = [torch.from_numpy(model.logits(features)) for model in models]
        weights = [published_weights(each, temperature).numpy() for each in scores]
        relevance, selection = (
            logistic(features, labels, np.where(labels > 0, 1.0, other), start=model)
            for model, other in zip(models, reversed(weights), strict=True)
        )
        models = relevance, selection
    return models


def area(scores: Floats, truth: Floats) -> float:
    """Area under the ROC curve: probability that a true item outscores a false one; ties half.

    Args:
        scores: ``(n,)``.
        truth: ``(n,)``, above 0 for true; there is at least one of each.

    >>> area(np.array([3.0, 2.0, 2.0, 1.0]), np.array([1.0, 1.0, 0.0, 0.0]))
    0.875
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    ranks = (below + (counts + 1) / 2)[place]
    good = truth > 0
    yes, no = int(good.sum()), int((~good).sum())
    return float((ranks[good].sum() - yes * (yes + 1) / 2) / (yes * no))


@dataclass(frozen=True, slots=True)
class Arm:
    """Results of one way of training.

    Attributes:
        name: of ``ARMS``.
        rho: of the world.
        area: against true relevance of fresh items, mean over seeds.
        spread: standard deviation of it over seeds.
        bias: mean predicted minus mean true probability.
        apart: mean distance between the relevance and the selection model's probabilities on the
            text; None where there is no second model of it.
    """

    name: str
    rho: float
    area: float
    spread: float
    bias: float
    apart: float | None


def compare(rhos: tuple[float, ...] = (0.0, 0.6), seeds: int = 10) -> Iterator[Arm]:
    """All arms on data of each ``rho``, trained on 4,000 items, tested on 20,000 others.

    Args:
        rhos: see ``world``.
        seeds: worlds of each.
    """
    for rho in rhos:
        told: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ARMS}
        for seed in range(seeds):
            seen, fresh = world(rho, seed), world(rho, 1000 + seed, 20000)
            models = _models(seen, seed)
            for name, (model, second) in models.items():
                chances = model(fresh.text)
                apart = np.nan if second is None else np.abs(chances - second(fresh.text)).mean()
                bias = float((chances - fresh.chances).mean())
                told[name].append((area(chances, fresh.relevant), bias, float(apart)))
        for name, rows in told.items():
            areas, biases, aparts = map(np.array, zip(*rows, strict=True))
            apart = None if np.isnan(aparts).any() else float(aparts.mean())
            yield Arm(
                name, rho, float(areas.mean()), float(areas.std()), float(biases.mean()), apart
            )


def _models(seen: World, seed: int) -> dict[str, tuple[Logistic, Logistic | None]]:
    """Each arm's relevance model, and its selection model where that reads the text as well."""
    random = np.random.default_rng(seed)
    width = seen.text.shape[1]
    begin = [Logistic(random.normal(0, 0.3, (width,)), 0.0) for _ in range(2)]
    return {
        "naive": (logistic(seen.text, seen.labels), None),
        "published": published(seen.text, seen.labels, (begin[0], begin[1])),
        "coupled": (fit_product(seen.text, seen.score, seen.labels).relevance, None),
        "oracle": (logistic(seen.text, seen.relevant), None),
    }
