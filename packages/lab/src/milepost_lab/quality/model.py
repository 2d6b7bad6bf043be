"""Indices of separation (arXiv 2506.13901); the sums are scikit-learn's where it has them.

    1. x = Σ_l α_l h^(l), α = sparsemax or softmax of trained scores
    2. W = Σ_c Σ_i |x_i - μ_c|², D² = least squared distance of two centroids
    3. XBI = W / (n D²); 1 / XBI is reported, higher is better
    4. CHI, DBS: scikit-learn; Dunn = least distance between classes / largest diameter
    5. AQI = λ / XBI + (1 - λ) CHI

For two classes CHI is [n1 n2 (n - 2) / n²] / XBI exactly: the composite has no second view, so the
study reports Dunn, silhouette and a probe beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost._optional import require
from milepost.errors import InputError
from milepost_lab.pooling.layers import sparsemax
from milepost_lab.training import fit

MEASURES = ("1/XBI", "CHI", "DBS", "Dunn", "silhouette", "probe")
"""In the order of the table; lower is better for DBS alone."""


def xie_beni(vectors: NDArray[np.floating], labels: NDArray[np.int64]) -> float:
    """Equation 3, in float64; inf where two centroids coincide, 0 where no point leaves its own."""
    points = vectors.astype(np.float64)
    kinds = np.unique(labels)
    centroids = np.stack([points[labels == kind].mean(0) for kind in kinds])
    within = sum(
        ((points[labels == kind] - centre) ** 2).sum()
        for kind, centre in zip(kinds, centroids, strict=True)
    )
    apart = ((centroids[:, None] - centroids[None]) ** 2).sum(-1)
    least = apart[~np.eye(len(kinds), dtype=bool)].min()
    return float(within / (len(points) * least)) if least else float("inf")


def dunn(vectors: NDArray[np.floating], labels: NDArray[np.int64]) -> float:
    """Least distance between classes over the largest diameter; rests on two extreme pairs."""
    distance = require("scipy.spatial.distance", extra="lab")
    apart = distance.squareform(distance.pdist(vectors.astype(np.float64)))
    same = labels[:, None] == labels[None]
    widest = apart[same].max()
    return float(apart[~same].min() / widest) if widest else float("inf")


def separation(vectors: NDArray[np.floating], labels: Sequence[int]) -> dict[str, float]:
    """``MEASURES`` of vectors ``(n, d)`` by their labels ``(n,)``.

    ``probe`` is the cross-validated accuracy of a logistic regression.

    Raises:
        InputError: one class, or a class of fewer than two vectors.
    """
    kinds = np.asarray(labels, np.int64)
    if (
        len(np.unique(kinds)) < 2
        or np.bincount(kinds).min(initial=2, where=np.bincount(kinds) > 0) < 2
    ):
        raise InputError("separation needs two labels with two texts each", "more texts")
    metrics = require("sklearn.metrics", extra="lab")
    index = xie_beni(vectors, kinds)
    return {
        "1/XBI": 1 / index if index else float("inf"),
        "CHI": float(metrics.calinski_harabasz_score(vectors, kinds)),
        "DBS": float(metrics.davies_bouldin_score(vectors, kinds)),
        "Dunn": dunn(vectors, kinds),
        "silhouette": float(metrics.silhouette_score(vectors, kinds)),
        "probe": probe(vectors, kinds)[0],
    }


def probe(
    vectors: NDArray[np.floating],
    labels: NDArray[np.int64],
    groups: Sequence[str] | None = None,
    permutations: int = 0,
) -> tuple[float, float]:
    """Accuracy of a cross-validated logistic regression, and its permutation p (1 without).

    Args:
        vectors: ``(n, d)``.
        labels: ``(n,)``.
        groups: labels are permuted, and folds cut, by whole groups (such as documents).
        permutations: 0 for none.
    """
    linear = require("sklearn.linear_model", extra="lab")
    selection = require("sklearn.model_selection", extra="lab")
    pipeline = require("sklearn.pipeline", extra="lab")
    preprocessing = require("sklearn.preprocessing", extra="lab")
    made = pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear.LogisticRegression(max_iter=1000)
    )
    if groups is None:
        folds = min(5, int(np.bincount(labels)[np.unique(labels)].min()))
        cut = selection.StratifiedKFold(folds, shuffle=True, random_state=0)
    else:
        cut = selection.GroupKFold(min(5, len(set(groups))))
    if not permutations:
        scores = selection.cross_val_score(made, vectors, labels, groups=groups, cv=cut)
        return float(scores.mean()), 1.0
    score, _, p = selection.permutation_test_score(
        made, vectors, labels, groups=groups, cv=cut, n_permutations=permutations, random_state=0
    )
    return float(score), float(p)


def permuted(
    vectors: NDArray[np.floating], labels: Sequence[int], draws: int, seed: int = 0
) -> tuple[float, float]:
    """Mean of 1/XBI under permuted labels, and p of the true one: ``(1 + above) / (1 + draws)``."""
    kinds, rng = np.asarray(labels, np.int64), np.random.default_rng(seed)
    true = xie_beni(vectors, kinds)
    drawn = np.array([xie_beni(vectors, rng.permutation(kinds)) for _ in range(draws)])
    return float(np.mean(1 / drawn)), float((1 + (drawn <= true).sum()) / (1 + draws))


def layer_weights(
    states: Tensor, labels: Tensor, steps: int = 200, *, sparse: bool = True
) -> Tensor:
    """Equation 1's α, ``(layers,)``: trained so that the classes of ``(n, layers, d)`` separate.

    The paper's loss could not be read; ``W / (n D²)`` of two classes stands for it. Score α on
    other texts than these: separation is what it was trained for.
    """
    scores = nn.Parameter(torch.zeros(states.shape[1]))

    def weights() -> Tensor:
        return sparsemax(scores) if sparse else torch.softmax(scores, 0)

    def loss(_: int) -> Tensor:
        x = torch.einsum("l,nld->nd", weights(), states)
        one, other = x[labels == 0], x[labels != 0]
        within = (one - one.mean(0)).square().sum() + (other - other.mean(0)).square().sum()
        return torch.log(within / len(x)) - torch.log((one.mean(0) - other.mean(0)).square().sum())

    fit([scores], loss, steps, 0.05)
    return weights().detach()
