"""Training a fusion on pairs until its validation loss is flat, at the rate that suits it best.

A fifth of the training rows validates: whole clusters (documents), drawn once, the same for all
fusions, rates and seeds. The rate is chosen with the first seed by the validation loss. The test
rows decide nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.best_rate import at_best_rate
from milepost_lab.bilinear.tasks import PairTask, Rows
from milepost_lab.model.pooling.fusion import FusionModule
from milepost_lab.pieces import Pieces
from milepost_lab.pooling.fusions import fusion
from milepost_train.early_stopping import Patience, fit_with_early_stopping

# Scores start at 20 × cosine: a softmax over cosines at temperature 0.05.
_COSINE = 20.0

_VALIDATED = 5  # one row in so many validates

_VERSION = 1
"""Of what the figures depend on here; a new one does not go on with what an older one kept."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How each fusion is trained.

    Attributes:
        batch: pairs a step.
        rates: of which each fusion gets the one with the lowest validation loss.
        seeds: of weights and order; rates are chosen with the first.
        patience: when a training ends; the task's ``steps`` are its cap.
    """

    batch: int = 512
    rates: tuple[float, ...] = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    patience: Patience = field(default_factory=Patience)


USUAL = Protocol()


@dataclass(frozen=True, slots=True)
class Training:
    """One training of a fusion.

    Attributes:
        rate: of learning.
        loss: the lowest on the validation rows.
        best: steps that led to it; these weights were tested.
        steps: in all.
        flat: whether the validation loss had become flat; False where the cap ended it.
        right: of each test row whether it is right.
    """

    rate: float
    loss: float
    best: int
    steps: int
    flat: bool
    right: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trainer:
    """All trainings on a task.

    Attributes:
        task: all its rows.
        learning: its training rows without those that validate.
        validation: those.
        protocol: of all fusions.
        pieces: trainings that are done.
    """

    task: PairTask
    learning: Rows
    validation: Rows
    protocol: Protocol
    pieces: Pieces

    @classmethod
    def of(cls, task: PairTask, protocol: Protocol, folder: Path | None = None) -> Trainer:
        """The trainer of a task; ``folder`` keeps what is done, None keeps nothing.

        Raises:
            InputError: the folder holds the task with other settings or rows.
        """
        learning, validation = parted(task.train)
        patience = replace(protocol.patience, most=task.steps)
        data = _digest(task)
        shared = repr((_VERSION, protocol.batch, asdict(patience), data))
        key = hashlib.sha256(shared.encode()).hexdigest()
        settings = {
            "version": f"version {_VERSION} of the protocol",
            "parameters": f"--parameters {task.parameters}",
            "steps": f"--steps {task.steps}",
            "batch": f"batches of {protocol.batch}",
            "patience": f"{patience.checks} checks, {patience.every} steps apart, "
            f"of {patience.least:g}",
            "rows": f"{len(task.train)} training rows",
            "candidates": f"{task.train.y.shape[1]} candidates a row",
            "data": f"vectors of fingerprint {data[:8]}",
        }
        protocol = replace(protocol, patience=patience)
        pieces = Pieces(folder, key, settings, task.name)
        pieces.check()
        return cls(task, learning, validation, protocol, pieces)

    def trained(
        self,
        name: str,
        settings: Mapping[str, Any],
        say: Callable[[int, int], None] = lambda done, of: None,
    ) -> list[Training]:
        """A training a seed, at the rate that suits the fusion best.

        Args:
            name: of the fusion.
            settings: of the fusion, all of them.
            say: told trainings done and of how many.
        """

        def train(rate: float, seed: int) -> Training:
            return self.one(name, settings, rate, seed)

        return at_best_rate(train, self.protocol.rates, self.protocol.seeds, say)

    def one(self, name: str, settings: Mapping[str, Any], rate: float, seed: int) -> Training:
        """One training, or what is kept of it."""

        def made() -> dict[str, Any]:
            return asdict(self._trained(name, settings, rate, seed)[1])

        place = f"{self.task.name}-{name}-{rate:g}-{seed}"
        kept = self.pieces.kept(place, (sorted(settings.items()), rate, seed), made)
        return Training(**{**kept, "right": tuple(kept["right"])})

    def _trained(
        self, name: str, settings: Mapping[str, Any], rate: float, seed: int
    ) -> tuple[Scorer, Training]:
        rows = self.learning
        widths = rows.x.shape[-1], rows.y.shape[-1]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            fused = FusionModule(fusion(name, seed=seed, **settings), *widths)
            scorer = Scorer(fused, adds=rows.base is not None)
        generator = torch.Generator().manual_seed(seed)
        some = max(1, self.protocol.batch // rows.y.shape[1])

        def loss(_: int) -> Tensor:
            batch = rows[torch.randint(len(rows), (some,), generator=generator)]
            return loss_of(scorer(batch), batch.true)

        def validated() -> float:
            held = self.validation
            return float(loss_of(_scores(scorer, held), held.true))

        weights = list(scorer.parameters())
        adam = torch.optim.Adam(weights, lr=rate)
        found = fit_with_early_stopping(
            adam, loss, validated, self.protocol.patience, clipped=weights
        )
        right = tuple(map(int, tested(scorer, self.task.test)))
        lowest = min(found.loss, 1e9)  # JSON knows no infinity
        return scorer, Training(rate, lowest, found.best, found.steps, found.flat, right)


def parted(rows: Rows) -> tuple[Rows, Rows]:
    """Rows to learn from and rows that validate, no cluster in both where there are several."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(rows.clusters))}
    owner = torch.tensor([numbers[name] for name in rows.clusters])
    if len(numbers) == 1:
        owner = torch.arange(len(rows))
    order = torch.randperm(int(owner.max()) + 1, generator=torch.Generator().manual_seed(0))
    wanted = max(1, len(rows) // _VALIDATED)
    counts = torch.bincount(owner)[order].cumsum(0)
    # Clusters until there are enough rows, but never all of them.
    taken = min(int((counts < wanted).sum()) + 1, len(order) - 1)
    held = torch.isin(owner, order[:taken])
    return rows[(~held).nonzero()[:, 0]], rows[held.nonzero()[:, 0]]


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


def loss_of(scores: Tensor, true: Tensor) -> Tensor:
    """Binary cross-entropy; with several candidates, minus the log share of the true ones."""
    if scores.shape[1] == 1:
        return F.binary_cross_entropy_with_logits(scores, true.float())
    right = scores.masked_fill(~true, -torch.inf).logsumexp(1)
    return (scores.logsumexp(1) - right).mean()


def tested(scorer: Scorer, rows: Rows) -> list[float]:
    """1 for each row that the scorer has right, else 0."""
    return right_of(_scores(scorer, rows), rows)


def right_of(scores: Tensor, rows: Rows) -> list[float]:
    """1 for each row that scores ``(rows, candidates)`` have right, else 0."""
    if scores.shape[1] == 1:
        right = (scores > 0) == rows.true
    else:
        right = rows.true.gather(1, scores.argmax(1, keepdim=True))
    values: list[float] = right[:, 0].float().tolist()
    return values


@torch.no_grad()
def _scores(scorer: Scorer, rows: Rows) -> Tensor:
    return torch.cat([scorer(rows[some]) for some in torch.arange(len(rows)).split(512)])


def _digest(task: PairTask) -> str:
    """Of everything that is learned from and tested on."""
    told = hashlib.sha256(repr((task.name, task.train.clusters, task.test.clusters)).encode())
    for rows in (task.train, task.test):
        for part in (rows.x, rows.y, rows.true, rows.base, rows.real):
            if part is not None:
                told.update(part.contiguous().numpy().tobytes())
    return told.hexdigest()
