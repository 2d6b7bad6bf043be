"""The training loop: stages, averaged weights, checks, and a state to resume from.

The same configuration, data, versions and machine give the same checkpoint, and a run that was
interrupted anywhere resumes to it: the state has all that a step depends on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from milepost.errors import MilepostError
from milepost_train.batches import Batch
from milepost_train.check import Check, vectors_of
from milepost_train.config import Config, Stage
from milepost_train.curves import WARM_UP, CollapseAlarm, draw
from milepost_train.model import Checkpoint
from milepost_train.model.card import mean
from milepost_train.objectives.base import Objective
from milepost_train.processes import Processes
from milepost_train.run_folder import RunFolder, RunInterrupted


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
    warm-up, which is at most the stage.
    """
    warm_up = min(stage.warm_up, stage.steps)
    if step < warm_up:
        return stage.rate * (step + 1) / warm_up
    done = (step - warm_up) / max(1, stage.steps - warm_up)
    half_cosine = 0.5 * (1 + math.cos(math.pi * done))
    return stage.rate * (stage.floor + (1 - stage.floor) * half_cosine)


@dataclass(eq=False)
class Average:
    """Exponential average of weights, with a short memory while it is young.

    A step keeps the share ``slowness`` of it in the end; 0 follows at once. When it is lent, the
    ``share`` of the weights ``base`` is mixed in.
    """

    weights: Mapping[str, nn.Parameter]
    slowness: float
    base: Mapping[str, Tensor]
    share: float

    def __post_init__(self) -> None:
        self.values = {name: each.detach().clone() for name, each in self.weights.items()}

    @torch.no_grad()
    def follow(self, step: int) -> None:
        """Take in the weights after a step, counted from 0."""
        keep = min(self.slowness, (step + 1) / (step + 10))
        for name, value in self.values.items():
            value.lerp_(self.weights[name], 1 - keep)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While this lasts, the model has the averaged weights with the base mixed in."""
        own = {name: weight.data for name, weight in self.weights.items()}
        for name, weight in self.weights.items():
            value = self.values[name]
            weight.data = value.lerp(self.base[name], self.share) if self.share else value
        try:
            yield
        finally:
            for name, weight in self.weights.items():
                weight.data = own[name]

    @torch.no_grad()
    def settle(self) -> None:
        """Give the model the averaged weights for good."""
        for name, value in self.values.items():
            self.weights[name].copy_(value)


# The last two are all that oneDNN says of it.
_MEMORY = (
    *("out of memory", "allocate memory", "bad_alloc", "bad allocation"),
    *("could not create a primitive", "could not execute a primitive"),
)


@dataclass(frozen=True, slots=True)
class Event:
    """Progress of a run.

    Attributes:
        done, of: steps done and in all; ``of`` is 0 where the total is unknown.
        line: the line just written to the log, if any.
        warning: a problem that the user should act on.
    """

    doing: str
    done: int
    of: int
    line: Mapping[str, Any] | None = None
    note: str = ""
    warning: str = ""


OnProgress = Callable[[Event], object]


class LossNotFinite(MilepostError):
    """The loss or its gradient is not a number."""


@dataclass(eq=False)
class Loop:
    """One run from its first step or its last state to its end."""

    config: Config
    checkpoint: Checkpoint
    objectives: list[list[Objective]]
    check: Check | None
    folder: RunFolder
    processes: Processes
    on_progress: OnProgress

    def __post_init__(self) -> None:
        self.random = Random(self.config.seed)
        every = self.checkpoint.model.named_parameters()
        self.weights = {name: weight for name, weight in every if weight.requires_grad}
        mixed = self.weights if self.config.base_share else {}
        self.base = {name: weight.detach().clone() for name, weight in mixed.items()}
        self.stage = self.step = self.done = 0
        self.sums: dict[str, tuple[float, int]] = {}
        self.seconds = 0.0
        self.draws = True
        self.total = sum(stage.steps for stage in self.config.stages)
        self._begin_stage()

    def run(self, stopped: Callable[[], bool]) -> None:
        """Train to the end.

        Raises:
            KeyboardInterrupt: it was stopped; all steps are saved.
            RunInterrupted: the disk is full or memory is too small; the last state is whole.
            LossNotFinite: the loss or its gradient is not a number.
            MilepostError: the run has collapsed and is to stop then.
        """
        self._restore()
        if self.check is not None and not self.done:
            # For all that follows to be compared with.
            first = {"step": 0, "stage": 1, "seconds": 0, **self._write()}
            self.folder.log(first)
            self.on_progress(Event("", 0, self.total, first))
        begun = time.monotonic() - self.seconds
        while self.stage < len(self.config.stages):
            stage = self.config.stages[self.stage]
            while self.step < stage.steps:
                with memory(f"in step {self.done + 1:,}"):
                    self._advance(stage)
                last = self.step == stage.steps
                self.seconds = time.monotonic() - begun
                line = self._log(stage, last)
                doing = f"stage {self.stage + 1}, {stage.kind}"
                self.on_progress(Event(doing, self.done, self.total, line))
                asked = any(self.processes.each(stopped()))
                if asked or last or self.done % self.config.save_every == 0:
                    self.folder.save(self._state())
                if asked:
                    raise KeyboardInterrupt
            self.average.settle()
            self.stage, self.step = self.stage + 1, 0
            if self.stage < len(self.config.stages):
                self._begin_stage()

    def _begin_stage(self) -> None:
        """A new optimiser, average and alarm, as if the stage were a run of its own."""
        stage = self.config.stages[self.stage]
        self.optimiser = adam_of(stage, self.weights)
        self.average = Average(self.weights, self.config.average, self.base, self.config.base_share)
        self.alarm = CollapseAlarm(max(WARM_UP, stage.warm_up))

    def _advance(self, stage: Stage) -> None:
        self.checkpoint.model.train()
        rate = rate_at(stage, self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        for _ in range(stage.accumulate):
            (number,) = self.random.choices(
                range(len(stage.parts)), [part.weight for part in stage.parts]
            )
            parts = self.objectives[self.stage][number].step(self.encode, self.random)
            self._count(parts, stage.parts[number].kind if len(stage.parts) > 1 else None)
        self.processes.sum_gradients(self.weights.values())
        gradients = [weight.grad for weight in self.weights.values() if weight.grad is not None]
        for gradient in gradients:
            gradient /= stage.accumulate
        length = torch.nn.utils.clip_grad_norm_(self.weights.values(), stage.clip)
        if not math.isfinite(parts["loss"]) or not bool(torch.isfinite(length)):
            raise LossNotFinite(
                f"step {self.done + 1:,}: the loss is {parts['loss']:g} and the gradient "
                f"{float(length):g}",
                "train with a lower rate, a longer warm_up or dtype float32, in another folder",
            )
        self._count({"gradient": float(length)})
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.average.follow(self.step)
        self.step += 1
        self.done += 1

    def encode(self, batch: Batch) -> Tensor:
        """``(n, d)`` unit vectors of a batch's landmarks, in the order of its owners."""
        model, kind = self.checkpoint.model, self.processes.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=self.config.dtype == "bfloat16"):
            return self.processes.encode(partial(vectors_of, model), batch, model.dimensions)

    def _count(self, parts: Mapping[str, float], kind: str | None = None) -> None:
        if kind:
            parts = {**parts, f"{kind}_loss": parts["loss"]}
        for name, value in parts.items():
            total, number = self.sums.get(name, (0.0, 0))
            self.sums[name] = total + value, number + 1

    def _log(self, stage: Stage, last: bool) -> dict[str, Any] | None:
        checking = last or self.done % self.config.check.every == 0
        if not (checking or self.done % self.config.log_every == 0):
            return None
        means = {name: total / number for name, (total, number) in self.sums.items()}
        self.sums.clear()
        line: dict[str, Any] = {
            "step": self.done,
            "stage": self.stage + 1,
            "seconds": round(self.seconds),
            "rate": rate_at(stage, self.step - 1),
            **{name: round(value, 6) for name, value in means.items()},
        }
        if checking:
            line |= self._write()
        warning = self.alarm.see(self.step, line)
        if warning:
            line["alarm"] = warning
        self.folder.log(line)
        if checking:
            self._draw()
        if warning and self.config.on_collapse == "stop":
            raise MilepostError(warning, 'on_collapse = "warn" to continue; the last state is kept')
        return line

    def _write(self) -> dict[str, dict[str, float]]:
        """Check the averaged weights, and write them as a checkpoint; the figures for the log."""
        self.checkpoint.model.eval()
        keep = self.config.check.keep
        with self.average.lent():
            found: dict[str, dict[str, float]] = {}
            with memory("in the check"):
                if self.check is not None:
                    shares = self.check(self.encode)
                    found["check"] = {key: round(share, 4) for key, share in shares.items()}
            before = [mean(line["check"]) for line in self.folder.lines() if "check" in line]
            if keep != "best" or not found or mean(found["check"]) > max(before, default=-1.0):
                self.folder.write_checkpoint(self.checkpoint.save)
            if keep is True and self.done:
                self.folder.write_checkpoint(self.checkpoint.save, kept_at=self.done)
        return found

    def _draw(self) -> None:
        try:
            if self.draws and self.processes.first:
                draw(self.folder.path)
        except MilepostError as error:  # no matplotlib, or no room; training continues
            self.draws = False
            self.on_progress(Event("", self.done, self.total, warning=f"no more curves: {error}"))

    def _state(self) -> dict[str, Any]:
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        return {
            "position": (self.stage, self.step, self.done),
            "seconds": self.seconds,
            "sums": self.sums,
            "weights": {name: weight.detach() for name, weight in self.weights.items()},
            "average": self.average.values,
            "optimiser": self.optimiser.state_dict(),
            "random": self.random.getstate(),
            "torch": self.processes.each([torch.get_rng_state(), *cuda]),
        }

    @torch.no_grad()
    def _restore(self) -> None:
        state = self.folder.load()
        if state is None:
            return
        self.stage, self.step, self.done = state["position"]
        self.seconds, self.sums = state["seconds"], state["sums"]
        for name, weight in self.weights.items():
            weight.copy_(state["weights"][name])
        self._begin_stage()
        for name, value in self.average.values.items():
            value.copy_(state["average"][name])
        self.optimiser.load_state_dict(state["optimiser"])
        self.random.setstate(state["random"])
        own, *cuda = state["torch"][self.processes.number]
        torch.set_rng_state(own)
        if cuda:
            torch.cuda.set_rng_state_all(cuda)
        before = self.done - self.step
        for line in self.folder.lines():
            if line["step"] and line["stage"] == self.stage + 1:
                self.alarm.see(line["step"] - before, line)


@contextmanager
def memory(where: str) -> Iterator[None]:
    """Turn what torch raises when memory runs out into one line."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        said = str(error).partition("\n")[0]
        known = isinstance(error, MemoryError) or any(each in said.lower() for each in _MEMORY)
        if not known:
            raise
        raise RunInterrupted(
            f"there is too little memory {where}{said and f' ({said[:120]})'}",
            "free some; or, in another run, gradient_checkpointing, or smaller batches (documents, "
            "questions, pairs, chunk, windows)",
        ) from error
