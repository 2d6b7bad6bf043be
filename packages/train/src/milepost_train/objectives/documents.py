"""LMK document pooling (arXiv 2601.21525): a text's vector is the mean of its landmarks.

The spacing of its landmarks is drawn for each text, so that its vector does not depend on one
way of cutting. A query (a title, a heading, a question) is read by the same rule, with a draw of
its own, and has to find its text among those of the batch; a teacher's scores say which of the
others are near. A check reads at one granularity, always the same (``document_check.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from milepost.engine.manifest import Granularity
from milepost_train.batches import Batch
from milepost_train.data import Pair, Text, one_sentence
from milepost_train.granularity import (
    document_vectors,
    drawn_windows,
    units_of,
    windows_in,
)
from milepost_train.losses import divergence, over_prefixes, similarities, weighted_contrast
from milepost_train.material import Material
from milepost_train.needs import need
from milepost_train.objectives.base import (
    Encode,
    backward,
    chunks_of,
    effective_of,
    marked,
    sizes_of,
    spread_of,
    thinned,
)
from milepost_train.objectives.candidates import candidates
from milepost_train.objectives.given_scores import need_scores
from milepost_train.objectives.passages import Passages
from milepost_train.stages.documents import DocumentsStage


def beginning(stage: DocumentsStage, text: Text) -> Text:
    """The part of a text that is read: its first whole sentences, at least one."""
    last = int(np.searchsorted(text.starts, stage.tokens, "right")) - 1
    return text.part(0, max(1, last))


def windows_of(
    stage: DocumentsStage,
    texts: Sequence[Text],
    granularities: Sequence[Granularity],
    bos_id: int | None,
    landmark: int,
    chunk: int,
) -> list[Batch]:
    """Texts, or queries, in windows of ``stage.window`` tokens.

    Args:
        stage: has the size of a window.
        texts: what is read, whole.
        granularities: one for each text.
        bos_id: of the BOS token; None where the model has none.
        landmark: id of the landmark token.
        chunk: windows of a batch; 0: all in one.
    """
    pieces = [
        piece
        for number, each in enumerate(zip(texts, granularities, strict=True))
        for piece in windows_in(number, units_of(*each), stage.window)
    ]
    return [
        drawn_windows(some, texts, granularities, bos_id, landmark).batch
        for some in chunks_of(pieces, chunk)
    ]


class Documents:
    """Steps of the objective for documents.

    Raises:
        InputError: the material has neither titles nor pairs, or no teacher or scores where they
            are needed.
    """

    def __init__(self, stage: DocumentsStage, material: Material) -> None:
        self._pools = [pool for pool in (material.pairs, material.documents) if len(pool)]
        need(
            sum(map(len, self._pools)) > 1,
            "there are neither pairs nor documents with titles",
            "name pairs or documents in [data]",
        )
        need(
            material.targets is not None or not stage.distil,
            "distil needs a teacher",
            "name one ([data] teacher = …) or set it to 0",
        )
        need_scores(material.pairs, stage.scores)
        self.stage, self.material = stage, material
        self._passages = Passages([pair for pool in self._pools for pair in pool])

    def draw(self, random: Random) -> list[Pair]:
        """Queries with their texts, whole."""
        stage = self.stage
        if len(self._pools) == 1:
            (pool,) = self._pools
            chosen = random.sample(pool, min(stage.documents, len(pool)))
        else:
            short = sum(random.random() < stage.passages for _ in range(stage.documents))
            counts = short, stage.documents - short
            chosen = [
                pair
                for pool, count in zip(self._pools, counts, strict=True)
                for pair in random.sample(pool, min(count, len(pool)))
            ]
        return chosen

    def step(self, encode: Encode, random: Random) -> dict[str, float]:
        """See ``Objective``."""
        stage = self.stage
        chosen = self.draw(random)
        drawn = candidates(chosen, stage.negatives, self._passages, random)
        texts = [beginning(stage, text) for text in drawn.texts]
        windows = self._drawn(texts, random)
        ids = [thinned(pair.ids, stage.question_dropout, random) for pair in chosen]
        queries = self._drawn([one_sentence(each) for each in ids], random)
        owners, askers = (
            np.concatenate([batch.owners for batch in side]) for side in (windows, queries)
        )
        teacher = self._teacher(chosen, texts) if stage.distil else None
        figures: dict[str, float] = {}

        def contrast(scores: Tensor) -> Tensor:
            right, weights = marked(drawn.right, scores), drawn.trusted.to(scores.device)
            return weighted_contrast(scores, right, ~right, weights, stage.temperature)

        def scored(asking: Tensor, landmarks: Tensor) -> Tensor:
            found = document_vectors(landmarks, owners)[1]
            return similarities(document_vectors(asking, askers)[1], found)

        def of_vectors(asking: Tensor, landmarks: Tensor) -> Tensor:
            return contrast(scored(asking, landmarks))

        def loss(asking: Tensor, landmarks: Tensor) -> Tensor:
            figures["spread"] = spread_of(landmarks)
            sizes = sizes_of(stage.dimensions, landmarks)
            value = over_prefixes(of_vectors, (asking, landmarks), sizes)
            figures["contrast"] = value.item()
            if teacher is None and not stage.scores:
                return value
            scores, heat = scored(asking, landmarks), stage.temperature
            if teacher is not None:
                used = torch.ones_like(scores, dtype=torch.bool)
                apart = divergence(scores, teacher.to(scores.device), used, heat, heat)
                figures["rank"] = apart.item()
                value = value + stage.distil * apart
            if stage.scores:
                right, by = marked(drawn.right, scores), stage.scores_by
                apart = drawn.given.distance(by, scores, right, heat, stage.scores_temperature)
                figures["scores"] = apart.item()
                value = value + stage.scores * apart
            return value

        value = backward(encode, (queries, windows), loss).item()
        level = contrast(torch.zeros(drawn.right.shape)).item()
        figures |= effective_of(drawn.trusted, ~drawn.right)
        return {"loss": value, "floor": value - figures["contrast"] + level, **figures}

    def _drawn(self, texts: Sequence[Text], random: Random) -> list[Batch]:
        """Texts or queries as a step reads them, a granularity drawn for each."""
        stage, material = self.stage, self.material
        drawn = stage.drawn().draw(random, len(texts))
        return windows_of(stage, texts, drawn, material.bos_id, material.landmark, stage.chunk)

    def _teacher(self, chosen: Sequence[Pair], texts: Sequence[Text]) -> Tensor:
        """The teacher's scores ``(q, n)``: of a text, the mean of its sentences counts."""
        targets = self.material.targets
        assert targets is not None
        asking = np.concatenate([targets.of_questions((pair.words,)) for pair in chosen])
        means = [targets.of_text(text).astype(np.float32).sum(axis=0) for text in texts]
        found = F.normalize(torch.from_numpy(np.stack(means)), dim=-1)
        return similarities(torch.from_numpy(asking.astype(np.float32)), found)
