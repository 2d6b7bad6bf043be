"""What an experiment is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from milepost.encoder import Encoder
from milepost.errors import InputError
from milepost.evaluate.report.outcome import Outcome
from milepost.evaluate.types import Task
from milepost.evaluate.vectors import Vectors

USUAL = ("written", "squad_articles", "covid_papers", "trials")
"""Tasks whose evidence is a sentence or a few; a meeting's is a run of turns."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One question, asked of one set of weights.

    Attributes:
        name: as in ``milepost lab landmark NAME``.
        question: what it answers, one line.
        tasks: names of the tasks that it is made for.
        measure: does the work; name and question of what it returns are filled in.
    """

    name: str
    question: str
    tasks: tuple[str, ...]
    measure: Callable[[Encoder, Sequence[Task], Vectors], Outcome]

    def run(self, encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
        """Measure and put into words.

        Args:
            encoder: the weights; other sizes of windows are made from it.
            tasks: what is asked; a few documents of each do (``tasks.take``). Questions without
                evidence spans are left out.
            vectors: where vectors are kept.

        Raises:
            InputError: no question of the tasks has evidence spans.
        """
        usable = [
            replace(
                task, questions=tuple(question for question in task.questions if question.spans)
            )
            for task in tasks
        ]
        usable = [task for task in usable if task.questions]
        if not usable:
            names = ", ".join(task.name for task in tasks) or "no task"
            raise InputError(
                f"{names}: no question with evidence, so {self.name} has nothing to measure",
                f"--tasks {','.join(self.tasks)}",
            )
        found = self.measure(encoder, usable, vectors)
        return replace(found, name=self.name, question=self.question)
