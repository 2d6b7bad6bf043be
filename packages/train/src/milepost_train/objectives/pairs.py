"""Stage I: queries and their passages, the other passages of the batch as negatives."""

from __future__ import annotations

from random import Random

import numpy as np
import torch
from torch import Tensor

from milepost_train.data import Text
from milepost_train.losses import any_against_negatives, means_of, similarities
from milepost_train.material import Material
from milepost_train.objectives.base import Encode, marked, over_pairs, read_question
from milepost_train.objectives.passages import Passages, candidates, need_pairs
from milepost_train.stages import PairsStage


class Pairs:
    """Steps of stage I."""

    def __init__(self, stage: PairsStage, material: Material) -> None:
        need_pairs(material.pairs)
        self.stage, self.material = stage, material
        self._passages = Passages(material.pairs)

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        stage, material = self.stage, self.material
        chosen = random.sample(material.pairs, min(stage.pairs, len(material.pairs)))
        texts, same = candidates(chosen, stage.negatives, self._passages, random)
        whole = [
            stage.landmarks == "passage" or (stage.landmarks == "both" and random.random() < 0.5)
            for _ in texts
        ]
        ids = [read_question(pair, stage, material, random) for pair in chosen]
        rows = [_units(text, one) for text, one in zip(texts, whole, strict=True)]
        owner = torch.tensor([n for n, row in enumerate(rows) for _ in row])

        def contrast(scores: Tensor, right: Tensor) -> Tensor:
            return any_against_negatives(scores, right, ~right, stage.temperature)

        def loss(asking: Tensor, landmarks: Tensor) -> Tensor:
            place = owner.to(landmarks.device)
            right = marked(same, landmarks)
            found = means_of(landmarks, place, len(texts))
            document = contrast(similarities(asking, found), right)
            if all(whole):
                return document
            return document + contrast(similarities(asking, landmarks), right[:, place])

        value, spread = over_pairs(encode, stage, material, ids, rows, loss)
        right = torch.from_numpy(same)
        level = contrast(torch.zeros(same.shape), right)
        if not all(whole):
            level = level + contrast(torch.zeros(len(chosen), len(owner)), right[:, owner])
        return {"loss": value, "floor": level.item(), "spread": spread}


def _units(text: Text, whole: bool) -> list[np.ndarray]:
    """What each landmark closes: the passage, or its sentences one by one."""
    return [text.ids] if whole else [text.sentence(n) for n in range(len(text.spans))]
