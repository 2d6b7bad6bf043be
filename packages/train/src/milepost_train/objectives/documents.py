"""LMK document pooling (arXiv 2601.21525): a text's vector is the mean of its landmarks.

The spacing of its landmarks is drawn for each text, so that its vector does not depend on one
way of cutting. A query (a title, a heading, a question) is read by the same rule, with a draw of
its own, and has to find its text among those of the batch. A check reads at one granularity, always
the same (``document_check.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import torch
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
from milepost_train.losses import each_against_negatives, over_prefixes, similarities
from milepost_train.material import Material
from milepost_train.needs import need
from milepost_train.objectives.base import (
    Encode,
    backward,
    chunks_of,
    marked,
    sizes_of,
    spread_of,
    thinned,
)
from milepost_train.objectives.candidates import candidates
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
        InputError: the material has neither titles nor pairs.
    """

    def __init__(self, stage: DocumentsStage, material: Material) -> None:
        self._pools = [pool for pool in (material.pairs, material.documents) if len(pool)]
        need(
            sum(map(len, self._pools)) > 1,
            "there are neither pairs nor documents with titles",
            "name pairs or documents in [data]",
        )
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
        figures: dict[str, float] = {}

        def contrast(scores: Tensor) -> Tensor:
            right = marked(drawn.right, scores)
            return each_against_negatives(scores, right, ~right, stage.temperature)

        def of_vectors(asking: Tensor, landmarks: Tensor) -> Tensor:
            found = document_vectors(landmarks, owners)[1]
            return contrast(similarities(document_vectors(asking, askers)[1], found))

        def loss(asking: Tensor, landmarks: Tensor) -> Tensor:
            figures["spread"] = spread_of(landmarks)
            sizes = sizes_of(stage.dimensions, landmarks)
            value = over_prefixes(of_vectors, (asking, landmarks), sizes)
            figures["contrast"] = value.item()
            return value

        value = backward(encode, (queries, windows), loss).item()
        level = contrast(torch.zeros(drawn.right.shape)).item()
        return {"loss": value, "floor": level, **figures}

    def _drawn(self, texts: Sequence[Text], random: Random) -> list[Batch]:
        """Texts or queries as a step reads them, a granularity drawn for each."""
        stage, material = self.stage, self.material
        drawn = stage.drawn().draw(random, len(texts))
        return windows_of(stage, texts, drawn, material.bos_id, material.landmark, stage.chunk)
