"""Settings of the kinds of training stage; ``docs/training.md`` says what each is for.

Needs no torch, so that a configuration is checked in milliseconds; ``objectives`` has the training
steps that these settings configure.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from milepost_eval.noise import Noise
from milepost_train.settings import (
    CHECKED,
    Amount,
    Count,
    Fraction,
    Positive,
    Share,
    Weight,
)


def _together(shares: dict[Noise, float]) -> dict[Noise, float]:
    if sum(shares.values()) > 1:
        raise ValueError("at most 1 together")
    return shares


TaskWeights = dict[str, Positive]
Window = Annotated[int, Field(ge=8)]
Windows = Annotated[tuple[Window, ...], Field(min_length=1)]
Noises = Annotated[dict[Noise, Share], AfterValidator(_together)]
"""How often a question is read with each kind of noise, see ``milepost_eval.noise``."""

Dimensions = tuple[Count, ...]
"""Widths at which vectors are trained (Matryoshka); empty: the full width."""


@dataclass(frozen=True, slots=True, config=CHECKED)
class QuestionStage:
    """What all kinds have."""

    temperature: Positive = 0.05
    question_dropout: Fraction = 0.0


@dataclass(frozen=True, slots=True, config=CHECKED)
class PairsStage(QuestionStage):
    """Stage I: queries and their passages.

    With a landmark for each of the ``sentences`` both their mean and one of them have to win; with
    ``both``, one or the other is drawn for each passage.
    """

    pairs: Annotated[int, Field(ge=2)] = 24
    negatives: Amount = 4
    landmarks: Literal["passage", "sentences", "both"] = "sentences"
    chunk: Amount = 0
    noise: Noises = field(default_factory=dict)
    dimensions: Dimensions = ()


@dataclass(frozen=True, slots=True, config=CHECKED)
class MergedStage(QuestionStage):
    """Stage II: noisy long documents made of passages.

    ``hard`` passages of a query are its own negatives, then those that share its rarest words. One
    landmark of the right passage has to win. With ``across``, landmarks of the step's other
    documents are negatives as well.
    """

    documents: Count = 1
    questions: Count = 4
    tokens: Count = 4096
    hard: Amount = 8
    landmarks: Literal["passage", "sentences"] = "sentences"
    window: Window = 256
    left: Amount = 64
    right: Amount = 32
    across: bool = True
    chunk: Amount = 0
    dimensions: Dimensions = ()


@dataclass(frozen=True, slots=True, config=CHECKED)
class MarkedStage(QuestionStage):
    """Stage III: long documents with marked evidence, by default as the shipped model learned.

    ``open_tasks`` do not mark every sentence that answers. ``alpha``: weights ``exp(-alpha i)``, i
    sentences before the evidence's last; None: every evidence sentence is compared with the
    negatives on its own. ``context``: where the own vectors decide most questions, context vectors
    would learn little from the sum. ``distil_questions`` is a fraction of ``distil``.
    """

    documents: Count = 4
    questions: Count = 4
    hard: Amount = 5
    windows: Windows = (160, 224, 224, 320)
    tasks: TaskWeights = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()
    near: Amount = 0
    context: Weight = 0.0
    across: bool = True
    alpha: Weight | None = None
    distil: Weight = 0.7
    distil_questions: Weight = 0.5
    rank: Weight = 0.0
    noise: Noises = field(default_factory=dict)
    dimensions: Dimensions = ()


@dataclass(frozen=True, slots=True, config=CHECKED)
class RerankStage(QuestionStage):
    """A reranker.

    ``windows`` are without the question. ``steep``: the rank of a hard sentence that is drawn is
    ``u ** steep`` of their number, u uniform in 0 … 1.
    """

    questions: Count = 8
    hard: Count = 2
    elsewhere: Annotated[float, Field(ge=0, le=1)] = 0.5
    windows: Windows = (96, 144, 192, 240)
    steep: Positive = 1.7
    tasks: TaskWeights = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()
    answers: Weight = 0.0
    noise: Noises = field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=CHECKED)
class JudgeStage(QuestionStage):
    """What sentences say of a claim or question that stands in front of them."""

    rows: Count = 32
    window: Window = 224
    beside: Fraction = 0.2
    sources: TaskWeights = field(default_factory=dict)


StageSettings = PairsStage | MergedStage | MarkedStage | RerankStage | JudgeStage

STAGES: dict[str, type[StageSettings]] = {
    "pairs": PairsStage,
    "merged": MergedStage,
    "marked": MarkedStage,
    "rerank": RerankStage,
    "judge": JudgeStage,
}
"""Settings of each kind of stage, by its name in a configuration."""
