"""Rerankers and judges: a joint encoder of question and sentences.

A window begins with the question, ``[CLS] question [LMK] s1 [LMK] s2 [LMK] …``, so that sentences
are read knowing what is asked. A sentence's score is the cosine of its landmark with that of the
question in the same window. A step asks some questions; each reads a window around one of its
evidence sentences, some around sentences that look like it, and now and then one of another
document. The evidence has to win against all other sentences that were read for the question:

    mean over evidence p of  log(1 + sum over others n of exp((s_n - s_p) / t))

Cross-encoders read one passage a window (arXiv 1901.04085); here every sentence of a window is
judged at once, in its context.

Judging reads the same windows: the landmark of the claim or question in front says by
``landmark_encoder.Verdicts`` whether the sentences support or contradict the claim or leave it open
(cross-entropy over three), and whether they answer the question (binary).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from milepost_train.batches import Batch, Piece, around, assemble
from milepost_train.data import Judged, Question
from milepost_train.loading import CLAIM_VERDICTS
from milepost_train.losses import each_against_negatives
from milepost_train.material import Material
from milepost_train.objectives.base import (
    Encode,
    marked,
    need,
    need_tasks,
    read_question,
    spread_of,
    thinned,
)
from milepost_train.settings import JudgeStage, RerankStage

_ANSWERED = len(CLAIM_VERDICTS)
_TOGETHER = 16  # rows of a judge's step that are read at once


class Judge:
    """Steps of training verdicts; labels of a source are drawn alike often."""

    def __init__(self, stage: JudgeStage, material: Material) -> None:
        need(bool(material.judged), "the data has no judged rows", "name judged in [data]")
        need(
            not material.causal,
            "a causal model reads the claim before any sentence",
            "train an encoder that sees both sides",
        )
        self._rows: dict[str, dict[str, list[Judged]]] = {}
        for row in material.judged:
            self._rows.setdefault(row.source, {}).setdefault(row.label, []).append(row)
        need_tasks(self._rows, stage.sources)
        need_verdicts(material)
        self.stage, self.material = stage, material
        self._sources = stage.sources or dict.fromkeys(self._rows, 1.0)

    def draw(self, random: Random) -> list[tuple[Judged, list[NDArray[np.int32]]]]:
        """Rows of a step, each with the sentences of its window, the text in front first."""
        names, weights = list(self._sources), list(self._sources.values())
        drawn = []
        for source in random.choices(names, weights, k=self.stage.rows):
            labels = self._rows[source]
            row = random.choice(labels[random.choice(sorted(labels))])
            sentences = list(row.sentences)
            if random.random() < self.stage.beside:
                other = random.choice(labels[random.choice(sorted(labels))])
                more = list(other.sentences[: random.randint(1, 3)])
                sentences = more + sentences if random.random() < 0.5 else sentences + more
            front = thinned(row.ids, self.stage.question_dropout, random)
            drawn.append((row, [front, *_cut(sentences, self.stage.window - len(front) - 2)]))
        return drawn

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        drawn = sorted(self.draw(random), key=lambda each: sum(map(len, each[1])))
        said = {"loss": 0.0, "floor": 0.0, "spread": 0.0, "right": 0.0}
        # Rows of like length together: most of a batch of all lengths is padding.
        for start in range(0, len(drawn), _TOGETHER):
            part = drawn[start : start + _TOGETHER]
            for name, value in self._part(encode, part, len(part) / len(drawn)).items():
                said[name] += value
        return said

    def _part(
        self, encode: Encode, drawn: list[tuple[Judged, list[NDArray[np.int32]]]], share: float
    ) -> dict[str, float]:
        """The gradient of some rows and what is logged of them, weighed by their share."""
        windows = [window for _, window in drawn]
        labels = [row.label for row, _ in drawn]
        owners = [(row, place) for row, each in enumerate(windows) for place in range(len(each))]
        material = self.material
        batch = assemble(windows, owners, material.bos_id, material.landmark)
        vectors = encode(batch)
        fronts = torch.from_numpy(np.flatnonzero(batch.owners[:, 1] == 0)).to(vectors.device)
        assert material.verdicts is not None
        odds = material.verdicts(vectors[fronts].float())
        loss, right = verdict_loss(odds, labels)
        (loss * share).backward()
        flat, _ = verdict_loss(torch.zeros_like(odds), labels)
        found = {"loss": loss.item(), "floor": flat.item(), "spread": spread_of(vectors)}
        return {name: share * value for name, value in (*found.items(), ("right", right))}


def need_verdicts(material: Material) -> None:
    """Raise an ``InputError`` unless the model gives verdicts."""
    need(material.verdicts is not None, "the model gives no verdicts", "verdicts = true")


def verdict_loss(odds: Tensor, labels: list[str]) -> tuple[Tensor, float]:
    """Mean loss of rows of log-odds ``(n, 4)``, and the share that is judged right."""
    claims = [n for n, label in enumerate(labels) if label in CLAIM_VERDICTS]
    asked = [n for n, label in enumerate(labels) if label not in CLAIM_VERDICTS]
    total, right = odds.sum() * 0.0, 0
    if claims:
        found = odds[claims, :_ANSWERED]
        wanted = torch.tensor([CLAIM_VERDICTS.index(labels[n]) for n in claims], device=odds.device)
        total = total + F.cross_entropy(found, wanted, reduction="sum")
        right += int((found.argmax(dim=1) == wanted).sum())
    if asked:
        found = odds[asked, _ANSWERED]
        truth = torch.tensor([float(labels[n] == "answered") for n in asked], device=odds.device)
        total = total + F.binary_cross_entropy_with_logits(found, truth, reduction="sum")
        right += int(((found > 0) == (truth > 0)).sum())
    return total / len(labels), right / len(labels)


def _cut(sentences: list[NDArray[np.int32]], room: int) -> list[NDArray[np.int32]]:
    """The first sentences that fit; of the first one, as much as fits."""
    kept: list[NDArray[np.int32]] = []
    for each in sentences:
        if kept and len(each) + 1 > room:
            break
        kept.append(each[: max(1, room - 1)])
        room -= len(kept[-1]) + 1
    return kept


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
