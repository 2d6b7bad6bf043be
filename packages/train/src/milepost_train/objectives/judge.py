"""Judging: what sentences say of the claim or question in front of them.

A window is ``[CLS] text [LMK] s1 [LMK] s2 [LMK] …``, as a reranker reads it; the landmark of the
text in front says by ``landmark_encoder.Verdicts`` whether the sentences support or contradict the
claim or leave it open (cross-entropy over three), and whether they answer the question (binary).
Labels of a source are drawn alike often, so that none is the better guess.
"""

from __future__ import annotations

from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from milepost_train.batches import assemble
from milepost_train.data import Judged
from milepost_train.loading import CLAIM_VERDICTS
from milepost_train.material import Material
from milepost_train.objectives.base import Encode, need, need_tasks, spread_of, thinned
from milepost_train.settings import JudgeStage

_ANSWERED = len(CLAIM_VERDICTS)


class Judge:
    """Steps of training verdicts."""

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
        drawn = self.draw(random)
        windows = [window for _, window in drawn]
        owners = [(row, place) for row, each in enumerate(windows) for place in range(len(each))]
        batch = assemble(windows, owners, self.material.bos_id, self.material.landmark)
        vectors = encode(batch)
        fronts = torch.from_numpy(np.flatnonzero(batch.owners[:, 1] == 0)).to(vectors.device)
        assert self.material.verdicts is not None
        odds = self.material.verdicts(vectors[fronts].float())
        loss, right = verdict_loss(odds, [row.label for row, _ in drawn])
        loss.backward()
        flat, _ = verdict_loss(torch.zeros_like(odds), [row.label for row, _ in drawn])
        return {
            "loss": loss.item(),
            "floor": flat.item(),
            "spread": spread_of(vectors),
            "right": right,
        }


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
