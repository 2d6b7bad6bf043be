"""A mixture of supernets: several sets of weights, each trained with some of the architectures.

Each step draws an architecture, draws a net by its share of that architecture, trains the net with
it, and measures both on a slice of the validation rows; shares follow these measurements. No
gradient reaches the shares. After *Balanced Mixture of SuperNets* (arXiv 2306.11982);
docs/pooling/supernets.md lists the differences, with reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from milepost_lab.supernet.balance import balanced, shares, warmest, warming
from milepost_lab.supernet.learner import Learner
from milepost_lab.supernet.scores import Scores, noise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.supernet.tasks import Task

Assignment = Literal["learnt", "unbalanced", "fixed", "cost"]
"""``learnt``: by scores, with equal load on the nets. ``unbalanced``: by scores alone. ``fixed``:
evenly, at random. ``cost``: the cheapest architectures to the first net, and so on."""
ASSIGNMENTS: tuple[Assignment, ...] = ("learnt", "unbalanced", "fixed", "cost")

FIRST, LAST = 1.0, 100.0
"""Temperatures at the beginning and at the end."""
SLICE = 128
"""Validation rows that a step is measured on."""
LEAST = 5
"""Steps that a net must have taken with an architecture before its score for it counts."""
DRIFT = 0.95
"""Decay of the running mean that scores are compared with: nets improve all the time, and an
early measurement must not look bad for that."""


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search.

    Attributes:
        ranking: accuracy of each architecture on the choice part, by the net that is best with it;
            NaN if no net has taken ``LEAST`` steps with it.
        nets: the best net of each architecture.
        steps: training steps of each net with each architecture, ``(architectures, nets)``.
    """

    ranking: NDArray[np.float64]
    nets: NDArray[np.int64]
    steps: NDArray[np.int64]


def search(
    task: Task, nets: int, steps: int, *, assignment: Assignment = "learnt", seed: int = 0
) -> Found:
    """Train a mixture and rank architectures by it.

    Args:
        task: see ``milepost_lab.supernet.tasks``.
        nets: number of nets, each a set of weights.
        steps: total number of steps, shared by the nets.
        assignment: see ``Assignment``.
        seed: seed of all draws.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    learners = [Learner(task, 1000 * seed + number) for number in range(nets)]
    scores = Scores(len(task.architectures), nets)
    usual = Scores(1, 1, DRIFT)
    given = _given(task, nets, assignment, rng)
    for step in range(steps):
        architecture = int(rng.integers(len(task.architectures)))
        if given is not None:
            net = int(given[architecture])
        else:
            logs = _followed(scores, usual, step / steps, even=assignment == "learnt")
            net = int(rng.choice(nets, p=np.exp(logs[architecture])))
        learners[net].step(task.architectures[architecture], step / steps)
        accuracy = learners[net].accuracy(task.architectures[architecture], task.search, SLICE)
        usual.add(0, 0, accuracy)
        scores.add(architecture, net, accuracy - float(usual.values[0, 0]))
    return _heard(task, learners, scores)


def _given(
    task: Task, nets: int, assignment: Assignment, rng: np.random.Generator
) -> NDArray[np.int64] | None:
    """Net of each architecture if it is fixed beforehand, else None."""
    import numpy as np

    count = len(task.architectures)
    if assignment == "fixed":
        return rng.permutation(np.arange(count) % nets)
    if assignment == "cost":
        rank = np.argsort(np.argsort(task.macs, kind="stable"), kind="stable")
        settled: NDArray[np.int64] = rank * nets // count
        return settled
    return None


def _followed(scores: Scores, usual: Scores, done: float, *, even: bool) -> NDArray[np.float64]:
    """Logarithms of the current shares; a cell without measurements counts as average.

    The temperature is capped by the noise of a running mean in its steady state, the same for all
    cells; a mean of few measurements is noisier.
    """
    import numpy as np

    known = np.nan_to_num(scores.values, nan=0.0)
    level = float(np.nan_to_num(usual.values[0, 0], nan=0.5))
    temperature = min(warming(int(100 * done), 100, FIRST, LAST), warmest(noise(level, SLICE)))
    logs = shares(known, temperature)
    return balanced(logs)[0] if even else logs


def _heard(task: Task, learners: list[Learner], scores: Scores) -> Found:
    """Measure every net with every architecture it knows, on rows that no share depends on."""
    import numpy as np

    table = np.full(scores.counts.shape, np.nan)
    for architecture, net in np.argwhere(scores.counts >= LEAST):
        table[architecture, net] = learners[net].accuracy(
            task.architectures[architecture], task.choice
        )
    filled = np.where(np.isnan(table), -1.0, table)
    return Found(
        np.where(filled.max(1) < 0, np.nan, filled.max(1)), filled.argmax(1), scores.counts
    )
