"""A mixture of supernets: sets of weights that each serve every placement of halvings.

Of each step: draw a placement a; draw a net m by its share P[a, m]; one training step of net m with
a; W[a, m] ← running mean of its accuracy on a slice of validation rows. No gradient reaches P.

    1. P = softmax over nets of T · W, T rising from 1 to 100
    2. balance: P ← P / column mean, rows normalised, until all nets have the same load

Corrections: untried cells are unknown, not 1.0; running means are corrected for their start; the
temperature is capped by the noise of a score; logarithms are used, since in float32 a column can
become 0 and the rest NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp  # type: ignore[import-untyped,unused-ignore]
from torch import Tensor, nn
from torch.nn import functional as F

from milepost_lab.pooling import module
from milepost_lab.pooling.hierarchy import Hierarchy
from milepost_lab.training import share

Placement = tuple[int, ...]
"""Number of layers at each resolution, from the finest."""
Part = tuple[Tensor, Tensor]
"""Inputs and classes."""
Assignment = Literal["learnt", "unbalanced", "fixed", "cost"]
"""``learnt``: by scores, with equal load on the nets. ``unbalanced``: by scores alone. ``fixed``:
evenly, at random. ``cost``: the cheapest placements to the first net, and so on."""

UNEVEN = 1e-4
DECAY, DRIFT = 0.9, 0.95
SLICE, LEAST, BATCH = 128, 5, 64


def placements(layers: int, poolings: int) -> list[Placement]:
    """Every way of putting poolings into the gaps between layers, in lexicographic order.

    >>> placements(4, 2)
    [(1, 1, 2), (1, 2, 1), (2, 1, 1)]
    """
    ends = ((0, *cuts, layers) for cuts in combinations(range(1, layers), poolings))
    return [tuple(b - a for a, b in pairwise(each)) for each in ends]


def macs(placement: Placement, layer: Sequence[int], shrink: int) -> int:
    """Multiplications of all layers; ``shrink`` positions are merged by a pooling (2, images 4)."""
    levels = [level for level, layers in enumerate(placement) for _ in range(layers)]
    return sum(cost // shrink**level for cost, level in zip(layer, levels, strict=True))


def unevenness(logs: NDArray[np.float64]) -> float:
    """``KL(mean load || even load)`` of shares ``(placements, nets)`` given as logarithms."""
    load = logsumexp(logs, axis=0) - np.log(len(logs))
    return float((np.exp(load) * (load + np.log(len(load)))).sum())


def balanced(logs: NDArray[np.float64], rounds: int = 100) -> tuple[NDArray[np.float64], int]:
    """Equation 2; odds ratios do not change. Also returns the number of rounds."""
    done = 0
    while done < rounds and unevenness(logs) > UNEVEN:
        logs = log_softmax(logs - logsumexp(logs, axis=0) + np.log(len(logs)), axis=1)
        done += 1
    return logs, done


def noise(accuracy: float, rows: int, decay: float = DECAY) -> float:
    """Standard deviation of a running mean of accuracies, each over ``rows`` answers.

    >>> round(noise(0.8, 128), 4)
    0.0081
    """
    single = (accuracy * (1 - accuracy) / rows) ** 0.5
    return float(single * ((1 - decay) / (1 + decay)) ** 0.5)


class Scores:
    """Running means ``s ← decay · s + (1 - decay) · new``, each corrected for its start at 0."""

    def __init__(self, placements_: int, nets: int, decay: float = DECAY) -> None:
        self.decay = decay
        self.counts = np.zeros((placements_, nets), np.int64)
        self._running = np.zeros((placements_, nets))

    def add(self, placement: int, net: int, score: float) -> None:
        """Add one measurement."""
        self.counts[placement, net] += 1
        running = self._running[placement, net]
        self._running[placement, net] = self.decay * running + (1 - self.decay) * score

    @property
    def values(self) -> NDArray[np.float64]:
        """``s / (1 - decay^n)``, ``(placements, nets)``; NaN without measurements."""
        weight = 1 - self.decay**self.counts
        with np.errstate(invalid="ignore"):
            found: NDArray[np.float64] = np.where(self.counts > 0, self._running / weight, np.nan)
        return found


class TextNet(nn.Module):
    """The pooling ``hierarchy`` and a linear layer."""

    def __init__(self, width: int, blocks: int, classes: int) -> None:
        super().__init__()
        made = module("hierarchy", width, placement=(blocks,), seed=int(torch.randint(2**31, ())))
        assert isinstance(made, Hierarchy)
        self.pooling, self.classes = made, nn.Linear(width, classes)
        for block in made.blocks:  # 0 suits states of a trained encoder; nothing is trained here
            nn.init.normal_(block.outward.weight, std=16**-0.5)

    def forward(self, states: Tensor, placement: Placement) -> Tensor:
        """States ``(b, n, width)`` to logits ``(b, classes)``."""
        mask = torch.ones(states.shape[:2], dtype=torch.bool)
        logits: Tensor = self.classes(self.pooling.placed(states, mask, placement, "mean"))
        return logits


class ImageNet(nn.Module):
    """3x3 convolutions with 2x2 max pools between them, and a mean at the end.

    Layers are normed over one image, not over a batch: no score depends on batch mates. Pools
    round up.
    """

    def __init__(self, channels: int, layers: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(1 if n == 0 else channels, channels, 3, padding=1) for n in range(layers)
        )
        self.norms = nn.ModuleList(nn.GroupNorm(1, channels) for _ in range(layers))
        self.classes = nn.Linear(channels, classes)

    def forward(self, x: Tensor, placement: Placement) -> Tensor:
        """Images ``(b, 1, h, w)`` to logits ``(b, classes)``."""
        number = 0
        for level, layers in enumerate(placement):
            if level:
                x = F.max_pool2d(x, 2, ceil_mode=True)
            for _ in range(layers):
                made = F.relu(self.norms[number](self.layers[number](x)))
                x = made if number == 0 else x + made
                number += 1
        logits: Tensor = self.classes(x.mean((2, 3)))
        return logits


@dataclass(frozen=True, slots=True)
class Task:
    """Data and nets that placements are searched for.

    Attributes:
        placements: the search space.
        macs: multiplications of each.
        train: what nets learn from.
        search: measures for the assignment; gives no gradients.
        choice: chooses a placement.
        test: measures accuracy.
        net: makes a net, drawn from torch's generator.
        rate: highest learning rate.
    """

    placements: list[Placement]
    macs: list[int]
    train: Part
    search: Part
    choice: Part
    test: Part
    net: Callable[[], nn.Module]
    rate: float


class Learner:
    """A net with its optimizer and its own random generator."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self._draws = task, torch.Generator().manual_seed(seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = task.net()
        self._optimizer = torch.optim.Adam(self.net.parameters(), lr=task.rate)

    def step(self, placement: Placement, step: int, steps: int) -> None:
        """Learn from one batch; the rate follows all steps, of all nets together."""
        inputs, classes = self._rows(self.task.train, BATCH)
        for group in self._optimizer.param_groups:
            group["lr"] = self.task.rate * share(step, steps, "cosine")
        self._optimizer.zero_grad()
        F.cross_entropy(self.net(inputs, placement), classes).backward()
        self._optimizer.step()

    @torch.no_grad()
    def accuracy(self, placement: Placement, part: Part, rows: int | None = None) -> float:
        """Accuracy (0-1) on a part, or on ``rows`` of its rows, drawn anew each time."""
        inputs, classes = part if rows is None else self._rows(part, rows)
        right = self.net(inputs, placement).argmax(1) == classes
        return float(right.float().mean())

    def _rows(self, part: Part, rows: int) -> Part:
        chosen = torch.randint(len(part[1]), (rows,), generator=self._draws)
        return part[0][chosen], part[1][chosen]


def search(
    task: Task, nets: int, steps: int, assignment: Assignment = "learnt", seed: int = 0
) -> NDArray[np.float64]:
    """Train a mixture and rank placements by it.

    Args:
        task: see ``Task``.
        nets: number of nets.
        steps: in all, shared by the nets.
        assignment: see ``Assignment``.
        seed: of all draws.

    Returns:
        ``(placements,)``: accuracy on the choice part by the net that is best with it; -inf if no
        net has taken ``LEAST`` steps with it.
    """
    rng = np.random.default_rng(seed)
    learners = [Learner(task, 1000 * seed + number) for number in range(nets)]
    scores, usual = Scores(len(task.placements), nets), Scores(1, 1, DRIFT)
    fixed = rng.permutation(np.arange(len(task.placements)) % nets)
    if assignment == "cost":
        fixed = np.argsort(np.argsort(task.macs, kind="stable")) * nets // len(task.macs)
    for step in range(steps):
        number = int(rng.integers(len(task.placements)))
        net = int(fixed[number])
        if assignment in ("learnt", "unbalanced"):
            known = np.nan_to_num(scores.values, nan=0.0)
            level = float(np.nan_to_num(usual.values[0, 0], nan=0.5))
            hottest = 1 / (2**0.5 * max(noise(level, SLICE), 1e-9))
            logs = log_softmax(min(1 + 99 * step / steps, hottest) * known, axis=1)  # eq. 1
            logs = balanced(logs)[0] if assignment == "learnt" else logs
            chances = np.exp(logs[number])
            net = int(rng.choice(nets, p=chances / chances.sum()))
        learners[net].step(task.placements[number], step, steps)
        accuracy = learners[net].accuracy(task.placements[number], task.search, SLICE)
        # Nets improve all the time: an early score must not look bad for that.
        usual.add(0, 0, accuracy)
        scores.add(number, net, accuracy - float(usual.values[0, 0]))
    found = np.full(len(task.placements), -np.inf)
    for number, net in np.argwhere(scores.counts >= LEAST):
        accuracy = learners[net].accuracy(task.placements[number], task.choice)
        found[number] = max(found[number], accuracy)
    return found
