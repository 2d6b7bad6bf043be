"""Rerankers: a joint encoder of question and sentences.

A window begins with the question, ``[CLS] question [LMK] s1 [LMK] s2 [LMK] …``, so that sentences
are read knowing what is asked. A sentence's score is the cosine of its landmark with that of the
question in the same window. A step asks some questions; each reads a window around one of its
evidence sentences, some around sentences that look like it, and now and then one of another
document. The evidence has to win against all other sentences that were read for the question:

    mean over evidence p of  log(1 + sum over others n of exp((s_n - s_p) / t))

Cross-encoders read one passage a window (arXiv 1901.04085); here every sentence of a window is
judged at once, in its context.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost_train.batches import Batch, Piece, around, assemble
from milepost_train.data import Question
from milepost_train.losses import each_against_negatives
from milepost_train.material import Material
from milepost_train.objectives.base import (
    Encode,
    marked,
    need,
    need_tasks,
    read_question,
    spread_of,
)
from milepost_train.objectives.judge import need_verdicts, verdict_loss
from milepost_train.settings import RerankStage

_QUESTION = -1
"""Stands for a sentence's number where the landmark is the question's."""


class Rerank:
    """Steps of training a reranker."""

    def __init__(self, stage: RerankStage, material: Material) -> None:
        known = material.by_task
        need_tasks(known, (*stage.tasks, *stage.open_tasks))
        need(
            not material.causal,
            "a causal model has read the question before any sentence, and none of them for it",
            "train an encoder that sees both sides",
        )
        if stage.answers:
            need_verdicts(material)
        self.stage, self.material = stage, material
        self._tasks = stage.tasks or dict.fromkeys(known, 1.0)
        self._numbers = {name: [n for each in known[name].values() for n in each] for name in known}
        self._evidence: dict[int, set[int]] = {}
        for question in material.questions:
            self._evidence.setdefault(question.text, set()).update(question.evidence)

    def draw(self, random: Random) -> list[tuple[int, list[Piece]]]:
        """Numbers of questions, each with the windows it reads, its own document's first."""
        stage, material = self.stage, self.material
        names, weights = list(self._tasks), list(self._tasks.values())
        chosen = random.choices(names, weights, k=stage.questions)
        asked = [random.choice(self._numbers[name]) for name in chosen]
        size = random.choice(stage.windows)
        drawn: list[tuple[int, list[Piece]]] = []
        for place, number in enumerate(asked):
            question = material.questions[number]
            about = [(question.text, random.choice(question.evidence))]
            hard = material.hard(number)
            chances = [random.random() ** stage.steep for _ in range(stage.hard if hard else 0)]
            about += [hard[int(chance * len(hard))] for chance in chances]
            other = material.questions[asked[place - 1]]
            if random.random() < stage.elsewhere and other.text != question.text:
                about.append((other.text, random.choice(other.evidence)))
            pieces = [
                around(material.texts[text], text, sentence, size, random)
                for text, sentence in about
            ]
            drawn.append((number, list(dict.fromkeys(pieces))))
        return drawn

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        stage, material = self.stage, self.material
        drawn = self.draw(random)
        questions = [material.questions[number] for number, _ in drawn]
        ids = [read_question(q, stage, material, random) for q in questions]
        batch, rows, texts = self._batch(ids, [pieces for _, pieces in drawn])
        vectors = encode(batch)
        sentences = batch.owners[:, 1]
        fronts = np.flatnonzero(sentences == _QUESTION)
        front = torch.from_numpy(fronts[np.cumsum(sentences == _QUESTION) - 1])
        cosines = (vectors * vectors[front.to(vectors.device)]).sum(dim=1)
        positive, negative = self._sides(questions, rows, texts, sentences)
        scores = cosines.expand(len(questions), -1)
        right, wrong = marked(positive, scores), marked(negative, scores)
        loss = each_against_negatives(scores, right, wrong, stage.temperature)
        if stage.answers:
            loss = loss + stage.answers * self._answers(vectors, fronts, rows, positive, questions)
        loss.backward()
        with torch.no_grad():
            flat = torch.zeros_like(scores)
            floor = each_against_negatives(flat, right, wrong, stage.temperature)
        return {"loss": loss.item(), "floor": floor.item(), "spread": spread_of(vectors)}

    def _answers(
        self,
        vectors: Tensor,
        fronts: NDArray[np.int64],
        rows: NDArray[np.int64],
        positive: NDArray[np.bool_],
        questions: Sequence[Question],
    ) -> Tensor:
        """Loss of telling windows with evidence from those without, by the question's landmark."""
        assert self.material.verdicts is not None
        holds = np.add.reduceat(positive[rows, np.arange(len(rows))], fronts) > 0
        is_open = np.array([question.task in self.stage.open_tasks for question in questions])
        used = fronts[holds | ~is_open[rows[fronts]]]
        odds = self.material.verdicts(vectors[torch.from_numpy(used).to(vectors.device)].float())
        labels = ["answered" if each else "unanswered" for each in holds[np.isin(fronts, used)]]
        return verdict_loss(odds, labels)[0]

    def _batch(
        self, ids: Sequence[NDArray[np.int32]], pieces: Sequence[Sequence[Piece]]
    ) -> tuple[Batch, NDArray[np.int64], NDArray[np.int64]]:
        """All windows; of each landmark the question it was read for, and its text."""
        material = self.material
        windows: list[list[NDArray[np.int32]]] = []
        owners: list[tuple[int, int]] = []
        texts: list[int] = []
        for row, (asked, own) in enumerate(zip(ids, pieces, strict=True)):
            for text, first, last in own:
                windows.append(
                    [asked, *(material.texts[text].sentence(n) for n in range(first, last))]
                )
                owners += [(row, n) for n in (_QUESTION, *range(first, last))]
                texts += [text] * (1 + last - first)
        batch = assemble(windows, owners, material.bos_id, material.landmark)
        return batch, batch.owners[:, 0], np.array(texts, np.int64)

    def _sides(
        self,
        questions: Sequence[Question],
        rows: NDArray[np.int64],
        texts: NDArray[np.int64],
        sentences: NDArray[np.int64],
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Positives and negatives of each question among the landmarks, both ``(q, n)``."""
        positive = np.zeros((len(questions), len(rows)), bool)
        negative = np.zeros_like(positive)
        for row, question in enumerate(questions):
            read = (rows == row) & (sentences != _QUESTION)
            own = texts == question.text
            positive[row] = read & own & np.isin(sentences, question.evidence)
            aside = {*question.beside, *self.material.texts[question.text].aside}
            if question.task in self.stage.open_tasks:
                aside |= self._evidence[question.text]
            negative[row] = read & ~positive[row] & ~(own & np.isin(sentences, list(aside)))
        return positive, negative
