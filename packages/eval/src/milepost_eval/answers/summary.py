"""Answers → means with intervals, and differences to the first system on the same questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from milepost_eval.answers.run import Answered
from milepost_eval.statistics import Difference, corrected, mean_over_tasks, over_tasks


@dataclass(frozen=True, slots=True)
class Row:
    """One system at one budget.

    Attributes:
        budget: in tokens.
        system: its name.
        mean: of F1, 0–1; over several files the mean of their means.
        low: lower end of its 95 % interval, by resampling contexts.
        high: upper end.
        difference: F1 minus the first system's at the same budget, p corrected by Holm for all
            rows of the table; None for the first system itself.
        sent: mean number of context tokens.
    """

    budget: int
    system: str
    mean: float
    low: float
    high: float
    difference: Difference | None
    sent: float


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of some files.

    Attributes:
        tasks: names of the files.
        questions: asked in all.
        documents: contexts that they are about.
        rows: by budget, then in the order of the systems.
    """

    tasks: tuple[str, ...]
    questions: int
    documents: int
    rows: tuple[Row, ...]


def tables(found: Sequence[Answered]) -> list[Table]:
    """A table for each file, and where there are several a last one of their mean.

    Args:
        found: every question with every system at every budget.
    """
    tasks = list(dict.fromkeys(each.task for each in found))
    single = [_table([each for each in found if each.task == task]) for task in tasks]
    return [*single, _table(found)] if len(tasks) > 1 else single


def _table(found: Sequence[Answered]) -> Table:
    cells: dict[tuple[int, str], dict[str, list[Answered]]] = defaultdict(lambda: defaultdict(list))
    for each in found:
        cells[each.budget, each.system][each.task].append(each)
    first = found[0].system
    differences = corrected(
        {
            f"{budget} {system}": over_tasks(
                {
                    task: (_figures(some), _figures(cells[budget, first][task]), _clusters(some))
                    for task, some in by_task.items()
                }
            )
            for (budget, system), by_task in cells.items()
            if system != first
        }
    )
    rows = []
    for (budget, system), by_task in sorted(cells.items(), key=lambda cell: cell[0][0]):
        mean, low, high = mean_over_tasks(
            {task: (_figures(some), _clusters(some)) for task, some in by_task.items()}
        )
        sent = fmean(each.context_tokens for some in by_task.values() for each in some)
        difference = differences.get(f"{budget} {system}")
        rows.append(Row(budget, system, mean, low, high, difference, sent))
    return Table(
        tasks=tuple(dict.fromkeys(each.task for each in found)),
        questions=len({(each.task, each.question) for each in found}),
        documents=len({(each.task, each.document) for each in found}),
        rows=tuple(rows),
    )


def _figures(some: Sequence[Answered]) -> list[float]:
    return [each.f1 for each in some]


def _clusters(some: Sequence[Answered]) -> list[str]:
    return [each.document for each in some]
