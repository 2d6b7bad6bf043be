"""Definition of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from milepost.encoder import Encoder
from milepost.errors import InputError
from milepost_eval.report.outcome import Outcome
from milepost_eval.types import Task
from milepost_eval.vectors import Vectors

USUAL = ("written", "squad_articles", "covid_papers", "trials")
"""Tasks whose evidence is a sentence or a few; a meeting's is a run of turns."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One research question about one set of weights.

    Attributes:
        name: as in ``milepost lab landmark NAME``.
        question: the question it answers, one line.
        tasks: names of the tasks that it is made for.
        measure: does the work; ``run`` fills in name and question of the outcome.
    """

    name: str
    question: str
    tasks: tuple[str, ...]
    measure: Callable[[Encoder, Sequence[Task], Vectors], Outcome]

    def run(self, encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
        """Measure on tasks and return the outcome.

        Args:
            encoder: gives the weights; readers with other window sizes are made from it.
            tasks: tasks to evaluate on; a few documents of each are enough (``tasks.take``).
                Questions without evidence spans are left out.
            vectors: cache of vectors.

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
