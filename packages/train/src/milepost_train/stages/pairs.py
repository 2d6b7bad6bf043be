"""Settings of stage I: queries and their passages."""

from __future__ import annotations

from dataclasses import dataclass, field

from milepost_eval.noise import Noise
from milepost_train.choices import PairsUnit
from milepost_train.validation import Checks


@dataclass(frozen=True, slots=True)
class PairsStage:
    """Settings of stage I.

    Attributes:
        pairs: of a step. All passages of the step are candidates for all queries.
        negatives: hard negatives of each query, where its pair has some.
        landmarks: ``passage``: one landmark closes the whole passage, as in the paper;
            ``sentences``: one closes each sentence, and both their mean and one of them have to
            win; ``both``: one or the other, drawn for each passage.
        chunk: texts in memory at a time (gradient cache: less memory, more time); 0: all.
        temperature: divides cosines.
        question_dropout: probability of dropping each token of a query; two stay.
        noise: how often a query is read with ``typos``, as ``keywords``, in ``capitals``
            or ``unaccented``, see ``evaluate.noise``.
        dimensions: widths at which vectors are trained (Matryoshka); empty: the full width.

    Raises:
        WrongSettings: one or more settings cannot be used.
    """

    pairs: int = 24
    negatives: int = 4
    landmarks: PairsUnit = "sentences"
    chunk: int = 0
    temperature: float = 0.05
    question_dropout: float = 0.0
    noise: dict[Noise, float] = field(default_factory=dict)
    dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        with Checks() as check:
            rivals = "2 or more: each other's passages are the negatives"
            check.need(self.pairs >= 2, f"pairs is {self.pairs}", rivals, "pairs")
            check.at_least(0, negatives=self.negatives, chunk=self.chunk)
            check.vectors(self.temperature, self.dimensions)
            check.fractions(question_dropout=self.question_dropout)
            check.noise(self.noise)
            check.one_of(PairsUnit, landmarks=self.landmarks)
