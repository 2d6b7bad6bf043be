"""The light model is distilled: from a table of the big one's vectors, then on real text.

The table begins as model2vec's does (Tulkens and van Dongen 2024): each token alone through the
teacher, its vector cut to the principal axes, its length that of SIF (Arora et al. 2017). A step
then draws windows of a few documents and the questions about them and asks three things of the
student: landmarks like the teacher's, the teacher's ranking of all the step's sentences under each
question, and the evidence above all others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.encoder.engine.base import Engine
from milepost_train.batches import Batch, assemble
from milepost_train.light.material import LightMaterial, Taught
from milepost_train.losses import away_from, divergence, each_against_negatives
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.light import Light
from milepost_train.schedule import half_cosine

OPEN_TASKS = frozenset({"covid_papers", "trials", "meetings"})
"""Tasks whose evidence is not marked everywhere it stands: see ``objectives/marked.py``."""


@dataclass(frozen=True, slots=True)
class LightRecipe:
    """Settings of one distillation.

    Attributes:
        steps: how many.
        documents, windows, tokens: of a step: documents, windows of each, and their usual size.
        questions: most questions asked of one document in a step.
        queries: questions of no document, drawn to the teacher's vectors alone.
        rate: peak of AdamW's, after ``warm_up`` steps; it falls to a fiftieth by a cosine.
        temperature: of contrast and ranking.
        ranking, contrast: weights beside the distance of the landmarks, which counts ``distance``.
        average: decay of the averaged weights.
        seed: of what is drawn.
    """

    steps: int = 2000
    documents: int = 12
    windows: int = 2
    tokens: int = 420
    questions: int = 4
    queries: int = 32
    rate: float = 1e-3
    warm_up: int = 60
    temperature: float = 0.05
    distance: float = 4.0
    ranking: float = 1.0
    contrast: float = 1.0
    average: float = 0.99
    seed: int = 1


def token_vectors(
    engine: Engine, count: int, opening: int | None, landmark: int
) -> NDArray[np.float32]:
    """``(count, d)``: what the teacher makes of a sentence that is one token, for each token."""
    begin = 0 if opening is None else 1
    rows = []
    for first in range(0, count, 512):
        numbers = np.arange(first, min(first + 512, count), dtype=np.int32)
        ids = np.full((len(numbers), begin + 2), landmark, np.int32)
        if opening is not None:
            ids[:, 0] = opening
        ids[:, begin] = numbers
        sentences = np.ones_like(ids)
        sentences[:, :begin] = 0
        marks = np.full((len(numbers), 1), begin + 1, np.int32)
        rows.append(engine.run(ids, sentences, marks)[:, 0])
    return np.concatenate(rows)


def principal_axes(vectors: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """``(d, width)``: the axes on which the vectors differ most, as columns, the first the most."""
    middle = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh((middle.T @ middle).astype(np.float64))
    return np.ascontiguousarray(axes[:, ::-1][:, :width]).astype(np.float32)


def begin(
    model: Light, vectors: NDArray[np.float32], texts: Sequence[Taught], rarity: float = 1e-3
) -> None:
    """Fill the table: principal axes of the tokens' vectors, lengths of ``a / (a + p)``."""
    table = model.embeddings["word_embeddings"].weight
    middle = vectors - vectors.mean(0)
    small = middle @ principal_axes(vectors, table.shape[1])
    small /= np.linalg.norm(small, axis=1, keepdims=True) + 1e-6
    counts = np.zeros(len(vectors))
    for text in texts:
        counts += np.bincount(text.ids, minlength=len(vectors))
    weights = rarity / (rarity + counts / counts.sum())
    with torch.no_grad():
        table.copy_(torch.from_numpy(small * weights[:, None].astype(np.float32)))


class LightTrainer:
    """One distillation; ``averaged`` holds the averaged weights."""

    def __init__(
        self,
        model: LandmarkEncoder,
        material: LightMaterial,
        landmark: int,
        axes: NDArray[np.float32],
        recipe: LightRecipe,
    ) -> None:
        self.model, self.material, self.recipe = model, material, recipe
        self.averaged = copy.deepcopy(model).eval()
        self._landmark, self._axes = landmark, torch.from_numpy(axes)
        self._random = Random(recipe.seed)
        if not isinstance(model.backbone, Light):
            raise TypeError(f"{model.config['model_type']} is not light")
        self._backbone = model.backbone
        self._optimizer = torch.optim.AdamW(
            model.parameters(), lr=recipe.rate, weight_decay=0.0, betas=(0.9, 0.99)
        )
        self._of_text: dict[int, list[int]] = {}
        for number, asked in enumerate(material.asked):
            self._of_text.setdefault(asked.text, []).append(number)
        self._free = self._of_text.pop(-1, [])
        self._asked_texts = sorted(self._of_text)

    def run(self, say: Callable[[int, dict[str, float]], None], every: int = 100) -> None:
        """All steps; ``say`` gets the step and the mean of its parts since the last time."""
        recipe = self.recipe
        sums: dict[str, float] = {}
        for step in range(1, recipe.steps + 1):
            rise = min(1.0, step / recipe.warm_up)
            fall = 0.02 + 0.98 * half_cosine(step / recipe.steps)
            for group in self._optimizer.param_groups:
                group["lr"] = recipe.rate * rise * fall
            for name, value in self.step().items():
                sums[name] = sums.get(name, 0.0) + value
            decay = min(recipe.average, step / (step + 10))
            with torch.no_grad():
                for kept, own in zip(
                    self.averaged.parameters(), self.model.parameters(), strict=True
                ):
                    kept.lerp_(own, 1 - decay)
            if step % every == 0:
                say(step, {name: value / every for name, value in sums.items()})
                sums = {}

    @torch.no_grad()
    def align(self, texts: int = 150) -> None:
        """Let the untrained network's states give the targets as well as a linear map can.

        Least squares over some texts, in the place of random weights of the projection.
        """
        backbone = self._backbone
        states, targets = [], []
        for text in self._random.sample(self.material.texts, min(texts, len(self.material.texts))):
            count = min(len(text.starts) - 1, 40)
            batch = self._batch([[_sentence(text, i) for i in range(count)]])
            states.append(backbone.gather(batch.ids, batch.sentences, batch.marks)[batch.used])
            targets.append(self._targets([text.targets[:count]]))
        held = torch.cat(states)
        ones = torch.cat([held, torch.ones(len(held), 1)], dim=1).double()
        pull = 1e-2 * len(held) * torch.eye(ones.shape[1], dtype=torch.float64)
        found = torch.linalg.solve(ones.T @ ones + pull, ones.T @ torch.cat(targets).double())
        backbone.project.weight.copy_(found[:-1].T)
        backbone.project.bias.copy_(found[-1])
        self.averaged.load_state_dict(self.model.state_dict())

    @torch.no_grad()
    def read(self, text: Taught, sentences: int = 32) -> tuple[Tensor, Tensor]:
        """The averaged weights' landmarks of a text and their targets, ``(n, d)`` each."""
        count = len(text.starts) - 1
        rows = [
            [_sentence(text, i) for i in range(at, min(at + sentences, count))]
            for at in range(0, count, sentences)
        ]
        return self._vectors(rows, self.averaged), self._targets([text.targets])

    @torch.no_grad()
    def ask(self, questions: Sequence[Taught]) -> Tensor:
        """The averaged weights' vectors of questions, ``(q, d)``."""
        return self._vectors([[question.ids] for question in questions], self.averaged)

    def step(self) -> dict[str, float]:
        """Draw, compute, go one step; the parts of the loss."""
        recipe = self.recipe
        pieces, questions = self._draw()
        texts = self.material.texts
        owners = [(t, i) for t, a, b in pieces for i in range(a, b)]
        rows = [[_sentence(texts[t], i) for i in range(a, b)] for t, a, b in pieces]
        landmarks = self._vectors(rows)
        targets = self._targets([texts[t].targets[a:b] for t, a, b in pieces])
        free = self._random.sample(self._free, min(recipe.queries, len(self._free)))
        asked = [self.material.questions[n] for n in [*questions, *free]]
        queries = self._vectors([[question.ids] for question in asked])
        query_targets = self._targets([question.targets for question in asked])
        scores = queries @ landmarks.T
        used = torch.ones_like(scores, dtype=torch.bool)
        distance = away_from(landmarks, targets) + away_from(queries, query_targets)
        ranking = divergence(
            scores, query_targets @ targets.T, used, recipe.temperature, recipe.temperature
        )
        positive, masked = self._marks(questions, owners)
        contrast = each_against_negatives(
            scores[: len(questions)], positive, ~positive & ~masked, recipe.temperature
        )
        loss = recipe.distance * distance + recipe.ranking * ranking + recipe.contrast * contrast
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self._optimizer.step()
        return {"distance": distance.item(), "ranking": ranking.item(), "contrast": contrast.item()}

    def _draw(self) -> tuple[list[tuple[int, int, int]], list[int]]:
        """Windows (text, first sentence, last) and questions, half of the texts with questions."""
        recipe, random = self.recipe, self._random
        pieces: set[tuple[int, int, int]] = set()
        questions: list[int] = []
        for place in range(recipe.documents):
            if place % 3 or not self._asked_texts:
                text = random.randrange(len(self.material.texts))
            else:
                text = random.choice(self._asked_texts)
            own = self._of_text.get(text, [])
            chosen = random.sample(own, min(recipe.questions, len(own)))
            questions += [n for n in chosen if n not in questions]
            count = len(self.material.texts[text].starts) - 1
            centres = [random.choice(self.material.asked[n].evidence) for n in chosen]
            centres = centres[: recipe.windows] or [
                random.randrange(count) for _ in range(recipe.windows)
            ]
            for centre in centres:
                size = int(recipe.tokens * random.choice((0.3, 0.7, 1.0, 1.0, 2.0)))
                pieces.add((text, *_around(self.material.texts[text].starts, centre, size, random)))
        return sorted(pieces), questions

    def _vectors(
        self, rows: list[list[NDArray[np.int32]]], model: LandmarkEncoder | None = None
    ) -> Tensor:
        batch = self._batch(rows)
        found: Tensor = (model or self.model)(batch.ids, batch.sentences, batch.marks)[batch.used]
        return found

    def _batch(self, rows: list[list[NDArray[np.int32]]]) -> Batch:
        return assemble(rows, [(0, 0)] * sum(map(len, rows)), None, self._landmark)

    def _targets(self, parts: Sequence[NDArray[np.float16]]) -> Tensor:
        full = torch.from_numpy(np.concatenate(parts)).float()
        return torch.nn.functional.normalize(full @ self._axes, dim=-1)

    def _marks(
        self, questions: Sequence[int], owners: Sequence[tuple[int, int]]
    ) -> tuple[Tensor, Tensor]:
        """Which sentences are a question's evidence, and which are no safe negatives of it."""
        asked = [self.material.asked[n] for n in questions]
        texts, sentences = np.array(owners).T
        positive = np.zeros((len(asked), len(owners)), bool)
        masked = np.zeros_like(positive)
        for row, one in enumerate(asked):
            same = texts == one.text
            positive[row] = same & np.isin(sentences, one.evidence)
            if one.task in OPEN_TASKS:
                for other in asked:
                    if other.text == one.text:
                        masked[row] |= same & np.isin(sentences, other.evidence)
        return torch.from_numpy(positive), torch.from_numpy(masked)


def _sentence(text: Taught, number: int) -> NDArray[np.int32]:
    return text.ids[text.starts[number] : text.starts[number + 1]]


def _around(starts: NDArray[np.int64], centre: int, size: int, random: Random) -> tuple[int, int]:
    """Sentences of a window of about ``size`` tokens that holds ``centre`` at a random place."""
    left = starts[centre] - random.uniform(0, size)
    first = min(centre, int(np.searchsorted(starts, left)))
    last = int(np.searchsorted(starts, starts[first] + size, side="right")) - 1
    return first, max(last, centre + 1)
