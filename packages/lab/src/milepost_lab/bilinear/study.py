"""What a bilinear fusion is worth beside plain ones of as many parameters (2012.10285).

The study put six bilinear fusions in the place of concatenation and mostly lost by it, with
hidden layers of one width for all: from 1 million to 4 billion parameters. Here every fusion has
the parameters of one budget (but ``concat`` fewer, and ``mcb`` next to none: its bins are drawn),
its own learning rate, the same rows in the same order, several seeds, and training until the
validation loss is flat (``training.py``); differences come with intervals, corrected for having
looked at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost_eval.statistics import Difference, corrected, difference
from milepost_lab.bilinear.tasks import PairTask
from milepost_lab.bilinear.training import USUAL, Protocol, Trainer, Training, right_of
from milepost_lab.pooling.fusions import fusion, fusion_row

CONTROLS = ("concat", "concat-mlp", "relu-sum", "hadamard")
"""Fusions that a bilinear one must beat; ``hadamard`` is the simplest product."""

STUDIED = ("mcb", "mlb", "mfb", "mfh", "mutan", "block")

BESIDE = ("concat-mlp", "hadamard")
"""The baselines of the reported differences."""

FEWEST = 5
"""Minimum number of training rows, of which a fifth is held out."""


@dataclass(frozen=True, slots=True)
class FusionRow:
    """A fusion on a task.

    Attributes:
        name: of the fusion.
        parameters: that are trained.
        rate: that was chosen.
        edge: whether it is an end of the grid, so that a better one may lie beyond.
        steps: of training behind the tested weights, of each seed.
        flat: seeds whose validation loss became flat; the cap ended the others.
        figures: accuracy (0-1) of each seed.
        gains: differences from each of ``BESIDE``, over rows and seeds.
    """

    name: str
    parameters: int
    rate: float
    edge: bool
    steps: tuple[int, ...]
    flat: int
    figures: tuple[float, ...]
    gains: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class Finding:
    """The results of all fusions on a task.

    Attributes:
        task: its name.
        tells: what the figures count, in a few words.
        trained, tested: number of rows.
        without: accuracy of the score without fusion; None if there is no such score.
        rows: one for each fusion.
    """

    task: str
    tells: str
    trained: int
    tested: int
    without: float | None
    rows: tuple[FusionRow, ...]

    def better(self, beside: str) -> list[str]:
        """Names of the fusions that are significantly better than another."""
        return [
            row.name
            for row in self.rows
            if beside in row.gains and row.gains[beside].verdict == "better"
        ]


def sized(name: str, m: int, n: int, parameters: int) -> dict[str, Any]:
    """Settings that bring a scorer as close as possible to a budget of parameters, not above it.

    A fusion gives one number; one that ends in a ReLU gives as many as it is wide, and the scorer
    adds them up.

    Args:
        name: of the fusion; ``mcb``, whose bins are not parameters, gets two bins for each number.
        m: width of x.
        n: width of y.
        parameters: the budget.

    Raises:
        InputError: an unknown fusion, or its smallest form exceeds the budget.
    """
    row = fusion_row(name)
    if "hidden" not in row.parameters:
        return {"out": 1}
    if name == "mcb":
        return {"out": 1, "hidden": 2 * max(m, n)}

    def settings(hidden: int) -> dict[str, Any]:
        # Factor 2 is the libraries'; the paper's 5 leaves little width to a small budget.
        factor = {"factor": 2} if "factor" in row.parameters else {}
        return {"hidden": hidden, "out": hidden if row.active else 1, **factor}

    def count(hidden: int) -> int:
        return parameters_of(name, settings(hidden), m, n)

    least = fusion(name).settings.get("chunks", 1)
    low = int(least) if isinstance(least, int) else 1
    if count(low) > parameters:
        raise InputError(
            f"{name} has {count(low):,} parameters at least, not {parameters:,}",
            "allow more parameters",
        )
    high = low + 1
    while count(high) <= parameters:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle) <= parameters else (low, middle)
    return settings(low)


def parameters_of(name: str, settings: Mapping[str, Any], m: int, n: int) -> int:
    """Numbers that a scorer trains, without the scale of a known score."""
    made = fusion(name, **settings)
    out = int(settings["out"])
    return made.row.parameter_count(made.settings, m, n) + (out + 1 if out > 1 else 0)


def compare(
    task: PairTask,
    names: Sequence[str] = (*CONTROLS, *STUDIED),
    protocol: Protocol = USUAL,
    say: Callable[[str, int, int], object] = lambda name, done, of: None,
    folder: Path | None = None,
) -> Finding:
    """Train and test fusions on a task.

    Args:
        task: see ``milepost_lab.bilinear.tasks``.
        names: fusions; those of ``BESIDE`` are trained in any case.
        protocol: the same for all.
        say: told the fusion, trainings done, and of how many.
        folder: keeps finished trainings; None keeps nothing.

    Raises:
        InputError: an unknown fusion, one that is larger than the budget, too few rows, or a
            folder that holds the task with other settings.
    """
    if len(task.train) < FEWEST:
        raise InputError(
            f"{task.name}: {len(task.train)} rows are too few to learn from", "give more documents"
        )
    names = list(dict.fromkeys([*BESIDE, *names]))
    m, n = task.train.x.shape[-1], task.train.y.shape[-1]
    trainer = Trainer.of(task, protocol, folder)
    told: dict[str, list[Training]] = {}
    made: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        made[name] = dict(fusion(name, **sized(name, m, n, task.parameters)).settings)

        def on_training(done: int, of: int, number: int = number, name: str = name) -> None:
            say(name, number * of + done, len(names) * of)

        told[name] = trainer.trained(name, made[name], on_training)
    gains = {beside: _gains(told, beside, task.test.clusters) for beside in BESIDE}
    rates = protocol.rates
    rows = (
        FusionRow(
            name,
            parameters_of(name, made[name], m, n),
            found[0].rate,
            len(rates) > 1 and found[0].rate in (min(rates), max(rates)),
            tuple(one.best for one in found),
            sum(one.flat for one in found),
            tuple(_mean(one.right) for one in found),
            {beside: gain[name] for beside, gain in gains.items() if name in gain},
        )
        for name, found in told.items()
    )
    test = task.test
    without = None if test.base is None else _mean(right_of(test.base, test))
    return Finding(task.name, task.tells, len(task.train), len(test), without, tuple(rows))


def crossover(findings: Sequence[Finding], name: str = "hadamard") -> int | None:
    """Planted products from which on a fusion is surely better than ``concat-mlp``; None: never.

    From which on: at every larger number that was asked, too.
    """
    found = {
        int(finding.task.partition("-")[2]): name in finding.better("concat-mlp")
        for finding in findings
        if finding.task.startswith("product-")
    }
    first = None
    for features in sorted(found, reverse=True):
        if not found[features]:
            break
        first = features
    return first


def _gains(
    told: Mapping[str, list[Training]], beside: str, clusters: Sequence[str]
) -> dict[str, Difference]:
    """Difference of every fusion to one, over all rows and seeds."""

    def flat(name: str) -> list[float]:
        return [float(value) for one in told[name] for value in one.right]

    repeated = [*clusters] * len(told[beside])
    return corrected(
        {name: difference(flat(name), flat(beside), repeated) for name in told if name != beside}
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
