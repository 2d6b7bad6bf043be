"""Stage I: queries and their passages, the other passages of the batch as negatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from milepost.errors import nearest
from milepost.train.batches import assemble, queries_of
from milepost.train.data import Text
from milepost.train.losses import (
    any_against_negatives,
    means_of,
    over_prefixes,
    similarities,
    weigh,
)
from milepost.train.material import Material
from milepost.train.needs import need, need_common, need_least, need_shares
from milepost.train.objectives.base import (
    Encode,
    backward,
    chunks_of,
    effective_of,
    marked,
    sizes_of,
    spread_of,
    thinned,
)
from milepost.train.objectives.candidates import candidates
from milepost.train.objectives.given_scores import Distillation, need_distillation, need_scores
from milepost.train.objectives.passages import Passages, need_pairs

Unit = Literal["passage", "sentences", "both"]


@dataclass(frozen=True, slots=True)
class PairsStage:
    """Settings of stage I.

    Attributes:
        pairs: of a step. All passages of the step are candidates for all queries.
        negatives: hard ones of each query, where its pair has some; for their own query they count
            by their weights.
        landmarks: ``passage``: one landmark closes the whole passage, as in the paper;
            ``sentences``: one closes each sentence, and both their mean and one of them have to
            win; ``both``: one or the other, drawn for each passage.
        scores: weight of the distillation from the scores of the lines, for what of a query's
            negatives was drawn; lines without scores have no part in it.
        scores_by: which one, see ``Distillation``. The student's score of a passage is the cosine
            of the mean of its landmarks, over ``temperature``.
        scores_temperature: divides the scores of the lines.
        chunk: texts in memory at a time (gradient cache: time for memory); 0: all.
        temperature: divides cosines.
        question_dropout: chance of each token of a query to be left out; two stay.
        dimensions: widths at which vectors are trained to be good (Matryoshka); empty: the full.
    """

    pairs: int = 24
    negatives: int = 4
    landmarks: Unit = "sentences"
    scores: float = 0.0
    scores_by: Distillation = field(default="kl", metadata={"needs": "scores"})
    scores_temperature: float = field(default=1.0, metadata={"needs": "scores"})
    chunk: int = 0
    temperature: float = 0.05
    question_dropout: float = 0.0
    dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            InputError: a setting that cannot be.
        """
        need(self.pairs >= 2, f"pairs is {self.pairs}", "at least 2: they are each other's rivals")
        need_least(0, negatives=self.negatives, chunk=self.chunk)
        need_common(self.temperature, self.dimensions)
        need_distillation(self.scores, self.scores_by, self.scores_temperature, self.negatives)
        need_shares(question_dropout=self.question_dropout)
        units = get_args(Unit)
        hint = f"{nearest(self.landmarks, units)}one of {', '.join(units)}"
        need(self.landmarks in units, f"there is no unit {self.landmarks!r}", hint)


class Pairs:
    """Steps of stage I.

    Raises:
        InputError: the material has no pairs, or none with scores where they are learned.
    """

    def __init__(self, stage: PairsStage, material: Material) -> None:
        need_pairs(material.pairs)
        need_scores(material.pairs, stage.scores)
        self.stage, self.material = stage, material
        self._passages = Passages(material.pairs)

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        stage, material = self.stage, self.material
        chosen = random.sample(material.pairs, min(stage.pairs, len(material.pairs)))
        drawn = candidates(chosen, stage.negatives, self._passages, random)
        texts, same, trusted = drawn.texts, drawn.right, drawn.trusted
        whole = [
            stage.landmarks == "passage" or (stage.landmarks == "both" and random.random() < 0.5)
            for _ in texts
        ]
        ids = [thinned(pair.ids, stage.question_dropout, random) for pair in chosen]
        rows = [
            (n, _units(text, one)) for n, (text, one) in enumerate(zip(texts, whole, strict=True))
        ]
        owner = torch.tensor([n for n, row in rows for _ in row])
        opening, landmark = material.opening, material.landmark
        passages = [
            assemble(
                [row for _, row in chunk],
                [(n, i) for n, row in chunk for i in range(len(row))],
                opening,
                landmark,
            )
            for chunk in chunks_of(rows, stage.chunk)
        ]
        queries = [queries_of(chunk, opening, landmark) for chunk in chunks_of(ids, stage.chunk)]
        told: dict[str, float] = {}

        def contrast(scores: Tensor, right: Tensor, weights: Tensor) -> Tensor:
            weighed, wrong = weigh(scores, ~right, weights.to(scores.device), stage.temperature)
            return any_against_negatives(weighed, right, wrong, stage.temperature)

        def of_vectors(asking: Tensor, landmarks: Tensor) -> Tensor:
            place = owner.to(landmarks.device)
            right = marked(same, landmarks)
            found = means_of(landmarks, place, len(texts))
            document = contrast(similarities(asking, found), right, trusted)
            if all(whole):
                return document
            sentences = similarities(asking, landmarks)
            return document + contrast(sentences, right[:, place], trusted[:, owner])

        def loss(asking: Tensor, landmarks: Tensor) -> Tensor:
            told["spread"] = spread_of(landmarks)
            sizes = sizes_of(stage.dimensions, landmarks)
            value = over_prefixes(of_vectors, (asking, landmarks), sizes)
            if not stage.scores:
                return value
            found = means_of(landmarks, owner.to(landmarks.device), len(texts))
            apart = drawn.given.distance(
                stage.scores_by,
                similarities(asking, found),
                marked(same, landmarks),
                stage.temperature,
                stage.scores_temperature,
            )
            told["scores"] = apart.item()
            return value + stage.scores * apart

        value = backward(encode, (queries, passages), loss)
        right = torch.from_numpy(same)
        level = contrast(torch.zeros(same.shape), right, trusted)
        if not all(whole):
            even = torch.zeros(len(chosen), len(owner))
            level = level + contrast(even, right[:, owner], trusted[:, owner])
        floor = level.item() + stage.scores * told.get("scores", 0.0)
        told |= effective_of(trusted, ~same)
        return {"loss": value.item(), "floor": floor, **told}


def _units(text: Text, whole: bool) -> list[np.ndarray]:
    """What each landmark closes: the passage, or its sentences one by one."""
    return [text.ids] if whole else [text.sentence(n) for n in range(len(text.spans))]
