"""Settings of training a reranker."""

from __future__ import annotations

from dataclasses import dataclass, field

from milepost_eval.noise import Noise
from milepost_train.validation import Checks


@dataclass(frozen=True, slots=True)
class RerankStage:
    """Settings of training a reranker.

    Attributes:
        questions: of a step.
        hard: windows of each question around sentences that look like an answer: mined ones,
            else the nearest by the teacher, else by words.
        elsewhere: probability that a question also reads a window of another question's document.
        windows: tokens of a window, drawn for each step; the question is added to it.
        steep: how much more often the first of the hard sentences is drawn than the last: the rank
            is ``u ** steep`` of their number, u uniform in 0 … 1.
        tasks: how often a task is drawn, by name; other tasks are not drawn. Empty: all, alike.
        open_tasks: tasks that do not mark every sentence that answers: evidence of other questions
            about the document is then no negative.
        temperature: divides cosines.
        question_dropout: probability of dropping each token of a question; two stay.
        noise: how often a question is read with ``typos``, as ``keywords``, in ``capitals``
            or ``unaccented``, see ``evaluate.noise``.

    Raises:
        WrongSettings: one or more settings cannot be used.
    """

    questions: int = 8
    hard: int = 2
    elsewhere: float = 0.5
    windows: tuple[int, ...] = (96, 144, 192, 240)
    steep: float = 1.7
    tasks: dict[str, float] = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()
    temperature: float = 0.05
    question_dropout: float = 0.0
    noise: dict[Noise, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with Checks() as check:
            check.at_least(1, questions=self.questions, hard=self.hard)
            check.vectors(self.temperature)
            check.fractions(question_dropout=self.question_dropout)
            check.noise(self.noise)
            check.up_to_one(elsewhere=self.elsewhere)
            check.windows(self.windows)
            all_alike = "a number above 0; 1 draws all alike"
            check.need(self.steep > 0, f"steep is {self.steep:g}", all_alike, "steep")
            check.task_weights(self.tasks)
