"""Training of small networks until the validation loss is flat, with the best weights kept.

A number of steps that suits one method is too small for another: what starts at chance loses to
what starts well, whatever it could learn. Here every method trains until a loss on held-out rows
has not fallen for a while, or until a cap, and the outcome says which of the two ended it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from operator import itemgetter
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from milepost_train.fit_steps import take_step
from milepost_train.whole_files import put, writing


@dataclass(frozen=True, slots=True)
class Patience:
    """When a training ends.

    Attributes:
        every: steps from one validation to the next; as many steps warm up.
        checks: validations in a row without a gain that end the training.
        least: share of the best loss by which a lower one counts as a gain.
        most: steps after which the training ends in any case.
    """

    every: int = 50
    checks: int = 8
    least: float = 0.002
    most: int = 4000

    def __post_init__(self) -> None:
        if self.every < 1 or self.checks < 1 or self.most < 1:
            raise ValueError("every, checks and most are 1 or more")


@dataclass(frozen=True, slots=True)
class Flat:
    """How a training ended.

    Attributes:
        steps: that were made.
        best: steps behind the weights that are kept; 0 for the initial ones.
        loss: of these on the held-out rows; infinite where none was finite.
        flat: whether the loss had become flat; False where the cap ended the training.
        curve: steps and validation loss of every validation, the first before any step.
        losses: of every step, nats.
    """

    steps: int
    best: int
    loss: float
    flat: bool
    curve: tuple[tuple[int, float], ...]
    losses: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a training goes on after it was stopped.

    Attributes:
        file: gets the state at each validation; the caller removes it once it has the outcome.
        key: of all that the training depends on; a state with another key is not used.
        skip: called once for each step that was made before; it draws the batch of the step.
    """

    file: Path
    key: str
    skip: Callable[[], object]

    def load(self) -> dict[str, Any] | None:
        """The state, or None if there is none that can be used."""
        try:
            state: dict[str, Any] = torch.load(self.file, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, UnpicklingError):
            return None
        return state if state.get("key") == self.key else None

    def save(self, state: dict[str, Any]) -> None:
        """Replace the state.

        Raises:
            RunInterrupted: it cannot be written; the last state is whole.
        """
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
        put(self.file, lambda file: torch.save({**state, "key": self.key}, file))


def fit_with_early_stopping(
    optimizer: torch.optim.Optimizer,
    loss: Callable[[int], Tensor],
    validated: Callable[[], float],
    patience: Patience,
    *,
    clipped: Sequence[Tensor] = (),
    on_step: Callable[[int, float], None] = lambda step, loss: None,
    resume: Resume | None = None,
) -> Flat:
    """Train until the validation loss is flat, then restore the weights with the lowest.

    The rate rises along a line over the first ``every`` steps and stays. A loss that is not finite
    ends the training: higher steps cannot repair the weights.

    Args:
        optimizer: of the trained weights.
        loss: the loss of a step, counted from 0.
        validated: the loss on held-out rows, by the weights as they are; 0 or more.
        patience: when to end.
        clipped: weights whose gradients are scaled down together to norm 1; none by default.
        on_step: called after each step with its number, from 0, and its loss.
        resume: where the state is stored and found; None stores none.

    Raises:
        RunInterrupted: the state cannot be written.
    """
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    state = resume.load() if resume is not None else None
    if resume is not None and state is not None:
        _restore(weights, state["weights"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        kept, mark, since = state["kept"], state["mark"], state["since"]
        curve, losses = state["curve"], state["losses"]
        for _ in losses:
            resume.skip()
    else:
        mark = _validated(validated)
        kept, since = _copies(weights), 0
        curve, losses = [(0, mark)], []
    best, lowest = min(curve, key=itemgetter(1))
    steps = len(losses)
    while steps < patience.most and since < patience.checks:
        value = loss(steps)
        number = value.item()
        if not isfinite(number):
            since = patience.checks
            break
        take_step(optimizer, value, min(1.0, (steps + 1) / patience.every), clipped)
        losses.append(number)
        on_step(steps, number)
        steps += 1
        if steps % patience.every and steps < patience.most:
            continue
        now = _validated(validated)
        curve.append((steps, now))
        if now < lowest:
            lowest, kept, best = now, _copies(weights), steps
        # Small gains add up: they are measured from the last one that counted.
        if now < (1 - patience.least) * mark:
            mark, since = now, 0
        else:
            since += 1
        if resume is not None:
            resume.save(
                {
                    "weights": [weight.detach() for weight in weights],
                    "optimizer": optimizer.state_dict(),
                    "random": torch.get_rng_state(),
                    "kept": kept,
                    "mark": mark,
                    "since": since,
                    "curve": curve,
                    "losses": losses,
                }
            )
    _restore(weights, kept)
    return Flat(steps, best, lowest, since >= patience.checks, tuple(curve), tuple(losses))


@torch.no_grad()
def _validated(validated: Callable[[], float]) -> float:
    value = validated()
    return value if isfinite(value) else inf


@torch.no_grad()
def _restore(weights: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    for weight, value in zip(weights, values, strict=True):
        weight.copy_(value)


def _copies(weights: Sequence[Tensor]) -> list[Tensor]:
    return [weight.detach().clone() for weight in weights]
