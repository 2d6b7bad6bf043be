"""A mixture of supernets: several sets of weights, each trained with some of the architectures.

A step: draw an architecture; draw a net by its share of it; train that net with it; measure the net
with it on a slice of validation; shares follow what was measured. No gradient reaches the shares.
After *Balanced Mixture of SuperNets* (arXiv 2306.11982); docs/pooling/supernets.md says what is
done otherwise, and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from milepost.lab.supernet.balance import balanced, shares, warmest, warming
from milepost.lab.supernet.learner import Learner
from milepost.lab.supernet.scores import Scores, noise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.lab.supernet.tasks import Task

Assignment = Literal["learnt", "unbalanced", "fixed", "cost"]
"""``learnt``: by scores, nets loaded alike. ``unbalanced``: by scores only. ``fixed``: evenly, by
lot. ``cost``: the cheapest architectures to the first net, and so on."""
ASSIGNMENTS: tuple[Assignment, ...] = ("learnt", "unbalanced", "fixed", "cost")

FIRST, LAST = 1.0, 100.0
"""Temperatures of the beginning and the end."""
SLICE = 128
"""Rows of validation that a step is measured on."""
LEAST = 5
"""Steps that a net must have taken with an architecture to be heard about it."""
DRIFT = 0.95
"""Of the running mean that scores are compared with: nets get better all the time, and none
may look bad for having been measured early."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        ranking: each architecture's accuracy on the part for choosing, through the net that is best
            with it; NaN where no net has taken ``LEAST`` steps with it.
        nets: that net.
        steps: of training each net with each architecture, ``(architectures, nets)``.
    """

    ranking: NDArray[np.float64]
    nets: NDArray[np.int64]
    steps: NDArray[np.int64]


def search(
    task: Task, nets: int, steps: int, *, assignment: Assignment = "learnt", seed: int = 0
) -> Found:
    """Train a mixture and rank architectures by it.

    Args:
        task: see ``milepost.lab.supernet.tasks``.
        nets: sets of weights.
        steps: in all, shared by the nets.
        assignment: see ``Assignment``.
        seed: of everything that is drawn.
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
    """The net of each architecture where it is settled beforehand."""
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
    """Logarithms of the shares now: a cell without measurements counts as usual.

    The temperature is capped by the noise of a running mean in its steady state, the same for all
    cells; one of few measurements is noisier than that.
    """
    import numpy as np

    known = np.nan_to_num(scores.values, nan=0.0)
    level = float(np.nan_to_num(usual.values[0, 0], nan=0.5))
    temperature = min(warming(int(100 * done), 100, FIRST, LAST), warmest(noise(level, SLICE)))
    logs = shares(known, temperature)
    return balanced(logs)[0] if even else logs


def _heard(task: Task, learners: list[Learner], scores: Scores) -> Found:
    """Measure every net with every architecture it knows, on rows that no share has followed."""
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
