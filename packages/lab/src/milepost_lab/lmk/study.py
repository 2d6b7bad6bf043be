"""Study of whether landmark pooling beats CLS and mean, and at which lengths (arXiv 2601.21525).

An encoder without a pooling prior (``base.py``) is trained once with each pooling and seed, on
passages of up to 512 tokens whose evidence may be anywhere (``pairs.py``). The learning rate of
each pooling is chosen on held-out pairs. Then each network reads documents of up to 8,192 tokens
or more: some with four inserted passages (``needles.py``), and natural ones with questions.

Every run stores its figures in a folder, and those at the chosen rate their weights too. Finished
runs are neither repeated nor overwritten. ``verdict.py`` draws the conclusions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from milepost.writing import write_text
from milepost_eval.provenance import commit, machine, today
from milepost_lab.lmk.arms import POOLINGS, Pooling
from milepost_lab.lmk.base import Base, Progress, minilm, pretrained
from milepost_lab.lmk.material import Material, gathered, training_texts
from milepost_lab.lmk.measuring import (
    GRANULARITY,
    attribution,
    bm25,
    found,
    measured,
    probed,
)
from milepost_lab.lmk.reader import Reader
from milepost_lab.lmk.settings import CONTROLS, LmkSettings
from milepost_lab.lmk.training import train, train_until_flat
from milepost_lab.lmk.verdict import CLAIMED
from milepost_lab.pieces import Pieces, fingerprint, made_otherwise
from milepost_train.whole_files import put

RESULT = "result.json.xz"
"""File of all figures of a finished study, in its folder."""


@dataclass
class Study:
    """One study in one folder.

    Args:
        folder: stores the encoder, weights and figures.
        data: folder with ``corpus/``, ``pairs/`` and ``tasks/``.
        settings: all settings.
        device: device to compute on.
        dtype: dtype of matrix products.
        progress: see ``base.Progress``.
        minilm: folder of all-MiniLM-L6-v2, for the control with absolute positions; None for an
            encoder that is pre-trained here.
        encoder: folder of the encoder that is pre-trained here; None for ``base`` in ``folder``.
    """

    folder: Path
    data: Path
    settings: LmkSettings
    device: torch.device
    dtype: torch.dtype
    progress: Progress
    minilm: Path | None = None
    encoder: Path | None = None

    @cached_property
    def base(self) -> Base:
        """The encoder that all poolings start from."""
        if self.minilm is not None:
            return minilm(self.minilm)
        return pretrained(
            self.encoder or self.folder / "base",
            training_texts(self.data, self.settings.amounts.texts),
            self.settings.base,
            self.device,
            self.dtype,
            self.progress,
        )

    @cached_property
    def material(self) -> Material:
        """Pairs and documents."""
        recipe = self.settings.recipe
        return gathered(
            self.data, self.base.words, self.settings.amounts, recipe.passage[1], recipe.batch
        )

    @cached_property
    def _key(self) -> str:
        """Digest of what all runs depend on; pooling, rate, seed and steps are left out."""
        settings = asdict(self.settings)
        shared = {name: settings[name] for name in ("base", "recipe", "amounts")}
        del shared["recipe"]["steps"]
        given = self.material
        texts = [len(given.training), *(host.cut(512) for host in given.hosts)]
        asked = [question.name for question in given.asked]
        base = self.base.name, self.base.facts
        return hashlib.sha256(repr((shared, texts, asked, base)).encode()).hexdigest()

    @cached_property
    def _pieces(self) -> Pieces:
        """The finished pieces. Seeds and controls may be added later; nothing else may change."""
        settings, given = asdict(self.settings), self.material
        told = {
            f"{part}.{name}": f"{part}.{name}={value}"
            for part in ("base", "recipe", "amounts", *(("patience",) if self.minilm else ()))
            for name, value in settings[part].items()
        }
        for name in ("rates", "tuning_steps", "probes", "attributed"):
            told[name] = f"{name}={settings[name]}"
        told["seed"] = f"first seed {self.settings.seeds[0]}"
        told["dtype"] = f"--dtype {str(self.dtype).removeprefix('torch.')}"
        told["minilm"] = "--minilm" if self.minilm else "no --minilm"
        told["encoder"] = (
            f"an encoder of fingerprint {fingerprint(self.base.name, self.base.facts)}"
        )
        told["pairs"] = f"{len(given.training)} training pairs"
        told["data"] = f"the --data of fingerprint {given.digest}"
        return Pieces(self.folder, self._key, told)

    def result(self) -> dict[str, Any]:
        """Run the whole study and return all figures and settings, as ``--json`` prints them.

        Raises:
            InputError: data is missing, or the folder holds a study with other settings.
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
            "words": self.words(),
        }

    def jobs(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield each piece's name and the function that makes it; each may run in its own process.

        A network's piece needs its pooling's rate pieces. Pieces that decide the claim come first.
        """
        for some in (CLAIMED, CONTROLS):
            for pooling in some:
                yield f"gate-{pooling}", partial(self._gate, pooling)
            trained = [pooling for pooling in some if pooling in self.settings.poolings]
            if len(self.settings.rates) > 1:
                for pooling, rate in product(trained, self.settings.rates):
                    yield f"rate-{pooling}-{rate:g}", partial(self._tried, pooling, rate)
            for pooling, seed in self.settings.arms:
                if pooling in some:
                    yield f"{pooling}-{seed}", partial(self._chosen, pooling, seed)

    def words(self) -> list[dict[str, Any]]:
        """Measure BM25, which uses no vectors, on the same questions."""
        self.progress("words alone", 1, 1)
        lengths = self.settings.amounts.lengths
        return [each.fields() for each in bm25(self.material, self.base.words, lengths)]

    def gate(self) -> dict[str, float]:
        """nDCG@10 of each pooling on short texts before any training with it, in per cent."""
        return {pooling: self._gate(pooling) for pooling in POOLINGS}

    def _gate(self, pooling: Pooling) -> float:
        found: float = self._pieces.kept(f"gate-{pooling}", 0, partial(self._before, pooling))
        return found

    def _chosen(self, pooling: Pooling, seed: int) -> dict[str, Any]:
        return self.run(pooling, seed, self.rate(pooling))

    def rate(self, pooling: Pooling) -> float:
        """Choose the best learning rate of a pooling on held-out pairs."""
        rates = self.settings.rates
        if len(rates) == 1:
            return rates[0]
        tried = {rate: self._tried(pooling, rate) for rate in rates}
        return max(tried, key=lambda rate: tried[rate])

    def run(self, pooling: Pooling, seed: int, rate: float) -> dict[str, Any]:
        """Train with a pooling and measure, or return the stored figures."""

        def done() -> dict[str, Any]:
            reader, losses, flat = self._trained(pooling, seed, rate)
            settings, given = self.settings, self.material
            lengths = settings.amounts.lengths

            def say(what: str) -> None:
                self.progress(f"{pooling}-{seed}: {what}", 1, 1)

            records = measured(reader, given, lengths, say)
            result: dict[str, Any] = {"pooling": pooling, "seed": seed, "rate": rate}
            result["loss"] = round(fmean(losses[-20:]), 4)
            if flat is not None:
                result["flat"] = flat
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

        found_: dict[str, Any] = self._pieces.kept(
            f"{pooling}-{seed}", (rate, self._recipe(None)), done
        )
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
        tried: float = self._pieces.kept(
            f"rate-{pooling}-{rate:g}", (steps, self._recipe(steps)), done
        )
        return tried

    def _recipe(self, steps: int | None) -> str:
        recipe = (self.settings.recipe, steps)
        return repr((*recipe, self.settings.patience) if self.minilm else recipe)

    def _train(
        self,
        reader: Reader,
        steps: int,
        rate: float,
        seed: int,
        stored: tuple[Path, str] | None = None,
    ) -> tuple[list[float], dict[str, Any] | None]:
        """Train a network; return its losses and, if it trained until flat, how that ended."""
        recipe, given = self.settings.recipe, self.material
        name = f"{reader.pooling}-{seed}, rate {rate:g}"

        def say(step: int, loss: float) -> None:
            self.progress(name, step + 1, steps)

        if self.minilm is None:
            some = replace(recipe, steps=steps)
            return train(reader, given.training, some, rate, seed, say), None
        patience = replace(self.settings.patience, most=steps)
        losses, ended = train_until_flat(
            reader, given.training, given.tuning, recipe, patience, rate, seed, say, stored
        )
        loss = round(min(ended.loss, 1e9), 4)  # JSON has no infinity
        kept = {"flat": ended.flat, "steps": ended.steps, "best": ended.best, "loss": loss}
        return losses, kept

    def _trained(
        self, pooling: Pooling, seed: int, rate: float
    ) -> tuple[Reader, list[float], dict[str, Any] | None]:
        """Load a trained network from the folder or train it; also its losses and how it ended.

        Raises:
            InputError: the stored network was trained with other settings.
        """
        reader = self._reader(pooling)
        weights = self.folder / f"{pooling}-{seed}.safetensors"
        key = hashlib.sha256(f"{self._key} {rate} {self._recipe(None)}".encode()).hexdigest()
        note = weights.with_suffix(".losses.json")
        try:
            kept = json.loads(note.read_text(encoding="utf-8"))
            if kept["key"] != key:
                raise made_otherwise(weights)
            reader.network.load_state_dict(load_file(weights))
            return reader, kept["losses"], kept.get("ended")
        except (OSError, SafetensorError, TypeError, ValueError, KeyError, RuntimeError):
            pass  # nothing readable is stored, so train
        settings = self.settings
        steps = settings.patience.most if self.minilm else settings.recipe.steps
        state = weights.with_suffix(".state")
        losses, ended = self._train(reader, steps, rate, seed, (state, key))
        self.folder.mkdir(parents=True, exist_ok=True)
        trained = {name: value.cpu() for name, value in reader.network.state_dict().items()}
        put(weights, lambda file: file.write(save(trained)))
        write_text(note, json.dumps({"key": key, "losses": losses, "ended": ended}))
        state.unlink(missing_ok=True)
        return reader, losses, ended
