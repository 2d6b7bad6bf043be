"""A book of runs as tables: the ranking, each row against landmarks, lengths, seeds, cost.

Figures of a query are the mean of its seeds. Intervals resample documents, p-values flip them and
are corrected for all differences of a table (``evaluate/statistics.py``). A difference is **sure**
where both leave no doubt and no seed says the opposite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from milepost.errors import InputError
from milepost.evaluate.experiments.outcome import Cell, Figure, Outcome
from milepost.evaluate.statistics import Difference, corrected, mean_over_tasks, over_tasks
from milepost.lab.compare.book import Book, Run
from milepost.lab.compare.material import LENGTHS

OURS = "lmk"
"""What everything is compared with: landmark pooling, as the product does it."""

METRIC = "ndcg@10"
ALL = ""
"""In the place of a task's name: the mean over tasks."""


@dataclass(frozen=True, slots=True)
class Apart:
    """A row less another on the same queries and seeds.

    Attributes:
        difference: with its interval and corrected p.
        agreed: no seed says the opposite.
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
        """Whether it may be believed."""
        return self.figure.sure and self.agreed

    def __str__(self) -> str:
        return f"**{self.figure}**" if self.sure else str(self.figure)


class Found:
    """The runs of a book, of one kind.

    Args:
        book: of a comparison, which may have been stopped.
        trained: runs of the recipe, or those without training.

    Attributes:
        tasks: names, in the order in which they were asked.
        rows: names, the highest mean over tasks first; those that lack a task come last.
        runs: of this kind.

    Raises:
        InputError: there is none.
    """

    def __init__(self, book: Book, *, trained: bool = True) -> None:
        self._asked = book.asked
        self.runs = [run for run in book.runs if run.trained == trained]
        if not self.runs:
            kind = "trained" if trained else "untrained"
            raise InputError(
                f"there is no {kind} run", "make one: milepost lab compare --json FILE"
            )
        self._cells: dict[tuple[str, str], dict[int, Run]] = {}
        for run in self.runs:
            self._cells.setdefault((run.row, run.task), {})[run.seed] = run
        self.tasks = [task for task in book.asked if any(run.task == task for run in self.runs)]
        named = dict.fromkeys(run.row for run in self.runs)
        self.rows = sorted(named, key=lambda row: (-len(self._tasks(row)), -self.score(row)))

    def _tasks(self, row: str) -> list[str]:
        return [task for task in self.tasks if (row, task) in self._cells]

    def of(self, row: str, task: str) -> dict[int, Run]:
        """A row's runs of a task, by seed; none where it was not measured."""
        return self._cells.get((row, task), {})

    def any(self, row: str) -> Run:
        """One run of a row: what does not hang on task and seed."""
        return next(run for run in self.runs if run.row == row)

    def score(self, row: str, task: str = ALL) -> float:
        """The mean of seeds and queries, of tasks where none is named."""
        tasks = self._tasks(row) if task == ALL else [task]
        return fmean(fmean(self._values(row, each)) for each in tasks)

    def _values(self, row: str, task: str, seeds: Iterable[int] | None = None) -> list[float]:
        """Each query's mean of the seeds."""
        runs = self._cells[row, task]
        figures = [runs[seed].figures[METRIC] for seed in (runs if seeds is None else seeds)]
        return [fmean(each) for each in zip(*figures, strict=True)]

    def _clusters(self, task: str) -> Sequence[str]:
        return self._asked[task].clusters

    def mean(self, row: str, task: str = ALL) -> Figure | None:
        """A row's mean with its interval; None where it lacks the task, or any of them."""
        tasks = self.tasks if task == ALL else [task]
        if any((row, each) not in self._cells for each in tasks):
            return None
        values = {each: (self._values(row, each), self._clusters(each)) for each in tasks}
        return Figure(*mean_over_tasks(values))

    def seeds(self, row: str, task: str) -> list[float]:
        """The mean of each seed."""
        return [fmean(run.figures[METRIC]) for run in self.of(row, task).values()]

    def apart(self, pairs: Iterable[tuple[str, str]], other: str) -> dict[tuple[str, str], Apart]:
        """Rows less another one, on the seeds that both have, corrected for each other.

        Args:
            pairs: row and task, ``ALL`` for the mean over tasks; those not measured are left out.
            other: the row that is taken off.
        """
        found: dict[tuple[str, str], tuple[Difference, bool]] = {}
        for row, task in pairs:
            tasks = self.tasks if task == ALL else [task]
            both = [set(self.of(row, each)) & set(self.of(other, each)) for each in tasks]
            if row == other or not all(both):
                continue
            cut = {
                each: (
                    self._values(row, each, sorted(seeds)),
                    self._values(other, each, sorted(seeds)),
                    self._clusters(each),
                )
                for each, seeds in zip(tasks, both, strict=True)
            }
            one = over_tasks(cut)
            signs = [
                fmean(
                    fmean(self.of(row, each)[seed].figures[METRIC])
                    - fmean(self.of(other, each)[seed].figures[METRIC])
                    for each in tasks
                )
                for seed in sorted(set.intersection(*both))
            ]
            found[row, task] = one, all(sign * one.mean >= 0 for sign in signs)
        names = {f"{row}\n{task}": one for (row, task), (one, _) in found.items()}
        fixed = corrected(names)
        return {
            (row, task): Apart(fixed[f"{row}\n{task}"], agreed)
            for (row, task), (_, agreed) in found.items()
        }


def tables(found: Found) -> list[Outcome]:
    """All tables for which there are figures."""
    made = [ranking(found)]
    if OURS in found.rows and len(found.rows) > 1:
        made.append(against(found))
    if len(_lengths(found)) > 1:
        made.append(by_length(found))
    return [*made, by_seed(found), cost(found)]


def ranking(found: Found) -> Outcome:
    """Every row, the best first."""
    apart = found.apart([(row, ALL) for row in found.rows], OURS)
    rows: list[tuple[Cell, ...]] = []
    for place, row in enumerate(found.rows, 1):
        run = found.any(row)
        one = apart.get((row, ALL))
        rows.append(
            (
                place,
                row,
                run.reads + (", query" if run.asks else ""),
                *(found.mean(row, task) for task in found.tasks),
                found.mean(row),
                str(one) if one else None,
            )
        )
    sure = [row for (row, _), one in apart.items() if one.sure and one.difference.mean > 0]
    note = (
        f"nDCG@10 in per cent, 95 % intervals over documents. *{OURS}*: the row less {OURS}, mean "
        "over tasks, in bold where it is sure. Places next to each other are seldom surely "
        f"different. Surely ahead of {OURS}: {', '.join(sure) or 'none'}."
    )
    columns = ("place", "pooling", "reads", *found.tasks, "mean", f"less {OURS}")
    return Outcome(columns, tuple(rows), note, (), "Ranking", "Which pooling finds most?")


def against(found: Found) -> Outcome:
    """Each row less landmarks, task by task."""
    pairs = [(row, task) for row in found.rows for task in found.tasks]
    apart = found.apart(pairs, OURS)
    rows = tuple(
        (row, *(str(apart[row, task]) if (row, task) in apart else None for task in found.tasks))
        for row in found.rows
        if row != OURS
    )
    told: dict[str, list[str]] = {"Surely better": [], "Surely worse": []}
    for (row, task), one in apart.items():
        if one.sure:
            told["Surely better" if one.difference.mean > 0 else "Surely worse"].append(
                f"- {row}, {task}: {one.figure} points"
            )
    lists = [
        f"{how} than {OURS}:\n\n" + "\n".join(some or ["- none"]) for how, some in told.items()
    ]
    note = (
        f"{len(apart)} differences, p corrected for all of them; "
        f"{len(apart) - sum(map(len, told.values()))} cannot be told from chance.\n\n"
        + "\n\n".join(lists)
    )
    question = f"By how many points does a row lead {OURS} on a task?"
    return Outcome(("pooling", *found.tasks), rows, note, (), f"Against {OURS}", question)


def _lengths(found: Found) -> list[str]:
    return [task for task in found.tasks if task in LENGTHS]


def by_length(found: Found) -> Outcome:
    """The same documents and questions at each length, and what the longest costs."""
    tasks = _lengths(found)
    whole = [row for row in found.rows if all(found.of(row, task) for task in tasks)]
    places: dict[str, list[str]] = {
        task: [row for _, row in sorted((-found.score(row, task), row) for row in whole)]
        for task in tasks
    }

    def cells(row: str) -> Iterator[str]:
        yield row
        for task in tasks:
            yield f"{places[task].index(row) + 1}: {100 * found.score(row, task):.1f}"
        yield f"{100 * (found.score(row, tasks[-1]) - found.score(row, tasks[0])):+.1f}"

    rows = tuple(tuple(cells(row)) for row in places[tasks[-1]])
    said = [
        f"{task}: {places[task].index(OURS) + 1} of {len(whole)}" for task in tasks if OURS in whole
    ]
    note = "Place and nDCG@10." + (f" {OURS}'s place: {'; '.join(said)}." if said else "")
    columns = ("pooling", *tasks, f"{tasks[-1]} less {tasks[0]}")
    question = "What does the length of a document cost?"
    return Outcome(columns, rows, note, (), "By length", question)


def by_seed(found: Found) -> Outcome:
    """Each seed alone: how much of a difference may be chance of training."""
    rows = tuple(
        (
            row,
            *(
                " / ".join(f"{100 * seed:.1f}" for seed in found.seeds(row, task)) or None
                for task in found.tasks
            ),
        )
        for row in found.rows
    )
    numbers = sorted({run.seed for run in found.runs})
    note = f"Seeds {', '.join(map(str, numbers))}."
    question = "How far are the seeds apart?"
    return Outcome(("pooling", *found.tasks), rows, note, (), "Each seed alone", question)


def cost(found: Found) -> Outcome:
    """Parameters, widths and seconds."""
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows:
        run = found.any(row)
        runs = [one for one in found.runs if one.row == row]
        trained = dict.fromkeys((one.seed, one.seconds[0]) for one in runs)
        scored = [[one.seconds[1] for one in found.of(row, task).values()] for task in found.tasks]
        rows.append(
            (
                row,
                run.parameters,
                run.width,
                f"{fmean(seconds for _, seconds in trained):.1f}",
                *(f"{fmean(seconds):.1f}" if seconds else None for seconds in scored),
            )
        )
    seconds = sum({(r.row, r.seed, r.seconds[0]): r.seconds[0] for r in found.runs}.values())
    seconds += sum(run.seconds[1] for run in found.runs)
    note = (
        "Parameters of the pooling, without the head. Seconds of one training, and of pooling and "
        f"scoring a task; reading is not counted. All runs together: {seconds / 60:.0f} minutes."
    )
    columns = ("pooling", "parameters", "width", "training, s", *(f"{t}, s" for t in found.tasks))
    return Outcome(columns, tuple(rows), note, (), "Cost", "What does a pooling cost?")
