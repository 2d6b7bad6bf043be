"""What a bilinear fusion is worth beside plain ones of as many parameters (2012.10285).

The study put six bilinear fusions in the place of concatenation and mostly lost by it, with
hidden layers of one width for all: from 1 million to 4 billion parameters. Here every fusion has
the parameters of one budget (but ``concat`` fewer, and ``mcb`` next to none: its bins are drawn),
its own learning rate, the same rows in the same order, and several seeds; differences come with
intervals, corrected for having looked at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost.evaluate.statistics import Difference, corrected, difference
from milepost.lab.bilinear.tasks import PairTask, Rows
from milepost.model.pooling.fusion import FusionModule
from milepost.pooling.fusions import fusion, fusion_row
from milepost.train.fit_steps import fit_steps, linear_share

CONTROLS = ("concat", "concat-mlp", "relu-sum", "hadamard")
"""Fusions that a bilinear one must beat; ``hadamard`` is the simplest product."""

STUDIED = ("mcb", "mlb", "mfb", "mfh", "mutan", "block")

BESIDE = ("concat-mlp", "hadamard")
"""The baselines of the reported differences."""

# Scores start at 20 × cosine: a softmax over cosines at temperature 0.05.
_COSINE = 20.0

FEWEST = 5
"""Minimum number of training rows, of which a fifth is held out."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How each fusion is trained.

    Attributes:
        batch: pairs a step.
        rates: the best of these on a fifth of the training rows, drawn once, is taken.
        seeds: of weights and order; rates are chosen with the first.
    """

    batch: int = 256
    rates: tuple[float, ...] = (3e-4, 2e-3, 1e-2)
    seeds: tuple[int, ...] = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class FusionRow:
    """A fusion on a task.

    Attributes:
        name: of the fusion.
        parameters: that are trained.
        rate: that was chosen.
        figures: accuracy (0-1) of each seed.
        gains: differences from each of ``BESIDE``, over rows and seeds.
    """

    name: str
    parameters: int
    rate: float
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


class Scorer(nn.Module):
    """A fusion and one number out of it; where a score is known, what it adds to it begins at 0."""

    def __init__(self, module: FusionModule, *, adds: bool) -> None:
        super().__init__()
        self.module = module
        wide = cast(int, module.settings["out"])
        self.head = nn.Linear(wide, 1) if wide > 1 else None
        if adds:
            last = self.head
            for end in (last.weight, last.bias) if last else (module.out_map, module.out_bias):
                nn.init.zeros_(end)
        self.scale = nn.Parameter(torch.tensor(_COSINE))

    def forward(self, rows: Rows) -> Tensor:
        """Scores, ``(rows, candidates)``; of what only fills a row up minus infinity."""
        fused = self.module(rows.x, rows.y)
        scores: Tensor = (self.head(fused) if self.head else fused)[..., 0]
        if rows.base is not None:
            scores = scores + self.scale * rows.base
        # A copy of a candidate would take a share of the softmax of its own.
        return scores if rows.real is None else scores.masked_fill(~rows.real, -torch.inf)


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
    protocol: Protocol = Protocol(),
    say: Callable[[str, int, int], object] = lambda name, done, of: None,
) -> Finding:
    """Train and test fusions on a task.

    Args:
        task: see ``milepost.lab.bilinear.tasks``.
        names: fusions; those of ``BESIDE`` are trained in any case.
        protocol: the same for all.
        say: told the fusion, fusions done, and of how many.

    Raises:
        InputError: an unknown fusion, one that is larger than the budget, or too few rows.
    """
    if len(task.train) < FEWEST:
        raise InputError(
            f"{task.name}: {len(task.train)} rows are too few to learn from", "give more documents"
        )
    names = list(dict.fromkeys([*BESIDE, *names]))
    m, n = task.train.x.shape[-1], task.train.y.shape[-1]
    told: dict[str, list[list[float]]] = {}
    chosen: dict[str, tuple[dict[str, Any], float]] = {}
    for number, name in enumerate(names):
        say(name, number, len(names))
        settings = dict(fusion(name, **sized(name, m, n, task.parameters)).settings)
        rate = _best_rate(name, settings, task, protocol)
        chosen[name] = settings, rate
        told[name] = [
            _tested(_trained(name, settings, task, protocol, rate, seed), task.test)
            for seed in protocol.seeds
        ]
    gains = {beside: _gains(told, beside, task.test.clusters) for beside in BESIDE}
    rows = (
        FusionRow(
            name,
            parameters_of(name, settings, m, n),
            rate,
            tuple(_mean(values) for values in told[name]),
            {beside: found[name] for beside, found in gains.items() if name in found},
        )
        for name, (settings, rate) in chosen.items()
    )
    test = task.test
    without = None if test.base is None else _mean(_right(test.base, test))
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
    told: Mapping[str, list[list[float]]], beside: str, clusters: Sequence[str]
) -> dict[str, Difference]:
    """Difference of every fusion to one, over all rows and seeds."""

    def flat(name: str) -> list[float]:
        return [value for values in told[name] for value in values]

    repeated = [*clusters] * len(told[beside])
    return corrected(
        {name: difference(flat(name), flat(beside), repeated) for name in told if name != beside}
    )


def _best_rate(name: str, settings: Mapping[str, Any], task: PairTask, protocol: Protocol) -> float:
    order = torch.randperm(len(task.train), generator=torch.Generator().manual_seed(0))
    cut = len(task.train) * 4 // 5
    inner = replace(task, train=task.train[order[:cut]], test=task.train[order[cut:]])
    found = {
        rate: sum(
            _tested(_trained(name, settings, inner, protocol, rate, protocol.seeds[0]), inner.test)
        )
        for rate in protocol.rates
    }
    return max(found, key=found.__getitem__)


def _trained(
    name: str,
    settings: Mapping[str, Any],
    task: PairTask,
    protocol: Protocol,
    rate: float,
    seed: int,
) -> Scorer:
    rows = task.train
    widths = rows.x.shape[-1], rows.y.shape[-1]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fused = FusionModule(fusion(name, seed=seed, **settings), *widths)
        scorer = Scorer(fused, adds=rows.base is not None)
    generator = torch.Generator().manual_seed(seed)
    some = max(1, protocol.batch // rows.y.shape[1])

    def loss(_: int) -> Tensor:
        batch = rows[torch.randint(len(rows), (some,), generator=generator)]
        return _loss(scorer(batch), batch.true)

    adam = torch.optim.Adam(scorer.parameters(), lr=rate)
    fit_steps(adam, task.steps, loss, share=linear_share)
    return scorer


def _loss(scores: Tensor, true: Tensor) -> Tensor:
    """Binary cross-entropy; with several candidates, minus the log share of the true ones."""
    if scores.shape[1] == 1:
        return F.binary_cross_entropy_with_logits(scores, true.float())
    right = scores.masked_fill(~true, -torch.inf).logsumexp(1)
    return (scores.logsumexp(1) - right).mean()


def _tested(scorer: Scorer, rows: Rows) -> list[float]:
    with torch.no_grad():
        parts = [scorer(rows[some]) for some in torch.arange(len(rows)).split(512)]
    return _right(torch.cat(parts), rows)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _right(scores: Tensor, rows: Rows) -> list[float]:
    """1 for each correctly predicted row, else 0."""
    if scores.shape[1] == 1:
        right = (scores > 0) == rows.true
    else:
        right = rows.true.gather(1, scores.argmax(1, keepdim=True))
    values: list[float] = right[:, 0].float().tolist()
    return values
