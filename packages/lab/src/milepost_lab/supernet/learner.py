"""Training of a net, one step at a time, with any architecture."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from milepost_lab.supernet.architectures import Architecture
from milepost_lab.supernet.tasks import Part, Task
from milepost_train.fit_steps import take_step
from milepost_train.schedule import half_cosine

BATCH = 64


class Learner:
    """A net with its optimizer and its own random generator.

    Args:
        task: the data and the net.
        seed: seed of its weights and its batches.
    """

    def __init__(self, task: Task, seed: int) -> None:
        self.task = task
        self._draws = torch.Generator().manual_seed(seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = task.net()
        self._optimizer = torch.optim.Adam(self.net.parameters(), lr=task.rate)

    def step(self, architecture: Architecture, done: float) -> None:
        """Learn from one batch.

        Args:
            architecture: architecture of this step.
            done: share of all steps, of all nets together, that are done; the rate falls along half
                a cosine.
        """
        inputs, classes = self._rows(self.task.train, BATCH)
        loss = F.cross_entropy(self.net(inputs, architecture), classes)
        take_step(self._optimizer, loss, half_cosine(done))

    @torch.no_grad()
    def accuracy(self, architecture: Architecture, part: Part, rows: int | None = None) -> float:
        """Accuracy (0-1) on a part, or on ``rows`` of its rows, drawn anew each time."""
        inputs, classes = part if rows is None else self._rows(part, rows)
        right = self.net(inputs, architecture).argmax(1) == classes
        return float(right.float().mean())

    def _rows(self, part: Part, rows: int) -> Part:
        chosen = torch.randint(len(part[1]), (rows,), generator=self._draws)
        return part[0][chosen], part[1][chosen]


def alone(task: Task, architecture: Architecture, seed: int, steps: int) -> Learner:
    """Train a net with a single architecture."""
    learner = Learner(task, seed)
    for step in range(steps):
        learner.step(architecture, step / steps)
    return learner
