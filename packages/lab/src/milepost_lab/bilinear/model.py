"""A scorer of pairs around a fusion, and its loss; the fusions are ``milepost_lab.pooling.fusion``.

A row has one x and one or more candidates y. A row of one candidate is told true or false; of
several the best is chosen.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_lab.pooling.fusion import FUSIONS
from milepost_lab.training import fit_best, parameters

COSINE = 20.0
"""Scores start at 20 × cosine: a softmax over cosines at temperature 0.05."""
RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
BATCH = 512


@dataclass(frozen=True, slots=True)
class Rows:
    """Pairs, or questions with their candidates.

    Attributes:
        x: ``(rows, 1, m)`` float32.
        y: ``(rows, candidates, n)`` float32.
        true: ``(rows, candidates)`` bool.
        clusters: ``(rows,)``: rows of one document or picture are not independent.
        base: ``(rows, candidates)``: a score known without fusion, or None.
        real: ``(rows, candidates)`` bool: False for what only fills a row up, or None.
    """

    x: Tensor
    y: Tensor
    true: Tensor
    clusters: tuple[str, ...]
    base: Tensor | None = None
    real: Tensor | None = None

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: Tensor) -> Rows:
        """Some of the rows."""
        base = None if self.base is None else self.base[rows]
        real = None if self.real is None else self.real[rows]
        clusters = tuple(self.clusters[row] for row in rows.tolist())
        return Rows(self.x[rows], self.y[rows], self.true[rows], clusters, base, real)


class Scorer(nn.Module):
    """A fusion and one number out of it; where a score is known, what it adds begins at 0."""

    def __init__(self, fusion: nn.Module, out: int, *, adds: bool) -> None:
        super().__init__()
        self.fusion, self.head = fusion, nn.Linear(out, 1)
        if adds:
            nn.init.zeros_(self.head.weight)
            nn.init.zeros_(self.head.bias)
        self.scale = nn.Parameter(torch.tensor(COSINE))

    def forward(self, rows: Rows) -> Tensor:
        """Scores, ``(rows, candidates)``; of what only fills a row up minus infinity."""
        scores: Tensor = self.head(self.fusion(rows.x, rows.y))[..., 0]
        if rows.base is not None:
            scores = scores + self.scale * rows.base
        return scores if rows.real is None else scores.masked_fill(~rows.real, -torch.inf)


def loss_of(scores: Tensor, true: Tensor) -> Tensor:
    """Binary cross-entropy; with several candidates, minus the log share of the true ones."""
    if scores.shape[1] == 1:
        return F.binary_cross_entropy_with_logits(scores, true.float())
    right = scores.masked_fill(~true, -torch.inf).logsumexp(1)
    return (scores.logsumexp(1) - right).mean()


def right_of(scores: Tensor, rows: Rows) -> list[int]:
    """1 for each row that scores ``(rows, candidates)`` have right, else 0."""
    if scores.shape[1] == 1:
        right = (scores > 0) == rows.true
    else:
        right = rows.true.gather(1, scores.argmax(1, keepdim=True))
    values: list[int] = right[:, 0].int().tolist()
    return values


def sized(name: str, m: int, n: int, budget: int) -> dict[str, Any]:
    """Settings that bring a scorer as close as possible to a budget of parameters, not above it.

    ``concat`` has no size, and ``mcb``, whose bins are not trained, gets two for each number.

    Raises:
        InputError: the smallest form exceeds the budget.
    """
    made = FUSIONS[name]
    takes = inspect.signature(made).parameters
    if "hidden" not in takes:
        return {"out": 1}
    if name == "mcb":
        return {"out": 1, "hidden": 2 * max(m, n)}

    def settings(hidden: int) -> dict[str, Any]:
        factor = {"factor": 2} if "factor" in takes else {}
        return {"hidden": hidden, "out": hidden if made.active else 1, **factor}

    def count(hidden: int) -> int:
        with torch.device("meta"):
            return parameters(made(m, n, **settings(hidden)))

    low = takes["chunks"].default if "chunks" in takes else 1
    if count(low) > budget:
        raise InputError(f"{name} has more than {budget:,} parameters", "allow more parameters")
    high = low + 1
    while count(high) <= budget:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle) <= budget else (low, middle)
    return settings(low)


def parted(rows: Rows) -> tuple[Rows, Rows]:
    """Rows to learn from and a fifth that validates, no cluster in both."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(rows.clusters))}
    owner = torch.tensor([numbers[name] for name in rows.clusters])
    order = torch.randperm(len(numbers), generator=torch.Generator().manual_seed(0))
    held = torch.isin(owner, order[: max(1, len(numbers) // 5)])
    return rows[(~held).nonzero()[:, 0]], rows[held.nonzero()[:, 0]]


def train(
    name: str, settings: dict[str, Any], learning: Rows, validation: Rows, test: Rows, steps: int
) -> Callable[[float, int], dict[str, Any]]:
    """Make the function ``rate, seed → {loss, steps, right}`` of one training."""

    def once(rate: float, seed: int) -> dict[str, Any]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            fusion = FUSIONS[name](learning.x.shape[-1], learning.y.shape[-1], **settings)
            scorer = Scorer(fusion, int(settings["out"]), adds=learning.base is not None)
        generator = torch.Generator().manual_seed(seed)
        size = max(1, BATCH // learning.y.shape[1])

        def loss(_: int) -> Tensor:
            batch = learning[torch.randint(len(learning), (size,), generator=generator)]
            return loss_of(scorer(batch), batch.true)

        lowest, best = fit_best(
            scorer, loss, lambda: float(loss_of(scorer(validation), validation.true)), steps, rate
        )
        with torch.no_grad():
            parts = [test[some] for some in torch.arange(len(test)).split(512)]
            right = [each for part in parts for each in right_of(scorer(part), part)]
        return {"loss": min(lowest, 1e9), "steps": best, "right": right}

    return once
