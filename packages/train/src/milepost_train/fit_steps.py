"""The training loop of small networks: loss, backward pass, clipped gradients, optimizer step.

The studies of ``milepost_lab`` train with it. ``loop.py`` is the loop of a model's stages:
gradient caches, averaged weights, a journal, and a run that can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def take_step(
    optimizer: torch.optim.Optimizer,
    loss: Tensor,
    share: float = 1.0,
    clipped: Sequence[Tensor] = (),
) -> None:
    """Update the weights once.

    Args:
        optimizer: each group keeps the rate that it was made with as ``initial_lr``.
        loss: a scalar with a graph.
        share: of each group's initial rate, used for this step.
        clipped: weights whose gradients are scaled down together to norm 1; none by default.
    """
    for group in optimizer.param_groups:
        group["lr"] = group.setdefault("initial_lr", group["lr"]) * share
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if clipped:
        nn.utils.clip_grad_norm_(clipped, 1.0)
    optimizer.step()


def fit_steps(
    optimizer: torch.optim.Optimizer,
    steps: int,
    loss: Callable[[int], Tensor],
    *,
    share: Callable[[int, int], float] = lambda step, steps: 1.0,
    clipped: Sequence[Tensor] = (),
    on_step: Callable[[int, float], None] = lambda step, loss: None,
) -> list[float]:
    """Train for a number of steps.

    Args:
        optimizer: of the trained weights.
        steps: how many.
        loss: the loss of a step, counted from 0, on a batch that the function draws itself.
        share: step and steps → share of the initial rate, such as ``schedule.rate_share``.
        clipped: see ``take_step``.
        on_step: called after each step with its number and its loss.

    Returns:
        The loss of each step.
    """
    losses: list[float] = []
    for step in range(steps):
        value = loss(step)
        take_step(optimizer, value, share(step, steps), clipped)
        losses.append(value.item())
        on_step(step, losses[-1])
    return losses


def linear_share(step: int, steps: int) -> float:
    """The share of the initial rate that falls from 1 along a line, to 0 after the last step."""
    return 1 - step / steps
