"""Stage III: long documents with marked evidence (arXiv 2402.11573, section 3.3).

A step asks questions of a few documents. What is read are windows around one evidence sentence of
each, and around some sentences that only look like it; every landmark of the batch is a candidate
for every question.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from milepost_train.batches import Batch, Piece, around, queries_of, windows_of
from milepost_train.data import Question, Text
from milepost_train.losses import (
    away_from,
    distances_of,
    divergence,
    each_against_negatives,
    over_prefixes,
    position_aware,
    similarities,
)
from milepost_train.material import Material
from milepost_train.objectives.base import (
    Encode,
    marked,
    need,
    need_tasks,
    read_question,
    sizes_of,
    spread_of,
)
from milepost_train.settings import MarkedStage


class Marked:
    """Steps of stage III."""

    def __init__(self, stage: MarkedStage, material: Material) -> None:
        known = material.by_task
        need_tasks(known, (*stage.tasks, *stage.open_tasks))
        need(
            material.targets is not None or not (stage.distil or stage.rank),
            "distil and rank need a teacher",
            "name one ([data] teacher = …) or set both to 0",
        )
        if material.targets is not None and material.width is not None:
            theirs = material.targets.teacher.width
            need(
                not stage.distil or theirs == material.width,
                f"distil draws vectors of {material.width} numbers to a teacher's of {theirs}",
                "set it to 0 and learn the teacher's scores by rank, or name another teacher",
            )
        self.stage, self.material = stage, material
        self._tasks = stage.tasks or dict.fromkeys(known, 1.0)
        every = sum(len(numbers) for name in self._tasks for numbers in known[name].values())
        self._wanted = min(stage.documents * stage.questions, every)
        self._texts = {name: list(known[name]) for name in self._tasks}

    def draw(self, random: Random) -> tuple[list[int], list[Piece]]:
        """Numbers of questions, and windows: each one's evidence and some hard ones, ascending."""
        stage, material = self.stage, self.material
        names, weights = list(self._tasks), list(self._tasks.values())
        asked: list[int] = []
        while len(asked) < self._wanted:
            name = random.choices(names, weights)[0]
            text = random.choice(self._texts[name])
            fitting = [n for n in material.by_task[name][text] if n not in asked]
            room = min(stage.questions, self._wanted - len(asked))
            asked.extend(random.sample(fitting, min(room, len(fitting))))
        size = random.choice(stage.windows)
        pieces: set[Piece] = set()
        for number in asked:
            question = material.questions[number]
            sentence = random.choice(question.evidence)
            pieces.add(self._window(question.text, sentence, size, random))
        for number in random.sample(asked, min(stage.hard, len(asked))):
            hard = material.hard(number)
            if hard:
                pieces.add(self._window(*random.choice(hard), size, random))
        return asked, sorted(pieces)

    def _window(self, text: int, sentence: int, size: int, random: Random) -> Piece:
        causal = self.material.causal
        return around(self.material.texts[text], text, sentence, size, random, causal=causal)

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        stage, material = self.stage, self.material
        asked, pieces = self.draw(random)
        questions = [material.questions[n] for n in asked]
        ids = [read_question(q, stage, material, random) for q in questions]
        batch = windows_of(pieces, material.texts, material.bos_id, material.landmark)
        landmarks = encode(batch)
        queries = encode(queries_of(ids, material.bos_id, material.landmark))
        positive, negative = candidates(questions, batch.owners, material.texts, stage)
        teacher = self._teacher(asked, batch, landmarks)
        found = (torch.from_numpy(batch.owners), [(q.text, q.evidence) for q in questions])
        distance = None if stage.alpha is None else distances_of(*found).to(landmarks.device)

        def contrast(scores: Tensor) -> Tensor:
            right, wrong = marked(positive, scores), marked(negative, scores)
            if distance is None:
                return each_against_negatives(scores, right, wrong, stage.temperature)
            alpha = stage.alpha or 0.0
            return position_aware(scores, distance, wrong, stage.temperature, alpha)

        def of_vectors(asking: Tensor, vectors: Tensor) -> Tensor:
            return contrast(similarities(asking, vectors))

        sizes = sizes_of(stage.dimensions, landmarks)
        parts = {"contrast": over_prefixes(of_vectors, (queries, landmarks), sizes)}
        loss = parts["contrast"]
        if stage.context:
            width = material.width or 0
            need(
                landmarks.shape[1] > width > 0,
                f"context is {stage.context:g}, and the model has no context vector",
                "context = 384 at the top of the file, or leave it out of the stage",
            )
            around = [F.normalize(each[:, width:], dim=-1) for each in (queries, landmarks)]
            parts["context"] = of_vectors(*around)
            loss = loss + stage.context * parts["context"]
        if teacher and stage.distil:
            parts["distance"] = away_from(landmarks, teacher[0])
            parts["question_distance"] = away_from(queries, teacher[1])
            away = parts["distance"] + stage.distil_questions * parts["question_distance"]
            loss = loss + stage.distil * away
        if teacher and stage.rank:
            wanted = similarities(teacher[1], teacher[0])
            used = _ranked(wanted, marked(positive | negative, landmarks))
            scores, heat = similarities(queries, landmarks), stage.temperature
            parts["rank"] = divergence(scores, wanted, used, heat, heat)
            loss = loss + stage.rank * parts["rank"]
        loss.backward()
        with torch.no_grad():
            level = contrast(torch.zeros(positive.shape, device=landmarks.device))
            floor = loss - parts["contrast"] + level
            if stage.context:
                floor = floor + stage.context * (level - parts["context"])
        figures = {"loss": loss, "floor": floor, **parts}
        read = {name: value.item() for name, value in figures.items()}
        return {**read, "spread": spread_of(landmarks)}

    def _teacher(
        self, asked: Sequence[int], batch: Batch, like: Tensor
    ) -> tuple[Tensor, Tensor] | None:
        """A teacher's vectors of the landmarks, ``(n, d)``, and of the questions, ``(q, d)``."""
        material, stage = self.material, self.stage
        targets = material.targets
        if targets is None or not (stage.distil or stage.rank):
            return None
        known = {t: targets.of_text(material.texts[t]) for t in set(batch.owners[:, 0].tolist())}
        rows = [known[t][n] for t, n in batch.owners.tolist()]
        questions = [material.question_target(number) for number in asked]
        both = (torch.from_numpy(np.stack(each)) for each in (rows, questions))
        sentences, asking = (each.to(like.device).float() for each in both)
        return sentences, asking


def candidates(
    questions: Sequence[Question],
    owners: NDArray[np.int64],
    texts: Sequence[Text],
    stage: MarkedStage,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Positives and negatives of each question among the landmarks, both ``(q, n)``.

    ``owners`` ``(n, 2)`` are text and sentence of each landmark; ``stage`` says what is neither.
    """
    of, sentences = owners.T
    positive = np.zeros((len(questions), len(owners)), bool)
    aside = [n in texts[t].aside for t, n in owners.tolist()]
    masked = np.tile(np.array(aside, bool), (len(questions), 1))
    for row, question in enumerate(questions):
        same = of == question.text
        positive[row] = same & np.isin(sentences, question.evidence)
        maybe = list(question.beside)
        for away in range(-stage.near, stage.near + 1):
            maybe += [sentence + away for sentence in question.evidence]
        if question.task in stage.open_tasks:
            maybe += chain.from_iterable(
                other.evidence for other in questions if other.text == question.text
            )
        masked[row] |= same & np.isin(sentences, maybe)
        if not stage.across:
            masked[row] |= ~same
    return positive, ~positive & ~masked


def _ranked(scores: Tensor, used: Tensor) -> Tensor:
    """The used columns ``(q, n)`` of the rows in which a teacher puts something above the rest."""
    highest = scores.masked_fill(~used, float("-inf")).amax(dim=1, keepdim=True)
    lowest = scores.masked_fill(~used, float("inf")).amin(dim=1, keepdim=True)
    return used & (highest > lowest)
