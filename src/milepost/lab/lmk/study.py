"""Whether landmark pooling is better than CLS and mean, and at which lengths (2601.21525).

An encoder without a pooling prior (``base.py``) is trained once with each pooling and seed, on
passages of up to 512 tokens whose evidence may be anywhere (``pairs.py``). The learning rate of
each pooling is chosen on held-out pairs. Then each network reads documents of up to 8,192 tokens
or more: with four passages put in (``needles.py``), and natural ones with questions.

Every run leaves its figures in a folder, the chosen ones their weights too; finished runs are not
repeated. ``verdict.py`` says what follows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from milepost.evaluate.where import commit, machine, today
from milepost.evaluate.writing import write_text
from milepost.lab.lmk.arms import Pooling
from milepost.lab.lmk.base import Base, BaseSettings, Progress, minilm, pretrained
from milepost.lab.lmk.material import Amounts, Material, gathered, training_texts
from milepost.lab.lmk.measuring import (
    GRANULARITY,
    attribution,
    found,
    measured,
    probed,
)
from milepost.lab.lmk.reader import Reader
from milepost.lab.lmk.training import Recipe, train
from milepost.lab.pieces import Pieces

GATE_POINTS = 3.0
"""By so many points of nDCG@10 the poolings of an untrained encoder may differ on short texts."""


@dataclass(frozen=True, slots=True)
class LmkSettings:
    """Everything that the figures depend on, besides code, data and machine.

    Attributes:
        base: the encoder.
        recipe: of training with a pooling.
        amounts: of texts.
        rates: learning rates that are tried.
        tuning_steps: steps of each try, with seed 0.
        seeds: of the three poolings that the claim is about; the others have the first one.
        probes: whether the first seed is read in other ways, too.
        attributed: documents for attribution, 0 for none.
    """

    base: BaseSettings = field(default_factory=BaseSettings)
    recipe: Recipe = field(default_factory=Recipe)
    amounts: Amounts = field(default_factory=Amounts)
    rates: tuple[float, ...] = (1e-4, 3e-4, 1e-3)
    tuning_steps: int = 150
    seeds: tuple[int, ...] = (0, 1, 2, 3)
    probes: bool = True
    attributed: int = 40

    @property
    def arms(self) -> list[tuple[Pooling, int]]:
        """Each pooling with each of its seeds, what decides the claim first."""
        claimed: tuple[Pooling, ...] = ("lmk", "mean", "cls")
        controls: tuple[Pooling, ...] = ("every", "multi-cls", "last")
        every = [(pooling, seed) for seed in self.seeds for pooling in claimed]
        return [*every, *((pooling, self.seeds[0]) for pooling in controls)]

    @property
    def poolings(self) -> list[Pooling]:
        """Each pooling once."""
        return list(dict.fromkeys(pooling for pooling, _ in self.arms))


SIZES = {
    "quick": LmkSettings(
        BaseSettings(layers=2, width=64, heads=2, vocabulary=1024, row=128, batch=4, steps=5),
        Recipe(steps=3, batch=8, passage=(48, 128), granularities=(16, 32)),
        Amounts((256, 512), 2000, 40, hosts=6, documents=4, questions=2, tuning=16, short=16),
        rates=(1e-3,),
        tuning_steps=2,
        seeds=(0,),
        attributed=2,
    ),
    "small": LmkSettings(),
    "large": LmkSettings(
        BaseSettings(
            layers=12,
            width=384,
            heads=6,
            vocabulary=16_384,
            spacing=3,
            batch=64,
            steps=2400,
            rate=6e-4,
        ),
        Recipe(steps=600, batch=256),
        Amounts((512, 2048, 8192, 16_384), hosts=200),
        tuning_steps=100,
        seeds=(0, 1, 2),
    ),
}
"""``small`` takes hours of two cores, ``large`` half an hour of an H200."""


@dataclass
class Study:
    """One study in one folder.

    Args:
        folder: of the encoder, weights and figures.
        data: with ``corpus/``, ``pairs/`` and ``tasks/``.
        settings: of everything.
        device: to compute on.
        dtype: of matrix products.
        progress: see ``base.Progress``.
        minilm: folder of all-MiniLM-L6-v2, for the control with absolute positions; None for an
            encoder that is pre-trained here.
    """

    folder: Path
    data: Path
    settings: LmkSettings
    device: torch.device
    dtype: torch.dtype
    progress: Progress
    minilm: Path | None = None

    @cached_property
    def base(self) -> Base:
        """The encoder that all poolings start from."""
        if self.minilm is not None:
            return minilm(self.minilm)
        return pretrained(
            self.folder / "base",
            training_texts(self.data, self.settings.amounts.texts),
            self.settings.base,
            self.device,
            self.dtype,
            self.progress,
        )

    @cached_property
    def material(self) -> Material:
        """Pairs and documents."""
        longest = self.settings.recipe.passage[1]
        return gathered(self.data, self.base.words, self.settings.amounts, longest)

    @cached_property
    def _key(self) -> str:
        """A digest of what every run depends on, but not of its pooling, rate, seed and steps."""
        settings = asdict(self.settings)
        shared = {name: settings[name] for name in ("base", "recipe", "amounts")}
        del shared["recipe"]["steps"]
        given = self.material
        texts = [len(given.training), *(host.cut(512) for host in given.hosts)]
        asked = [question.name for question in given.asked]
        base = self.base.name, self.base.facts
        return hashlib.sha256(repr((shared, texts, asked, base)).encode()).hexdigest()

    def result(self) -> dict[str, Any]:
        """Everything: trained, measured, and what was used; as ``--json`` prints it.

        Raises:
            InputError: data is missing, or the folder holds another study.
        """
        gate = self.gate()
        rates = {pooling: self.rate(pooling) for pooling in self.settings.poolings}
        runs = [self.run(pooling, seed, rates[pooling]) for pooling, seed in self.settings.arms]
        given = self.material
        return {
            "made": f"{today()}, commit `{commit()}`, {machine()}, {self.device.type}",
            "settings": asdict(self.settings),
            "base": {"name": self.base.name, **self.base.facts},
            "pairs": len(given.training),
            "gate": gate,
            "rates": rates,
            "needles": [
                [given.hosts[question.host].name, question.quarter] for question in given.needles
            ],
            "natural": [[question.document, question.kind] for question in given.asked],
            "runs": runs,
        }

    def gate(self) -> dict[str, float]:
        """nDCG@10 of each pooling on short texts before any training with it, in per cent."""
        return {
            pooling: self._kept(f"gate-{pooling}", 0, lambda pooling=pooling: self._before(pooling))
            for pooling in self.settings.poolings
        }

    def rate(self, pooling: Pooling) -> float:
        """The learning rate that suits a pooling best, by held-out pairs."""
        rates = self.settings.rates
        if len(rates) == 1:
            return rates[0]
        tried = {rate: self._tried(pooling, rate) for rate in rates}
        return max(tried, key=lambda rate: tried[rate])

    def run(self, pooling: Pooling, seed: int, rate: float) -> dict[str, Any]:
        """Train with a pooling and measure, or return what was measured before."""

        def done() -> dict[str, Any]:
            reader, losses = self._trained(pooling, seed, rate)
            settings, given = self.settings, self.material
            lengths = settings.amounts.lengths

            def say(what: str) -> None:
                self.progress(f"{pooling}-{seed}: {what}", 1, 1)

            records = measured(reader, given, lengths, say)
            result: dict[str, Any] = {"pooling": pooling, "seed": seed, "rate": rate}
            result["loss"] = round(fmean(losses[-20:]), 4)
            if seed == settings.seeds[0]:
                if settings.probes:
                    records += probed(reader, given, lengths, say)
                texts = given.plain[: settings.attributed]
                middle = lengths[len(lengths) // 2]
                say("attribution")
                shares = attribution(reader, texts, middle) if len(texts) > 1 else []
                result["attribution"] = [[round(each, 4) for each in row] for row in shares]
            result["found"] = [each.fields() for each in records]
            return result

        found_: dict[str, Any] = self._kept(f"{pooling}-{seed}", (rate, self._recipe(None)), done)
        return found_

    def _reader(self, pooling: Pooling) -> Reader:
        words = self.base.words
        assert words.opening is not None  # both encoders' texts begin with [CLS]
        network = self.base.load().to(self.device).eval()
        return Reader(
            network,
            pooling,
            opening=words.opening,
            closing=words.closing,
            device=self.device,
            dtype=self.dtype,
        )

    def _before(self, pooling: Pooling) -> float:
        return self._short(self._reader(pooling), self.material.short)

    def _short(self, reader: Reader, pairs: Sequence[Any]) -> float:
        """nDCG@10 on short texts, in per cent."""
        size = self.settings.amounts.short_tokens
        search = self.material.short_search(pairs, size)
        result = found(
            search, lambda texts: reader.vectors(texts, GRANULARITY), "short", "own", size
        )
        return round(100 * fmean(result.ndcg), 2)

    def _tried(self, pooling: Pooling, rate: float) -> float:
        def done() -> float:
            reader = self._reader(pooling)
            self._train(reader, self.settings.tuning_steps, rate, self.settings.seeds[0])
            return self._short(reader, self.material.tuning)

        steps = self.settings.tuning_steps
        tried: float = self._kept(f"rate-{pooling}-{rate:g}", (steps, self._recipe(steps)), done)
        return tried

    def _recipe(self, steps: int | None) -> str:
        return repr((self.settings.recipe, steps))

    def _train(self, reader: Reader, steps: int, rate: float, seed: int) -> list[float]:
        recipe = self.settings.recipe
        some = Recipe(**{**asdict(recipe), "steps": steps})
        name = f"{reader.pooling}-{seed}, rate {rate:g}"
        return train(
            reader,
            self.material.training,
            some,
            rate,
            seed,
            lambda step, _: self.progress(name, step + 1, steps),
        )

    def _trained(self, pooling: Pooling, seed: int, rate: float) -> tuple[Reader, list[float]]:
        """A trained network: of the folder, if it is there."""
        reader = self._reader(pooling)
        weights = self.folder / f"{pooling}-{seed}.safetensors"
        key = hashlib.sha256(f"{self._key} {rate} {self._recipe(None)}".encode()).hexdigest()
        note = weights.with_suffix(".losses.json")
        try:
            kept = json.loads(note.read_text(encoding="utf-8"))
            if kept["key"] == key:
                reader.network.load_state_dict(load_file(weights))
                return reader, kept["losses"]
        except (OSError, SafetensorError, TypeError, ValueError, KeyError, RuntimeError):
            pass  # none that can be read: it is trained
        losses = self._train(reader, self.settings.recipe.steps, rate, seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = weights.with_suffix(".part")
        save_file({name: value.cpu() for name, value in reader.network.state_dict().items()}, draft)
        draft.replace(weights)
        write_text(note, json.dumps({"key": key, "losses": losses}))
        return reader, losses

    def _kept(self, name: str, depends: Any, make: Any) -> Any:
        """What the folder holds, if it was made of the same; else make and keep it."""
        return Pieces(self.folder, self._key).kept(name, depends, make)
