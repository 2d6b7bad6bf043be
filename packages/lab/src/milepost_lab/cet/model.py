"""Weights of unlabelled negatives: as published, and of the product model (arXiv 2209.05072).

    1. P(l = 1 | q, d) = r s: labelled means relevant and shown to a judge
    2. published: the weight of a negative is 1 / (1 - sigmoid(u / T)) = 1 + exp(u / T), u the score
       of the other model; both models are trained together on the same pairs
    3. unbiased: an unlabelled document is irrelevant with P(r = 0 | l = 0) = (1 - r) / (1 - r s)
    4. EM on eq. 1 with features of its own for the selection; never lowers the likelihood

Scores of pairs have a free level, so sigmoid(u / T) is no probability: adding 5 to all scores
changes no loss and multiplies the weights (a test has the numbers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy.special import expit  # type: ignore[import-untyped,unused-ignore]
from torch import Tensor, nn

from milepost._optional import require
from milepost_lab.training import fit

Floats = NDArray[np.float64]


def published_weights(scores: Tensor, temperature: float) -> Tensor:
    """Equation 2, without gradient; the written form is infinite in float32 from u = 17 on."""
    return 1.0 + (scores.detach() / temperature).exp()


def posterior(r: Floats, s: Floats) -> Floats:
    """Equation 3: the chance that an unlabelled document is irrelevant, in [0, 1]."""
    found: Floats = (1 - r) / np.maximum(1 - r * s, 1e-12)
    return found


def effective(weights: Floats) -> float:
    """Effective sample size ``(Σ w)² / Σ w²``."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def weighted_pairs(positive: Tensor, negative: Tensor, weights: Tensor, *, own: bool) -> Tensor:
    """Weighted mean of ``log(1 + exp(s_n - s_p))``, ``(n,)`` each.

    ``own``: divide by the sum of the weights; as published by their number, which scales the
    learning rate too.
    """
    total = (weights * F.softplus(negative - positive)).sum()
    return total / (weights.sum() if own else len(weights))


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression: ``sigmoid(x w + b)``."""

    weight: Floats
    bias: float

    def logits(self, features: Floats) -> Floats:
        """``(n,)`` of features ``(n, d)``."""
        found: Floats = features @ self.weight + self.bias
        return found

    def __call__(self, features: Floats) -> Floats:
        """Probabilities ``(n,)``."""
        found: Floats = expit(self.logits(features))
        return found


def logistic(features: Floats, targets: Floats, weights: Floats | None = None) -> Logistic:
    """Fit to targets in [0, 1], each row counted as both classes by scikit-learn."""
    linear = require("sklearn.linear_model", extra="lab")
    rows = np.concatenate([features, features])
    labels = np.repeat([1, 0], len(features))
    counts = np.concatenate([targets, 1 - targets])
    if weights is not None:
        counts = counts * np.tile(weights, 2)
    made = linear.LogisticRegression(C=1e4, max_iter=500).fit(rows, labels, sample_weight=counts)
    return Logistic(made.coef_[0], float(made.intercept_[0]))


def likelihood(r: Floats, s: Floats, labels: Floats) -> float:
    """Mean log-likelihood of labels under eq. 1."""
    p = np.clip(r * s, 1e-12, 1 - 1e-12)
    return float(np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p)))


def fit_product(
    text: Floats, shown: Floats, labels: Floats, rounds: int = 30
) -> tuple[Logistic, Logistic]:
    """Equation 4: relevance on features of the text, selection on those of the judging.

    Args:
        text: ``(n, d)``.
        shown: ``(n, e)``: rank or score under the annotating retriever.
        labels: ``(n,)`` 0 or 1.
        rounds: of EM.
    """
    relevance, selection = logistic(text, labels), logistic(shown, 0.5 + 0.5 * labels)
    for _ in range(rounds):
        r, s = relevance(text), selection(shown)
        unlabelled = np.maximum(1 - r * s, 1e-12)
        relevant = np.where(labels > 0, 1.0, r * (1 - s) / unlabelled)
        judged = np.where(labels > 0, 1.0, s * (1 - r) / unlabelled)
        relevance, selection = logistic(text, relevant), logistic(shown, judged)
    return relevance, selection


def published(
    features: Floats, labels: Floats, seed: int, temperature: float = 2.0, rounds: int = 10
) -> tuple[Logistic, Logistic]:
    """Equation 2 pointwise: each model refitted under the other's old weights."""
    random = np.random.default_rng(seed)
    models = [Logistic(random.normal(0, 0.3, (features.shape[1],)), 0.0) for _ in range(2)]
    for _ in range(rounds):
        weights: list[Floats] = [
            published_weights(torch.from_numpy(model.logits(features)), temperature).numpy()
            for model in models
        ]
        models = [
            logistic(features, labels, np.where(labels > 0, 1.0, np.minimum(other, 1e6)))
            for other in reversed(weights)
        ]
    return models[0], models[1]


class Ranker(nn.Module):
    """A small scorer of a question's vector and a sentence's: a layer over their product."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(2 * width + 1, 64), nn.GELU(), nn.Linear(64, 1))
        self.scale = nn.Parameter(torch.tensor(5.0))

    def forward(self, queries: Tensor, texts: Tensor) -> Tensor:
        """Scores ``(…,)`` of unit vectors ``(…, d)``."""
        cosine = (queries * texts).sum(-1, keepdim=True)
        found = self.layer(torch.cat([queries * texts, (queries - texts).abs(), cosine], -1))
        scores: Tensor = (self.scale * cosine + found)[..., 0]
        return scores


WEIGHINGS = ("none", "published", "posterior", "oracle")


def train_ranker(
    draw: Callable[[], tuple[Tensor, Tensor, Tensor, Tensor]],
    width: int,
    weighing: str,
    steps: int,
    seed: int,
    temperature: float = 2.0,
    prior: float = 0.5,
) -> Ranker:
    """Train a ranker on pairs of a labelled and an unlabelled sentence.

    Args:
        draw: questions, positives, negatives ``(n, d)``, and whether a negative is a hidden answer
            ``(n,)`` bool, which only ``oracle`` reads.
        width: d.
        weighing: of ``WEIGHINGS``; ``published`` trains a second ranker beside the first.
        steps: of AdamW.
        seed: of weights.
        temperature: of eq. 2.
        prior: s of eq. 3, the share of answers that are labelled.
    """
    torch.manual_seed(seed)
    first, second = Ranker(width), Ranker(width)

    def loss(_: int) -> Tensor:
        queries, positives, negatives, hidden = draw()
        plus, minus = first(queries, positives), first(queries, negatives)
        if weighing == "published":
            other = second(queries, negatives)
            own = weighted_pairs(plus, minus, published_weights(other, temperature), own=False)
            others = weighted_pairs(
                second(queries, positives), other, published_weights(minus, temperature), own=False
            )
            return own + others
        weights = torch.ones(len(queries))
        if weighing == "posterior":
            # Scores of pairs have no level: the positives' median stands for an even chance.
            r = torch.sigmoid(minus.detach() - plus.detach().median()).double().numpy()
            weights = torch.from_numpy(posterior(r, np.full(len(r), prior))).float()
        elif weighing == "oracle":
            weights = (~hidden).float()
        return weighted_pairs(plus, minus, weights, own=True)

    weights = [*first.parameters()]
    if weighing == "published":
        weights += [*second.parameters()]
    fit(weights, loss, steps, 1e-3, decay=0.01)
    first.eval()
    return first
