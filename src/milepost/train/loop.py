"""The training loop: contrast on marked evidence, weak pairs, distillation; averaged weights."""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor

from milepost.model.landmark_encoder import LandmarkEncoder
from milepost.train.batches import Batch, Piece, around, queries_of, windows_of
from milepost.train.check import vectors_of
from milepost.train.data import Pair, Question, Text
from milepost.train.losses import (
    any_against_negatives,
    away_from,
    each_against_negatives,
    means_of,
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of one run; written beside the weights."""

    steps: int = 4000
    rate: float = 1.0e-4
    warm_up: int = 100
    floor: float = 0.02
    temperature: float = 0.05
    distil: float = 0.7
    documents: int = 4
    questions: int = 4
    hard: int = 5
    window_tokens: tuple[int, ...] = (160, 224, 224, 320)
    pairs_every: int = 4
    pairs: int = 24
    task_weights: dict[str, float] = field(
        default_factory=lambda: {
            "written": 8.0,
            "squad_articles": 3.0,
            "covid_papers": 2.0,
            "trials": 3.0,
            "meetings": 1.0,
        }
    )
    # Tasks whose evidence is not marked everywhere it stands: another question's evidence in
    # the same document is then no safe negative.
    open_tasks: tuple[str, ...] = ("covid_papers", "trials", "meetings")
    average: float = 0.998
    seed: int = 1


@dataclass(slots=True)
class Material:
    """Everything a run draws from."""

    texts: Sequence[Text]
    questions: Sequence[Question]
    targets: Sequence[Tensor]
    question_targets: Tensor
    hard: Sequence[NDArray[np.int64]]
    pairs: Sequence[Pair]
    opening: int
    landmark: int


class Trainer:
    """One run over ``material``; ``model`` ends with the averaged weights of the run."""

    def __init__(self, model: LandmarkEncoder, material: Material, recipe: Recipe) -> None:
        self.model, self.material, self.recipe = model, material, recipe
        self.random = Random(recipe.seed)
        self.averaged = copy.deepcopy(model).eval()
        decayed = [p for p in model.parameters() if p.dim() > 1]
        plain = [p for p in model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
            lr=recipe.rate,
        )
        self.by_task: dict[str, dict[int, list[int]]] = {}
        for number, question in enumerate(material.questions):
            task = self.by_task.setdefault(question.task, {})
            task.setdefault(question.text, []).append(number)

    def draw(self) -> tuple[list[int], list[Piece]]:
        """Questions of a few documents, and windows: each question's evidence, some hard ones."""
        recipe, material = self.recipe, self.material
        tasks = [task for task in recipe.task_weights if task in self.by_task]
        weights = [recipe.task_weights[task] for task in tasks]
        asked: list[int] = []
        while len(asked) < recipe.documents * recipe.questions:
            task = self.random.choices(tasks, weights)[0]
            of_task = self.by_task[task]
            document = self.random.choice(list(of_task))
            fitting = [n for n in of_task[document] if n not in asked]
            room = min(recipe.questions, recipe.documents * recipe.questions - len(asked))
            asked.extend(self.random.sample(fitting, min(room, len(fitting))))
        pieces: set[Piece] = set()
        size = self.random.choice(recipe.window_tokens)
        for number in asked:
            question = material.questions[number]
            sentence = self.random.choice(question.evidence)
            text = material.texts[question.text]
            pieces.add(around(text, question.text, sentence, size, self.random))
        for number in self.random.sample(asked, min(recipe.hard, len(asked))):
            question = material.questions[number]
            if len(material.hard[number]):
                sentence = int(self.random.choice(material.hard[number].tolist()))
                text = material.texts[question.text]
                pieces.add(around(text, question.text, sentence, size, self.random))
        return asked, sorted(pieces)

    def question_loss(self) -> tuple[Tensor, dict[str, float]]:
        """Contrast of questions against all landmarks of the batch, and distillation."""
        material, recipe = self.material, self.recipe
        asked, pieces = self.draw()
        questions = [material.questions[n] for n in asked]
        batch = windows_of(pieces, material.texts, material.opening, material.landmark)
        landmarks = self._vectors(batch)
        queries = self._queries([q.ids for q in questions])
        positive = np.zeros((len(asked), len(batch.owners)), bool)
        masked = np.zeros_like(positive)
        texts, sentences = batch.owners.T
        for row, question in enumerate(questions):
            same = texts == question.text
            positive[row] = same & np.isin(sentences, question.evidence)
            if question.task in recipe.open_tasks:
                for other in questions:
                    if other.text == question.text:
                        masked[row] |= same & np.isin(sentences, other.evidence)
        scores = queries @ landmarks.T
        contrast = each_against_negatives(
            scores,
            torch.from_numpy(positive),
            torch.from_numpy(~positive & ~masked),
            recipe.temperature,
        )
        targets = torch.stack([material.targets[t][i] for t, i in batch.owners]).float()
        distance = away_from(landmarks, targets)
        query_distance = away_from(queries, material.question_targets[asked].float())
        loss = contrast + recipe.distil * (distance + 0.5 * query_distance)
        return loss, {"contrast": contrast.item(), "distance": distance.item()}

    def pair_loss(self) -> tuple[Tensor, dict[str, float]]:
        """Weak pairs: the passage's mean of landmarks, and one of its sentences, must win."""
        material, recipe = self.material, self.recipe
        chosen = self.random.sample(material.pairs, recipe.pairs)
        batch = windows_of(
            [(n, 0, len(pair.text.spans)) for n, pair in enumerate(chosen)],
            [pair.text for pair in chosen],
            material.opening,
            material.landmark,
        )
        landmarks = self._vectors(batch)
        queries = self._queries([pair.ids for pair in chosen])
        owner = torch.from_numpy(batch.owners[:, 0])
        known = {pair.text.ids.tobytes(): n for n, pair in enumerate(chosen)}
        kind = torch.tensor([known[pair.text.ids.tobytes()] for pair in chosen])
        same = kind[:, None] == kind[None, :]
        document = any_against_negatives(
            queries @ means_of(landmarks, owner, len(chosen)).T, same, ~same, recipe.temperature
        )
        own = same[:, owner]
        sentence = any_against_negatives(queries @ landmarks.T, own, ~own, recipe.temperature)
        loss = document + sentence
        return loss, {"document": document.item(), "sentence": sentence.item()}

    def _vectors(self, batch: Batch) -> Tensor:
        """The network runs in bfloat16, twice as fast where the CPU has it; losses in float32."""
        with torch.autocast("cpu", torch.bfloat16):
            return vectors_of(self.model, batch)

    def _queries(self, ids: Sequence[NDArray[np.int32]]) -> Tensor:
        batch = queries_of(ids, self.material.opening, self.material.landmark)
        return self._vectors(batch)

    def rate_at(self, step: int) -> float:
        """Learning rate: linear warm-up, then cosine to ``floor`` of the peak."""
        recipe = self.recipe
        if step < recipe.warm_up:
            return recipe.rate * (step + 1) / recipe.warm_up
        done = (step - recipe.warm_up) / max(1, recipe.steps - recipe.warm_up)
        low = recipe.floor
        return recipe.rate * (low + (1 - low) * 0.5 * (1 + math.cos(math.pi * done)))

    def step(self, number: int) -> dict[str, float]:
        """One optimiser step; returns the parts of the loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate_at(number)
        pairs = self.material.pairs and number % self.recipe.pairs_every == 0
        loss, parts = self.pair_loss() if pairs else self.question_loss()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        keep = min(self.recipe.average, (number + 1) / (number + 10))
        with torch.no_grad():
            for slow, fast in zip(self.averaged.parameters(), self.model.parameters(), strict=True):
                slow.lerp_(fast, 1 - keep)
        return parts

    def run(
        self,
        folder: Path,
        *,
        check: Callable[[LandmarkEncoder], dict[str, float]],
        check_every: int = 500,
        say: Callable[[str], None] = print,
    ) -> None:
        """Train; write ``model.safetensors`` (averaged, float16) and ``log.jsonl`` to ``folder``.

        The weights are written at every check, so that a kill loses little.
        """
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recipe.json").write_text(json.dumps(asdict(self.recipe), indent=1))
        sums: dict[str, list[float]] = {}
        begun = time.monotonic()
        for number in range(self.recipe.steps):
            for name, value in self.step(number).items():
                sums.setdefault(name, []).append(value)
            last = number + 1 == self.recipe.steps
            if (number + 1) % 50 == 0 or last:
                line = {
                    "step": number + 1,
                    "seconds": round(time.monotonic() - begun),
                    **{name: round(float(np.mean(v)), 4) for name, v in sums.items()},
                }
                sums.clear()
                if (number + 1) % check_every == 0 or last:
                    found = check(self.averaged)
                    line["dev"] = {k: round(v, 4) for k, v in found.items()}  # type: ignore[assignment]
                    state = self.averaged.backbone.state_dict()
                    halves = {k: v.half().contiguous() for k, v in state.items()}
                    save_file(halves, folder / "model.safetensors.part")
                    (folder / "model.safetensors.part").rename(folder / "model.safetensors")
                say(json.dumps(line))
                with (folder / "log.jsonl").open("a") as log:
                    log.write(json.dumps(line) + "\n")
        self.model.load_state_dict(self.averaged.state_dict())
