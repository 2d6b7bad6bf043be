"""The five designs over a pre-trained encoder, on real questions (arXiv 2409.02727).

The encoder is frozen. Each design is a pooling, as in ``study.py``, and a linear map that begins as
the identity. Both are trained by InfoNCE until the loss on held-out training pairs is flat, at the
rate with the lowest loss. Dev questions then search all their passages.

    M1, M2, M3   causal attention, although the weights were trained with both sides
    M4, M5       both sides
    … both       M1 to M3 with both sides, which takes the kind of attention out of the comparison

``mean`` is the pooling that all-MiniLM-L6-v2 was trained with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from milepost.errors import InputError
from milepost_eval.statistics import Difference, corrected, difference
from milepost_lab.best_rate import at_best_rate
from milepost_lab.compare.scores import figures
from milepost_lab.model.pooling import module
from milepost_lab.multilayer.layer_states import LayerReader, LayerStates
from milepost_lab.multilayer.questions import asked
from milepost_lab.multilayer.study import M1, M2, M3, M4, M5, Design
from milepost_lab.pieces import Pieces, fingerprint
from milepost_train.early_stopping import Patience, fit_with_early_stopping
from milepost_train.losses import info_nce
from milepost_train.schedule import order_of

DESIGNS = (
    Design("mean", "mean", bidirectional=True),
    M1,
    M2,
    M3,
    M4,
    M5,
    replace(M1, name="M1 both", bidirectional=True),
    replace(M2, name="M2 both", bidirectional=True),
    replace(M3, name="M3 both", bidirectional=True),
    Design("layer-mix", "layer-mix", every_layer=True, bidirectional=True),
)

PAIRS = (
    ("M5", "M1"),
    ("M5", "mean"),
    ("M3", "M2"),
    ("M5", "M4"),
    ("M3 both", "M2 both"),
    ("M5", "layer-mix"),
)
"""The paper's best design against the simplest and the mean, then the effect of all layers."""


@dataclass(frozen=True, slots=True)
class PretrainedSettings:
    """Everything that the figures depend on, besides code, data and encoder.

    Attributes:
        pairs: maximum number of training questions per task; None for all.
        asked: maximum number of dev questions per task; None for all.
        batch: pairs per step; the other passages are a question's negatives.
        temperature: temperature of InfoNCE.
        rates: learning rates; each design uses the one with the lowest validation loss.
        seeds: seeds of weights and batches; rates are chosen with the first.
        patience: when a training ends.
    """

    pairs: int | None = 1000
    asked: int | None = None
    batch: int = 32
    temperature: float = 0.05
    rates: tuple[float, ...] = (1e-4, 3e-4, 1e-3, 3e-3)
    seeds: tuple[int, ...] = (0, 1, 2)
    patience: Patience = field(default_factory=lambda: Patience(checks=6, most=1500))


SIZES = {
    "quick": PretrainedSettings(
        pairs=12, asked=8, batch=8, rates=(1e-3,), seeds=(0,), patience=Patience(5, 2, most=10)
    ),
    "full": PretrainedSettings(),
}


@dataclass(frozen=True, slots=True)
class Trained:
    """One training of a design.

    Attributes:
        rate: learning rate.
        loss: lowest loss on the validation pairs.
        best: number of steps up to that loss.
        flat: whether the loss had become flat; False where the cap ended the training.
        parameters: number of trained parameters, the linear map included.
        ndcg: nDCG@10 of each dev question.
    """

    rate: float
    loss: float
    best: int
    flat: bool
    parameters: int
    ndcg: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PretrainedResult:
    """All figures.

    Attributes:
        trained: number of training pairs, without the validation pairs.
        passages: number of passages that dev questions search.
        documents: document of each dev question.
        rates: learning rates that were tried.
        runs: design → one training per seed.
        gains: "a - b" → difference in nDCG@10, over questions and seeds, corrected for all.
    """

    trained: int
    passages: int
    documents: tuple[str, ...]
    rates: tuple[float, ...]
    runs: dict[str, list[Trained]]
    gains: dict[str, Difference]


class Reading(nn.Module):
    """A design over stored states: pooling, then a linear map.

    Args:
        design: the design.
        states: states of any texts, for the number of layers and the width.
        seed: seed of the pooling's weights.
    """

    def __init__(self, design: Design, states: LayerStates, seed: int) -> None:
        super().__init__()
        layers, width = states.means.shape[1:]
        self.design = design
        self.what = _what(design)
        read = layers if design.every_layer else 1
        self.pooling = module(design.pooling, width, layers=read, seed=seed, **design.settings)
        self.head = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.head.weight)

    def vectors(self, states: LayerStates, numbers: Sequence[int]) -> Tensor:
        """Unit vectors of some texts, ``(texts, d)``."""
        found, lengths = states.read(self.what, numbers, every=self.design.every_layer)
        if "layers" not in self.pooling.operator.needs:
            found = found[:, :, -1]
        return normalize(self.head(self.pooling(found, lengths)), dim=1)


class PretrainedStudy:
    """All designs on one encoder.

    Args:
        reader: reads the encoder.
        data: folder with ``tasks``.
        settings: all settings.
        folder: stores finished trainings; None stores nothing.
        progress: called with the current work, the amount done and the total.

    Raises:
        InputError: a task cannot be read, or there is too little to train on.
    """

    def __init__(
        self,
        reader: LayerReader,
        data: Path,
        settings: PretrainedSettings,
        folder: Path | None = None,
        progress: Callable[[str, int, int], None] = lambda *_: None,
    ) -> None:
        self._reader, self._settings, self._progress = reader, settings, progress
        self._learned = asked(data, "train", reader.words, settings.pairs).pairs()
        found, needed = len(self._learned.right), 2 * settings.batch  # one batch is held out
        if found < needed:
            raise InputError(
                f"{data / 'tasks'} has {found} training pairs, fewer than {needed}",
                "--data FOLDER with more questions",
            )
        self._asked = asked(data, "dev", reader.words, settings.asked)
        shared = replace(settings, rates=(), seeds=())
        texts = asdict(self._learned), asdict(self._asked)
        told = repr((shared, reader.identity, *texts))
        named = {
            name: f"{name}={value}"
            for name, value in asdict(shared).items()
            if name not in ("rates", "seeds")
        }
        named["model"] = f"the --model of fingerprint {fingerprint(reader.identity)}"
        named["data"] = f"the --data of fingerprint {fingerprint(texts)}"
        self._pieces = Pieces(folder, hashlib.sha256(told.encode()).hexdigest(), named)
        self._held = max(settings.batch, len(self._learned.right) // 6)
        self._states: dict[bool, tuple[LayerStates, ...]] = {}

    def result(self, designs: Sequence[Design] = DESIGNS) -> PretrainedResult:
        """Train and test all designs, or load the stored trainings.

        Raises:
            InputError: the folder holds a study with other settings.
        """
        rates, seeds = self._settings.rates, self._settings.seeds
        runs: dict[str, list[Trained]] = {}
        for before, design in enumerate(designs):

            def train(rate: float, seed: int, design: Design = design) -> Trained:
                return self._one(design, rate, seed)

            def say(done: int, of: int, before: int = before, name: str = design.name) -> None:
                self._progress(name, before * of + done, len(designs) * of)

            runs[design.name] = at_best_rate(train, rates, seeds, say)
        return PretrainedResult(
            len(self._learned.right) - self._held,
            len(self._asked.passages),
            tuple(self._asked.documents),
            rates,
            runs,
            self._gains(runs),
        )

    def _gains(self, runs: dict[str, list[Trained]]) -> dict[str, Difference]:
        def flat(name: str) -> list[float]:
            return [value for one in runs[name] for value in one.ndcg]

        clusters = self._asked.documents * len(self._settings.seeds)
        return corrected(
            {
                f"{a} - {b}": difference(flat(a), flat(b), clusters)
                for a, b in PAIRS
                if a in runs and b in runs
            }
        )

    def _one(self, design: Design, rate: float, seed: int) -> Trained:
        def made() -> dict[str, Any]:
            return asdict(self._trained(design, rate, seed))

        name = f"{design.name.replace(' ', '-')}-{rate:g}-{seed}"
        kept = self._pieces.kept(name, (design, rate, seed), made)
        return Trained(**{**kept, "ndcg": tuple(kept["ndcg"])})

    def _trained(self, design: Design, rate: float, seed: int) -> Trained:
        queries, passages, questions, texts = self._sides(design.bidirectional)
        settings = self._settings
        reading = Reading(design, passages, seed)
        cut = len(self._learned.right) - self._held
        batches = order_of(cut, settings.batch, settings.patience.most, seed)

        def loss_of(numbers: Sequence[int]) -> Tensor:
            both = reading.vectors(queries, numbers), reading.vectors(passages, numbers)
            return info_nce(*both, settings.temperature)

        def validated() -> float:
            held = range(cut, cut + self._held)
            parts = [held[at : at + settings.batch] for at in range(0, len(held), settings.batch)]
            return sum(float(loss_of(part)) * len(part) for part in parts) / len(held)

        weights = list(reading.parameters())
        found = fit_with_early_stopping(
            torch.optim.AdamW(weights, lr=rate, weight_decay=0.01),
            lambda _: loss_of(next(batches)),
            validated,
            settings.patience,
            clipped=weights,
        )
        with torch.no_grad():
            vectors = [_vectors(reading, side) for side in (questions, texts)]
        ndcg = figures((vectors[0] @ vectors[1].T).numpy(), self._asked.right)["ndcg@10"]
        lowest = min(found.loss, 1e9)  # JSON has no infinity
        count = sum(weight.numel() for weight in weights)
        return Trained(rate, lowest, found.best, found.flat, count, ndcg)

    def _sides(self, bidirectional: bool) -> tuple[LayerStates, ...]:
        """States of training questions and passages, and of dev questions and passages."""
        if bidirectional not in self._states:
            texts = [
                side
                for part in (self._learned, self._asked)
                for side in (part.questions, part.passages)
            ]
            self._states[bidirectional] = tuple(
                self._reader.states(each, bidirectional=bidirectional) for each in texts
            )
        return self._states[bidirectional]


def _what(design: Design) -> str:
    """The states that a design reads."""
    if design.settings.get("keys") == "tokens":
        return "tokens"
    return "ends" if design.pooling == "last" or "summary" in design.settings else "means"


def _vectors(reading: Reading, states: LayerStates) -> Tensor:
    parts = torch.arange(len(states.lengths)).split(256)
    return torch.cat([reading.vectors(states, part.tolist()) for part in parts])
