"""Settings of the kinds of training stage; ``docs/training.md`` says what each is for.

Needs no torch, so that a configuration is checked in milliseconds; ``objectives`` has the training
steps that these settings configure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from milepost_eval.noise import Noise
from milepost_train.settings import (
    NOT_NEGATIVE,
    POSITIVE,
    UP_TO_ONE,
    Count,
    Fraction,
    Rule,
    Settings,
)

MergedUnit = Literal["passage", "sentences"]
"""What a landmark of a pseudo document closes."""

Nearness = Literal["words", "teacher"]
"""What makes a passage look like an answer: rare words it shares, or a teacher's cosine."""

PairsUnit = Literal["passage", "sentences", "both"]
"""What a landmark of a passage closes."""

Amount = Annotated[int, NOT_NEGATIVE]
Weight = Annotated[float, NOT_NEGATIVE]
TaskWeights = dict[str, Annotated[float, Rule(lambda w: w > 0, "above 0, or leave the task out")]]
Windows = Annotated[
    tuple[int, ...], Rule(lambda sizes: min(sizes, default=0) >= 8, "sizes of 8 or more")
]
Noises = Annotated[
    dict[Noise, Annotated[float, Rule(lambda share: 0 < share <= 1, "above 0, at most 1")]],
    Rule(lambda shares: sum(shares.values()) <= 1, "at most 1 together"),
]
"""How often a question is read with each kind of noise, see ``milepost_eval.noise``."""

Dimensions = tuple[Annotated[int, Rule(lambda size: size >= 1, "widths of vectors")], ...]
"""Widths at which vectors are trained (Matryoshka); empty: the full width."""


@dataclass(frozen=True, slots=True)
class QuestionStage(Settings):
    """What all kinds have.

    Attributes:
        temperature: divides cosines.
        question_dropout: probability of dropping each token of a question; two stay.
    """

    temperature: Annotated[
        float, Rule(lambda value: value > 0, "a number above 0, usually 0.02 to 0.1")
    ] = 0.05
    question_dropout: Fraction = 0.0


@dataclass(frozen=True, slots=True)
class PairsStage(QuestionStage):
    """Stage I: queries and their passages.

    Attributes:
        pairs: of a step. All passages of the step are candidates for all queries.
        negatives: hard negatives of each query, where its pair has some.
        landmarks: ``passage``: one closes the whole passage, as in the paper; ``sentences``: one
            closes each sentence, and both their mean and one of them have to win; ``both``: one or
            the other, drawn for each passage.
        chunk: texts in memory at a time (gradient cache: less memory, more time); 0: all.
    """

    pairs: Annotated[
        int, Rule(lambda n: n >= 2, "2 or more: each other's passages are the negatives")
    ] = 24
    negatives: Amount = 4
    landmarks: PairsUnit = "sentences"
    chunk: Amount = 0
    noise: Noises = field(default_factory=dict)
    dimensions: Dimensions = ()


@dataclass(frozen=True, slots=True)
class MergedStage(QuestionStage):
    """Stage II: noisy long documents made of passages.

    Attributes:
        documents, questions: pseudo documents of a step, queries asked of each.
        tokens: of a pseudo document, landmarks included.
        hard: passages for each query that look like an answer: its own negatives, then those that
            share its rarest words. The rest is drawn at random.
        landmarks: one closes each of the ``sentences``, and one of the right passage has to win;
            or one closes the whole ``passage``, as in the paper.
        window, left, right: as in ``WindowSize``; a causal model has no context on the right.
        across: landmarks of the step's other documents are negatives as well.
        chunk: windows, and queries, in memory at a time (gradient cache); 0: all.
    """

    documents: Count = 1
    questions: Count = 4
    tokens: Count = 4096
    hard: Amount = 8
    landmarks: MergedUnit = "sentences"
    window: Annotated[int, Rule(lambda size: size >= 8, "8 or more")] = 256
    left: Amount = 64
    right: Amount = 32
    across: bool = True
    chunk: Amount = 0
    dimensions: Dimensions = ()


@dataclass(frozen=True, slots=True)
class MarkedStage(QuestionStage):
    """Stage III: long documents with marked evidence, by default as the shipped model learned.

    Attributes:
        documents, questions: of a step, ``questions`` of each document at most.
        hard: windows of a step around sentences that look like an answer.
        windows: tokens of a window, drawn for each step.
        tasks: how often a task is drawn; other tasks are not drawn. Empty: all, alike.
        open_tasks: tasks that do not mark every sentence that answers: evidence of other questions
            about the document is then no negative.
        near: sentences this close to the evidence are no negatives: what shares its subject is not
            punished for it.
        context: weight of the same contrast by context vectors alone; where the own vectors decide
            most questions, the others would learn little from the sum.
        across: sentences of other documents are negatives as well.
        alpha: position-aware weights ``exp(-alpha i)``, i sentences before the evidence's last;
            None: every evidence sentence is compared with the negatives on its own.
        distil, distil_questions: weight of the distance to the teacher's vectors of sentences, and
            of questions as a fraction of it.
        rank, rank_by: weight of the divergence from a ranking of the candidates, by the cosines of
            the ``teacher``, of any width, or by ``words`` (``LexicalTeacher``).
        halo_dropout: probability of dropping a window's context, for each side.
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
    rank_by: Nearness = field(default="teacher", metadata={"needs": "rank"})
    halo_dropout: Fraction = 0.0
    noise: Noises = field(default_factory=dict)
    dimensions: Dimensions = ()


@dataclass(frozen=True, slots=True)
class RerankStage(QuestionStage):
    """A reranker.

    Attributes:
        questions: of a step.
        hard: windows of each question around sentences that look like an answer.
        elsewhere: probability that a question also reads a window of another question's document.
        windows: tokens of a window, drawn for each step; the question is added to it.
        steep: how much more often the first of the hard sentences is drawn than the last: the rank
            is ``u ** steep`` of their number, u uniform in 0 … 1.
        tasks, open_tasks: as of ``MarkedStage``.
        answers: weight of telling windows with evidence from the others, see ``JudgeStage``.
    """

    questions: Count = 8
    hard: Count = 2
    elsewhere: Annotated[float, UP_TO_ONE] = 0.5
    windows: Windows = (96, 144, 192, 240)
    steep: Annotated[float, POSITIVE] = 1.7
    tasks: TaskWeights = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()
    answers: Weight = 0.0
    noise: Noises = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeStage(QuestionStage):
    """What sentences say of a claim or question that stands in front of them.

    Attributes:
        rows: of a step.
        window: tokens of a window at most, the text in front included; what follows is left out.
        beside: probability that sentences of another row of the source are read along.
        sources: how often rows of a source are drawn; others are not. Empty: all, alike.
    """

    rows: Count = 32
    window: Annotated[int, Rule(lambda size: size >= 8, "8 or more")] = 224
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
