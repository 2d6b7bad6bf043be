"""The training loop of the studies, and a learning rate chosen with the first seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

Schedule = Literal["cosine", "linear", "constant"]


def share(step: int, steps: int, schedule: Schedule) -> float:
    """Share of the learning rate in a step, from 0: a warm-up over a tenth, then down to 0.

    ``constant`` has no warm-up.
    """
    if schedule == "constant":
        return 1.0
    warm = max(1, steps // 10)
    if step < warm:
        return (step + 1) / warm
    done = (step - warm) / max(1, steps - warm)
    return 1 - done if schedule == "linear" else (1 + math.cos(math.pi * done)) / 2


def fit(
    weights: Sequence[nn.Parameter] | Sequence[dict[str, Any]],
    loss: Callable[[int], Tensor],
    steps: int,
    rate: float,
    *,
    decay: float = 0.0,
    schedule: Schedule = "cosine",
    on_step: Callable[[int], None] = lambda step: None,
) -> list[float]:
    """Train with AdamW, gradients clipped to norm 1.

    Args:
        weights: parameters, or groups of them as AdamW takes them.
        loss: the loss of a step, counted from 0, on a batch that it draws itself.
        steps: how many.
        rate: the highest learning rate.
        decay: weight decay.
        schedule: see ``share``.
        on_step: called after each step with its number.

    Returns:
        The loss of each step.
    """
    optimizer = torch.optim.AdamW(list(weights), lr=rate, weight_decay=decay)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: share(n, steps, schedule))
    every = [weight for group in optimizer.param_groups for weight in group["params"]]
    losses: list[Tensor] = []
    for step in range(steps):
        value = loss(step)
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(every, 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(value.detach())
        on_step(step)
    # Read at the end only, so that no step waits for the device.
    return [float(value) for value in losses]


def best_rate(rates: Sequence[float], loss: Callable[[float], float]) -> float:
    """The rate with the lowest validation loss; the only one without training for it."""
    return rates[0] if len(rates) == 1 else min(rates, key=loss)


def parameters(module: nn.Module) -> int:
    """Number of trained numbers."""
    return sum(weight.numel() for weight in module.parameters() if weight.requires_grad)


def fit_best(
    module: nn.Module,
    loss: Callable[[int], Tensor],
    validate: Callable[[], float],
    steps: int,
    rate: float,
    *,
    every: int = 50,
    checks: int = 6,
    decay: float = 0.0,
) -> tuple[float, int]:
    """Train until the validation loss is flat, and load the weights of its minimum.

    Args:
        module: is trained in place.
        loss: see ``fit``.
        validate: loss on held-out data.
        steps: at most.
        rate: constant learning rate.
        every: steps between validations.
        checks: validations in a row without a new minimum that end the training.
        decay: weight decay.

    Returns:
        The lowest validation loss and the number of steps that led to it.
    """
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=decay)
    lowest, best, state = math.inf, 0, {}
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss(step - 1).backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        if step % every == 0 or step == steps:
            with torch.no_grad():
                found = validate()
            if found < lowest:
                lowest, best = found, step
                state = {name: value.clone() for name, value in module.state_dict().items()}
            elif step - best >= checks * every:
                break
    if state:
        module.load_state_dict(state)
    return lowest, best
