"""Statistics of a cache of runs: means with intervals, and differences on the same queries.

Figures of a query are the mean of its seeds. Intervals resample documents, p-values flip them and
are corrected for all differences reported together (``milepost_eval/statistics.py``). A difference
is **sure** if interval and p-value both exclude zero and no seed has the opposite sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from milepost.errors import InputError
from milepost_eval.report.outcome import Figure
from milepost_eval.statistics import (
    Difference,
    Pairs,
    corrected,
    mean_over_tasks,
    over_tasks,
)
from milepost_lab.compare.cache import RANKED, Asked, ResultCache, Run

ALL = ""
"""In place of a task's name: the mean over tasks of text.

Tasks with the same queries (documents at several lengths) count as one task, whose figures are
averaged first: they are not independent evidence."""

USUAL = ("lmk", "mean")
"""Rows that the others are compared with unless another is asked for."""


@dataclass(frozen=True, slots=True)
class Apart:
    """The difference of two rows on the same queries and seeds.

    Attributes:
        difference: with its interval and corrected p.
        agreed: whether no seed has the opposite sign.
    """

    difference: Difference
    agreed: bool

    @property
    def figure(self) -> Figure:
        """For a table of shares."""
        one = self.difference
        return Figure(one.mean, one.low, one.high, "difference", one.adjusted)

    @property
    def sure(self) -> bool:
        """Whether the difference is significant and all seeds agree."""
        return self.figure.sure and self.agreed

    def __str__(self) -> str:
        return f"**{self.figure}**" if self.sure else str(self.figure)


class Found:
    """The runs of a cache, trained or untrained.

    Args:
        cache: of a comparison, which may have been stopped.
        trained: runs of the recipe, or those without training.
        against: the row that the others are compared with. None, or a row without runs: the first
            of ``USUAL`` that has runs, else the row that was run first.

    Attributes:
        tasks: names, in the order in which they were asked.
        rows: names, the highest mean first; those that lack a task of text come last.
        against: the row that is taken off the others; None where there is no other.
        runs: of this kind.

    Raises:
        InputError: there is none.
    """

    def __init__(
        self, cache: ResultCache, *, trained: bool = True, against: str | None = None
    ) -> None:
        self._asked = cache.asked
        self.runs = [run for run in cache.runs if run.trained == trained]
        if not self.runs:
            kind = "trained" if trained else "untrained"
            raise InputError(f"there is no {kind} run", "milepost lab compare --json FILE")
        self._cells: dict[tuple[str, str], dict[int, Run]] = {}
        for run in self.runs:
            self._cells.setdefault((run.row, run.task), {})[run.seed] = run
        self.tasks = [task for task in cache.asked if any(run.task == task for run in self.runs)]
        families: dict[tuple[object, ...], list[str]] = {}
        for task in self.tasks:
            asked = cache.asked[task]
            if asked.metric == RANKED:
                # Names alone do not tell: the questions of many collections are q0, q1 and so on.
                same = (asked.training, asked.names, asked.clusters)
                families.setdefault(same, []).append(task)
        self._families = list(families.values()) or [[task] for task in self.tasks]
        named = list(dict.fromkeys(run.row for run in self.runs))
        chosen = next(row for row in (against, *USUAL, named[0]) if row in named)
        self.against = chosen if len(named) > 1 else None
        self.rows = sorted(named, key=lambda row: (self.lacks(row), -self._rough(row)))

    def asked(self, task: str) -> Asked:
        """A task as it was measured."""
        return self._asked[task]

    def lacks(self, row: str) -> int:
        """How many tasks of text a row was not measured on."""
        return sum((row, task) not in self._cells for each in self._families for task in each)

    def _rough(self, row: str) -> float:
        """The mean over whatever a row was measured on."""
        if not self.lacks(row):
            return self.score(row)
        return fmean(self.score(row, task) for task in self.tasks if self.of(row, task))

    def _tasks(self, task: str) -> list[list[str]]:
        return self._families if task == ALL else [[task]]

    def of(self, row: str, task: str) -> dict[int, Run]:
        """A row's runs of a task, by seed; none where it was not measured."""
        return self._cells.get((row, task), {})

    def any(self, row: str) -> Run:
        """One run of a row: what does not hang on task and seed."""
        runs = [run for run in self.runs if run.row == row]
        return next((run for run in runs if run.reads), runs[0])

    def score(self, row: str, task: str = ALL) -> float:
        """The mean of seeds and queries, of tasks where none is named."""
        return fmean(fmean(self._values(row, each)) for each in self._tasks(task))

    def _values(
        self, row: str, tasks: Sequence[str], seeds: Iterable[int] | None = None
    ) -> list[float]:
        """Each query's mean of the seeds and of tasks that ask the same."""
        figures = [
            self._cells[row, task][seed].figures[self._asked[task].metric]
            for task in tasks
            for seed in (self._cells[row, task] if seeds is None else seeds)
        ]
        return [fmean(each) for each in zip(*figures, strict=True)]

    def mean(self, row: str, task: str = ALL) -> Figure | None:
        """A row's mean with its interval; None where it was not measured on all of it."""
        tasks = self._tasks(task)
        if any((row, one) not in self._cells for each in tasks for one in each):
            return None
        values = {
            each[0]: (self._values(row, each), self._asked[each[0]].clusters) for each in tasks
        }
        return Figure(*mean_over_tasks(values))

    def seeds(self, row: str, task: str) -> list[float]:
        """The mean of each seed."""
        return [fmean(self._values(row, [task], [seed])) for seed in self.of(row, task)]

    def apart(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Apart]:
        """Rows less ``against``, on the seeds that both have, corrected for each other.

        Args:
            pairs: row and task, ``ALL`` for the mean over tasks; those not measured are left out.
        """
        other = self.against
        if other is None:
            return {}
        found: dict[str, tuple[tuple[str, str], Difference, bool]] = {}
        for row, task in pairs:
            tasks = self._tasks(task)
            both = set.intersection(
                *(
                    set(self.of(name, one))
                    for name in (row, other)
                    for each in tasks
                    for one in each
                )
            )
            if row == other or not both:
                continue
            one = over_tasks(self._beside(row, other, tasks, sorted(both)))
            seeds = [self._beside(row, other, tasks, [seed]) for seed in both]
            less = [fmean(fmean(a) - fmean(b) for a, b, _ in each.values()) for each in seeds]
            agreed = all(seed * one.mean >= 0 for seed in less)
            found[str(len(found))] = (row, task), one, agreed
        fixed = corrected({name: one for name, (_, one, _) in found.items()})
        return {place: Apart(fixed[name], agreed) for name, (place, _, agreed) in found.items()}

    def _beside(
        self, row: str, other: str, tasks: Sequence[Sequence[str]], seeds: Sequence[int]
    ) -> dict[str, Pairs]:
        """Both rows' figures, a task a family."""
        return {
            each[0]: (
                self._values(row, each, seeds),
                self._values(other, each, seeds),
                self._asked[each[0]].clusters,
            )
            for each in tasks
        }
