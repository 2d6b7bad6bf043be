"""LMK document pooling (arXiv 2601.21525): a text's vector is the mean of its landmarks.

How far apart its landmarks stand is drawn for each text, so that its vector does not hang on one
way of cutting. A query (a title, a heading, a question) is read by the same rule, with a draw of
its own, and has to find its text among those of the batch; a teacher's scores say which of the
others are near. A check reads at one granularity, always the same (``train/document_check.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from milepost.errors import InputError
from milepost.model.lmk_model import Granularity
from milepost.train.batches import Batch
from milepost.train.data import Pair, Text, one_sentence
from milepost.train.granularity import (
    Granularities,
    document_vectors,
    drawn_windows,
    units_of,
    windows_in,
)
from milepost.train.losses import divergence, over_prefixes, similarities, weighted_contrast
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
from milepost.train.objectives.passages import Passages


@dataclass(frozen=True, slots=True)
class DocumentsStage:
    """Settings of the objective for documents.

    Attributes:
        documents: texts of a step, each with its query; all are candidates for all queries.
        tokens: that are read of a text, from its beginning.
        negatives: hard ones of each query's pair, where it has some: more texts of the step; for
            their own query they count by their weights.
        passages: share of pairs' passages among the texts, the rest being documents with titles;
            it counts only where the material has both.
        window: tokens of a window, opening and landmarks included; a longer text is read in several
            windows of whole chunks, without halo, and all their landmarks count. A text of 480
            tokens fits into 512 whatever is drawn: one pass, as in the paper.
        granularities: tokens from landmark to landmark, or ``sentences``; drawn for each text and
            each query.
        evaluation: the granularity of the check, the same for all.
        distil: weight of the divergence from the teacher's ranking of the texts.
        scores: weight of the distillation from the scores of the lines, for what of a query's
            negatives was drawn; queries without scores have no part in it.
        scores_by: which one, see ``Distillation``; LMK itself is trained by ``listwise``.
        scores_temperature: divides the scores of the lines.
        chunk: windows, and queries, in memory at a time (gradient cache); 0: all.
        temperature: divides cosines.
        question_dropout: chance of each token of a query to be left out; two stay.
        dimensions: widths at which vectors are trained to be good (Matryoshka); empty: the full.
    """

    documents: int = 16
    tokens: int = 480
    negatives: int = 0
    passages: float = 0.5
    window: int = 512
    granularities: tuple[int | str, ...] = (32, 64, 128, 256)
    evaluation: int | str = 32
    distil: float = 0.0
    scores: float = 0.0
    scores_by: Distillation = field(default="listwise", metadata={"needs": "scores"})
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
        need(self.documents >= 2, f"documents is {self.documents}", "at least 2, to tell apart")
        need_least(16, tokens=self.tokens, window=self.window)
        need(0 <= self.passages <= 1, f"passages is {self.passages:g}", "a share: 0 to 1")
        need_least(0, distil=self.distil, chunk=self.chunk, negatives=self.negatives)
        need_common(self.temperature, self.dimensions)
        need_distillation(self.scores, self.scores_by, self.scores_temperature, self.negatives)
        need_shares(question_dropout=self.question_dropout)
        drawn = self.drawn()
        sizes = [g for g in (*drawn.choices, drawn.evaluation) if isinstance(g, int)]
        largest = min(max(sizes, default=0), self.tokens)
        need(
            largest + 2 <= self.window,
            f"{largest} tokens from landmark to landmark are more than a window of {self.window}",
            f"window = {largest + 2} or more, or smaller granularities and evaluation",
        )

    def drawn(self) -> Granularities:
        """What granularities are drawn from, and which one the check has.

        Raises:
            InputError: none, or one that cannot be.
        """
        try:
            return Granularities(self.granularities, self.evaluation)  # type: ignore[arg-type]
        except ValueError as error:
            raise InputError(str(error), 'numbers of tokens, or "sentences"') from error

    def beginning(self, text: Text) -> Text:
        """What is read of a text: its first whole sentences, one at least."""
        last = int(np.searchsorted(text.starts, self.tokens, "right")) - 1
        return text.part(0, max(1, last))

    def windows_of(
        self,
        texts: Sequence[Text],
        granularities: Sequence[Granularity],
        opening: int | None,
        landmark: int,
        chunk: int,
    ) -> list[Batch]:
        """Texts, or queries, in windows of ``window`` tokens, ``chunk`` windows a batch; 0: all."""
        pieces = [
            piece
            for number, each in enumerate(zip(texts, granularities, strict=True))
            for piece in windows_in(number, units_of(*each), self.window)
        ]
        return [
            drawn_windows(some, texts, granularities, opening, landmark).batch
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
        texts = [stage.beginning(text) for text in drawn.texts]
        windows = self._drawn(texts, random)
        ids = [thinned(pair.ids, stage.question_dropout, random) for pair in chosen]
        queries = self._drawn([one_sentence(each) for each in ids], random)
        owners, askers = (
            np.concatenate([batch.owners for batch in side]) for side in (windows, queries)
        )
        teacher = self._teacher(chosen, texts) if stage.distil else None
        told: dict[str, float] = {}

        def contrast(scores: Tensor) -> Tensor:
            right, weights = marked(drawn.right, scores), drawn.trusted.to(scores.device)
            return weighted_contrast(scores, right, ~right, weights, stage.temperature)

        def scored(asking: Tensor, landmarks: Tensor) -> Tensor:
            found = document_vectors(landmarks, owners)[1]
            return similarities(document_vectors(asking, askers)[1], found)

        def of_vectors(asking: Tensor, landmarks: Tensor) -> Tensor:
            return contrast(scored(asking, landmarks))

        def loss(asking: Tensor, landmarks: Tensor) -> Tensor:
            told["spread"] = spread_of(landmarks)
            sizes = sizes_of(stage.dimensions, landmarks)
            value = over_prefixes(of_vectors, (asking, landmarks), sizes)
            told["contrast"] = value.item()
            if teacher is None and not stage.scores:
                return value
            scores, heat = scored(asking, landmarks), stage.temperature
            if teacher is not None:
                used = torch.ones_like(scores, dtype=torch.bool)
                apart = divergence(scores, teacher.to(scores.device), used, heat, heat)
                told["rank"] = apart.item()
                value = value + stage.distil * apart
            if stage.scores:
                right, by = marked(drawn.right, scores), stage.scores_by
                apart = drawn.given.distance(by, scores, right, heat, stage.scores_temperature)
                told["scores"] = apart.item()
                value = value + stage.scores * apart
            return value

        value = backward(encode, (queries, windows), loss).item()
        level = contrast(torch.zeros(drawn.right.shape)).item()
        told |= effective_of(drawn.trusted, ~drawn.right)
        return {"loss": value, "floor": value - told["contrast"] + level, **told}

    def _drawn(self, texts: Sequence[Text], random: Random) -> list[Batch]:
        """Texts or queries as a step reads them, a granularity drawn for each."""
        stage, material = self.stage, self.material
        drawn = stage.drawn().draw(random, len(texts))
        return stage.windows_of(texts, drawn, material.opening, material.landmark, stage.chunk)

    def _teacher(self, chosen: Sequence[Pair], texts: Sequence[Text]) -> Tensor:
        """The teacher's scores ``(q, n)``: of a text, the mean of its sentences counts."""
        targets = self.material.targets
        assert targets is not None
        asking = np.concatenate([targets.of_questions((pair.words,)) for pair in chosen])
        means = [targets.of_text(text).astype(np.float32).sum(axis=0) for text in texts]
        found = F.normalize(torch.from_numpy(np.stack(means)), dim=-1)
        return similarities(torch.from_numpy(asking.astype(np.float32)), found)
