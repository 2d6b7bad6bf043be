"""The optimiser of a stage, its learning rate, and the averaged weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from milepost_train.config import Stage


def adam_of(stage: Stage, weights: Mapping[str, nn.Parameter]) -> torch.optim.Optimizer:
    """AdamW (arXiv 1711.05101); biases and norms do not decay."""
    decayed = [weight for weight in weights.values() if weight.dim() > 1]
    plain = [weight for weight in weights.values() if weight.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": stage.decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    optimiser: torch.optim.Optimizer = torch.optim.AdamW(groups, lr=stage.rate)
    return optimiser


def rate_at(stage: Stage, step: int) -> float:
    """The learning rate of a step of a stage, from 0: a straight warm-up, then a cosine to a floor.

    ``rate (floor + (1 - floor) (1 + cos(π done)) / 2)``, ``done`` the share of the steps behind the
    warm-up.
    """
    if step < stage.warm_up:
        return stage.rate * (step + 1) / stage.warm_up
    done = (step - stage.warm_up) / max(1, stage.steps - stage.warm_up)
    half_cosine = 0.5 * (1 + math.cos(math.pi * done))
    return stage.rate * (stage.floor + (1 - stage.floor) * half_cosine)


class Average:
    """Exponential average of weights, with a short memory while it is young.

    A step keeps the share ``slowness`` of it in the end; 0 follows at once. When it is lent, the
    ``share`` of the weights ``base`` is mixed in.
    """

    def __init__(
        self,
        weights: Mapping[str, nn.Parameter],
        slowness: float,
        base: Mapping[str, Tensor],
        share: float,
    ) -> None:
        self._weights, self._slowness, self._base, self._share = weights, slowness, base, share
        self.values = {name: weight.detach().clone() for name, weight in weights.items()}

    @torch.no_grad()
    def follow(self, step: int) -> None:
        """Take in the weights after a step, counted from 0."""
        keep = min(self._slowness, (step + 1) / (step + 10))
        for name, value in self.values.items():
            value.lerp_(self._weights[name], 1 - keep)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While this lasts, the model has the averaged weights with the base mixed in."""
        own = {name: weight.data for name, weight in self._weights.items()}
        for name, weight in self._weights.items():
            value = self.values[name]
            weight.data = value.lerp(self._base[name], self._share) if self._share else value
        try:
            yield
        finally:
            for name, weight in self._weights.items():
                weight.data = own[name]

    @torch.no_grad()
    def settle(self) -> None:
        """Give the model the averaged weights for good."""
        for name, value in self.values.items():
            self._weights[name].copy_(value)
