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
from dataclasses import dataclass, field
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.encoder.engine.base import Engine
from milepost_train.batches import queries_of, windows_of
from milepost_train.check import vectors_of
from milepost_train.data import Question, Text
from milepost_train.losses import away_from, divergence, each_against_negatives
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.light import Light
from milepost_train.objectives.marked import candidates
from milepost_train.schedule import half_cosine
from milepost_train.stages import MarkedStage

_EVIDENCE = MarkedStage(open_tasks=("covid_papers", "trials", "meetings"))
"""How evidence is marked: in these tasks not everywhere it stands."""


@dataclass(frozen=True, slots=True)
class Taught(Text):
    """A text as the teacher read it.

    Attributes:
        targets: ``(n, d)`` float16, the teacher's landmarks.
    """

    targets: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))


@dataclass(slots=True)
class LightMaterial:
    """All that a distillation draws from.

    Attributes:
        questions: those of the text -1 are asked of none, and have no evidence.
        targets: of each question the teacher's vector, ``(d,)`` float16.
    """

    texts: list[Taught] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    targets: list[NDArray[np.float16]] = field(default_factory=list)


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
    rows = []
    for first in range(0, count, 512):
        tokens = np.arange(first, min(first + 512, count), dtype=np.int32)
        batch = queries_of(list(tokens[:, None]), opening, landmark)
        feed = (batch.ids, batch.sentences, batch.marks)
        rows.append(engine.run(*(part.numpy().astype(np.int32) for part in feed))[:, 0])
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
        for number, question in enumerate(material.questions):
            self._of_text.setdefault(question.text, []).append(number)
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
        every = self.material.texts
        for number in self._random.sample(range(len(every)), min(texts, len(every))):
            count = min(len(every[number].spans), 40)
            batch = windows_of([(number, 0, count)], every, None, self._landmark)
            states.append(backbone.gather(batch.ids, batch.sentences, batch.marks)[batch.used])
            targets.append(self._targets([every[number].targets[:count]]))
        held = torch.cat(states)
        ones = torch.cat([held, torch.ones(len(held), 1)], dim=1).double()
        pull = 1e-2 * len(held) * torch.eye(ones.shape[1], dtype=torch.float64)
        found = torch.linalg.solve(ones.T @ ones + pull, ones.T @ torch.cat(targets).double())
        backbone.project.weight.copy_(found[:-1].T)
        backbone.project.bias.copy_(found[-1])
        self.averaged.load_state_dict(self.model.state_dict())

    @torch.no_grad()
    def read(self, number: int, sentences: int = 32) -> tuple[Tensor, Tensor]:
        """The averaged weights' landmarks of a text and their targets, ``(n, d)`` each."""
        text = self.material.texts[number]
        count = len(text.spans)
        pieces = [(number, at, min(at + sentences, count)) for at in range(0, count, sentences)]
        batch = windows_of(pieces, self.material.texts, None, self._landmark)
        return vectors_of(self.averaged, batch), self._targets([text.targets])

    @torch.no_grad()
    def ask(self, questions: Sequence[Question]) -> Tensor:
        """The averaged weights' vectors of questions, ``(q, d)``."""
        batch = queries_of([question.ids for question in questions], None, self._landmark)
        return vectors_of(self.averaged, batch)

    def step(self) -> dict[str, float]:
        """Draw, compute, go one step; the parts of the loss."""
        recipe, material = self.recipe, self.material
        pieces, numbers = self._draw()
        texts = material.texts
        batch = windows_of(pieces, texts, None, self._landmark)
        landmarks = vectors_of(self.model, batch)
        targets = self._targets([texts[t].targets[a:b] for t, a, b in pieces])
        free = self._random.sample(self._free, min(recipe.queries, len(self._free)))
        ids = [material.questions[n].ids for n in [*numbers, *free]]
        queries = vectors_of(self.model, queries_of(ids, None, self._landmark))
        query_targets = self._targets([material.targets[n][None] for n in [*numbers, *free]])
        scores = queries @ landmarks.T
        used = torch.ones_like(scores, dtype=torch.bool)
        distance = away_from(landmarks, targets) + away_from(queries, query_targets)
        ranking = divergence(
            scores, query_targets @ targets.T, used, recipe.temperature, recipe.temperature
        )
        questions = [material.questions[n] for n in numbers]
        sides = candidates(questions, batch.owners, texts, _EVIDENCE)
        positive, negative = (torch.from_numpy(each) for each in sides)
        contrast = each_against_negatives(
            scores[: len(questions)], positive, negative, recipe.temperature
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
            count = len(self.material.texts[text].spans)
            centres = [random.choice(self.material.questions[n].evidence) for n in chosen]
            centres = centres[: recipe.windows] or [
                random.randrange(count) for _ in range(recipe.windows)
            ]
            for centre in centres:
                size = int(recipe.tokens * random.choice((0.3, 0.7, 1.0, 1.0, 2.0)))
                pieces.add((text, *_around(self.material.texts[text].starts, centre, size, random)))
        return sorted(pieces), questions

    def _targets(self, parts: Sequence[NDArray[np.float16]]) -> Tensor:
        full = torch.from_numpy(np.concatenate(parts)).float()
        return torch.nn.functional.normalize(full @ self._axes, dim=-1)


def _around(starts: NDArray[np.int64], centre: int, size: int, random: Random) -> tuple[int, int]:
    """Sentences of a window of about ``size`` tokens that holds ``centre`` at a random place."""
    left = starts[centre] - random.uniform(0, size)
    first = min(centre, int(np.searchsorted(starts, left)))
    last = int(np.searchsorted(starts, starts[first] + size, side="right")) - 1
    return first, max(last, centre + 1)
