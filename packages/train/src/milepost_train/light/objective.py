"""What the light model learns from: stage III, much of it of texts that nobody asks about."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from milepost.encoder.windows.document_vector import unit
from milepost_train.batches import Piece
from milepost_train.data import Text
from milepost_train.material import Material
from milepost_train.objectives.marked import Marked
from milepost_train.stages import MarkedStage
from milepost_train.teacher import Teacher

WINDOWS, QUERIES = 2, 32
"""Most windows of a document, and questions of no document, in a step."""

STAGE = MarkedStage(
    documents=12,
    hard=0,
    windows=(126, 294, 420, 420, 840),
    open_tasks=("covid_papers", "trials", "meetings"),
    distil=4.0,
    distil_questions=1.0,
    rank=1.0,
)


class Projected:
    """A teacher whose vectors are cut to some axes, ``(d, width)``. Implements ``Teacher``."""

    def __init__(self, teacher: Teacher, axes: NDArray[np.float32]) -> None:
        self._teacher, self._axes = teacher, axes
        self.width = axes.shape[1]
        digest = hashlib.sha256(teacher.fingerprint.encode() + axes.tobytes())
        self.fingerprint = digest.hexdigest()

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, width)`` unit vectors of questions."""
        return self._cut(self._teacher.of_questions(questions))

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, width)`` unit vectors of a text's sentences."""
        return self._cut(self._teacher.of_sentences(text))

    def _cut(self, vectors: NDArray[np.float16]) -> NDArray[np.float16]:
        return unit(vectors.astype(np.float32) @ self._axes).astype(np.float16)


class Distilled(Marked):
    """Steps of stage III whose texts need no questions, and whose questions need no text.

    A question whose text is below 0 is asked of none: its vector and its ranking of the step's
    sentences are the teacher's, and it has no evidence.
    """

    def __init__(self, stage: MarkedStage, material: Material) -> None:
        super().__init__(stage, material)
        groups = material.by_text
        self._free = [n for text, group in groups.items() if text < 0 for n in group]
        self._asked_of = sorted(text for text in groups if text >= 0)

    def draw(self, random: Random) -> tuple[list[int], list[Piece]]:
        """Numbers of questions and windows; every third text is one that is asked about."""
        stage, material = self.stage, self.material
        pieces: set[Piece] = set()
        asked: list[int] = []
        for place in range(stage.documents):
            text = random.randrange(len(material.texts))
            if place % 3 == 0:
                text = random.choice(self._asked_of)
            own = material.by_text.get(text, [])
            chosen = random.sample(own, min(stage.questions, len(own)))
            asked += [number for number in chosen if number not in asked]
            centres = [random.choice(material.questions[n].evidence) for n in chosen[:WINDOWS]]
            sentences = range(len(material.texts[text].spans))
            for centre in centres or random.choices(sentences, k=WINDOWS):
                pieces.add(self._window(text, centre, random.choice(stage.windows), random))
        free = random.sample(self._free, min(QUERIES, len(self._free)))
        return [*asked, *free], sorted(pieces)
