"""Settings of stage II: noisy long documents made of passages."""

from __future__ import annotations

from dataclasses import dataclass

from milepost_train.choices import MergedUnit
from milepost_train.validation import Checks


@dataclass(frozen=True, slots=True)
class MergedStage:
    """Settings of stage II.

    Attributes:
        documents: pseudo documents of a step.
        questions: queries that are asked of each.
        tokens: of a pseudo document, landmarks included.
        hard: passages for each query that look like an answer: its own negatives where it has
            some, then those that share its rarest words. The rest is drawn at random.
        landmarks: one closes each of the ``sentences``, and one of the right passage has to win;
            or one closes the whole ``passage``, as in the paper.
        window, left, right: tokens of a window and of the context on its sides, as in
            ``WindowSize``; a causal model has no context on the right.
        across: landmarks of the step's other documents are negatives as well.
        chunk: windows, and queries, in memory at a time (gradient cache); 0: all.
        temperature: divides cosines.
        question_dropout: probability of dropping each token of a query; two stay.
        dimensions: widths at which vectors are trained (Matryoshka); empty: the full width.

    Raises:
        WrongSettings: one or more settings cannot be used.
    """

    documents: int = 1
    questions: int = 4
    tokens: int = 4096
    hard: int = 8
    landmarks: MergedUnit = "sentences"
    window: int = 256
    left: int = 64
    right: int = 32
    across: bool = True
    chunk: int = 0
    temperature: float = 0.05
    question_dropout: float = 0.0
    dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        with Checks() as check:
            check.at_least(
                1, documents=self.documents, questions=self.questions, tokens=self.tokens
            )
            check.at_least(0, hard=self.hard, chunk=self.chunk, left=self.left, right=self.right)
            check.at_least(8, window=self.window)
            check.vectors(self.temperature, self.dimensions)
            check.fractions(question_dropout=self.question_dropout)
            check.one_of(MergedUnit, landmarks=self.landmarks)
