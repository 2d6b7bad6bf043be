"""Settings of stage III: long documents with marked evidence."""

from __future__ import annotations

from dataclasses import dataclass, field

from milepost_eval.noise import Noise
from milepost_train.choices import Nearness
from milepost_train.validation import Checks


@dataclass(frozen=True, slots=True)
class MarkedStage:
    """Settings of stage III. The defaults are the objective of the shipped model.

    Attributes:
        documents, questions: of a step, ``questions`` of each document at most.
        hard: windows of a step around sentences that look like an answer: mined ones, else the
            nearest by the teacher, else by words.
        windows: tokens of a window, drawn for each step.
        tasks: how often a task is drawn, by name; other tasks are not drawn. Empty: all, alike.
        open_tasks: tasks that do not mark every sentence that answers: evidence of other questions
            about the document is then no negative.
        near: sentences this close to the evidence are no negatives: what shares its subject is not
            punished for it. 0: all count.
        context: weight of the same contrast by context vectors alone; where the own vectors decide
            most questions, the others would learn little from the sum.
        across: sentences of other documents are negatives as well.
        temperature: divides cosines.
        alpha: position-aware weights ``exp(-alpha i)``, i sentences before the evidence's last;
            None: every evidence sentence is compared with the negatives on its own.
        distil: weight of the distance to the teacher's vectors of the sentences.
        distil_questions: of the questions' vectors, as a fraction of ``distil``.
        rank: weight of the divergence from a ranking of the candidates.
        rank_by: the ranking: the ``teacher``'s, by the cosines of its vectors, of any width; or
            that of ``words``, see ``LexicalTeacher``, which needs no teacher.
        halo_dropout: probability of dropping a window's context, for each side.
        question_dropout: probability of dropping each token of a question; two stay.
        noise: how often a question is read with ``typos``, as ``keywords``, in ``capitals``
            or ``unaccented``, see ``evaluate.noise``.
        dimensions: widths at which vectors are trained (Matryoshka); empty: the full width.

    Raises:
        WrongSettings: one or more settings cannot be used.
    """

    documents: int = 4
    questions: int = 4
    hard: int = 5
    windows: tuple[int, ...] = (160, 224, 224, 320)
    tasks: dict[str, float] = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()
    near: int = 0
    context: float = 0.0
    across: bool = True
    temperature: float = 0.05
    alpha: float | None = None
    distil: float = 0.7
    distil_questions: float = 0.5
    rank: float = 0.0
    rank_by: Nearness = field(default="teacher", metadata={"needs": "rank"})
    halo_dropout: float = 0.0
    question_dropout: float = 0.0
    noise: dict[Noise, float] = field(default_factory=dict)
    dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        with Checks() as check:
            check.at_least(1, documents=self.documents, questions=self.questions)
            check.vectors(self.temperature, self.dimensions)
            check.fractions(halo_dropout=self.halo_dropout, question_dropout=self.question_dropout)
            check.noise(self.noise)
            check.windows(self.windows)
            check.one_of(Nearness, rank_by=self.rank_by)
            check.at_least(0, hard=self.hard, near=self.near, context=self.context)
            check.at_least(0, alpha=self.alpha, distil=self.distil)
            check.at_least(0, distil_questions=self.distil_questions, rank=self.rank)
            check.task_weights(self.tasks)
