"""Two runs, or the systems of one run, question by question: differences with their intervals.

In:  records (``records.py``), matched by ``pairing.py``.
Out: differences per task and over tasks, and what could not be compared. It reads no file and
     prints nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from milepost.errors import InputError, nearest
from milepost_eval.pairing import Matched, Pair, in_words, pairs
from milepost_eval.probabilities import ERRORS, OF_PROBABILITIES
from milepost_eval.records import Record, budgets, usual_metric
from milepost_eval.statistics import Difference, corrected, difference, over_tasks, wilcoxon

DECIDES = 6
"""Documents under which no difference is called better or worse."""


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """The difference of two systems on one task.

    Attributes:
        a: first system.
        b: second system.
        task: the task.
        setting: the setting.
        split: the split.
        mean_a: the first system's mean over the common questions.
        mean_b: the second's.
        difference: first minus second; its p is corrected over the tasks of the ``Overall``.
        kinds: kind of question → the difference on its questions, corrected over the kinds; empty
            if the task has no kinds.
        only_a: questions that only the first was asked.
        only_b: questions that only the second was asked.
        documents: size of each collection; in the collection setting the larger one is harder, so
            different sizes explain a part of the difference.
    """

    a: str
    b: str
    task: str
    setting: str
    split: str
    mean_a: float
    mean_b: float
    difference: Difference
    kinds: Mapping[str, Difference]
    only_a: int
    only_b: int
    documents: tuple[int, int]

    @property
    def adjusted(self) -> float:
        """The difference's p after Holm's correction."""
        return self.difference.adjusted


@dataclass(frozen=True, slots=True)
class Overall:
    """The difference of two systems over tasks, all of the same weight.

    Attributes:
        a: first system.
        b: second system.
        setting: the setting.
        split: the split.
        rows: one per task.
        mean_a: the first system's mean over tasks.
        mean_b: the second's.
        difference: first minus second; its p is not corrected over rivals.
        wilcoxon: p of the signed ranks of the tasks' differences, at least
            ``statistics.smallest_p(len(rows))``.
    """

    a: str
    b: str
    setting: str
    split: str
    rows: tuple[TaskDifference, ...]
    mean_a: float
    mean_b: float
    difference: Difference
    wilcoxon: float

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks."""
        return tuple(row.task for row in self.rows)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences in one metric.

    Attributes:
        metric: its name.
        overall: one per setting, split and pair of systems.
        alone_a: what only the first file contains, see ``Matched``.
        alone_b: what only the second file contains.
        unmeasured: pairs in which one or both lack the metric, in the same words.
    """

    metric: str
    overall: tuple[Overall, ...]
    alone_a: tuple[str, ...]
    alone_b: tuple[str, ...]
    unmeasured: tuple[str, ...]

    @property
    def rows(self) -> tuple[TaskDifference, ...]:
        """One per task, setting, split and pair of systems."""
        return tuple(row for overall in self.overall for row in overall.rows)


def compare(a: Sequence[Record], b: Sequence[Record], metric: str | None = None) -> Comparison:
    """The first file's systems minus the second's.

    Args:
        a: the first file.
        b: the second file.
        metric: in which they are compared; None for the default one of both files.

    Raises:
        InputError: the metric is not in both files, or cannot be had of the common questions alone;
            the files have no budget in common, or there is nothing to compare, see ``pairs``.
        MissingExtra: SciPy is not installed.
    """
    matched = pairs(a, b)
    both = _named(pair.metrics for pair in matched.pairs)
    if metric is None:
        metric = _usual(matched, both)
    _check_metric(metric, both, ", in both files")
    for pair in matched.pairs if metric in OF_PROBABILITIES else ():
        if pair.only_a or pair.only_b:
            raise InputError(
                f"{metric} is of all questions together, and the files asked different ones of "
                f"{pair.a.task}: {pair.only_a:,} only in the first, {pair.only_b:,} in the second",
                "milepost eval run with the same questions, or another --metric",
            )
    return _comparison(metric, matched)


def verdict(metric: str, found: Difference) -> str:
    """Whether the first is ``better`` or ``worse``; "" where that is not decided.

    An interval clear of 0 and a corrected p under 0.05 decide, if the questions are about six
    documents at least.
    """
    clear = found.low > 0 or found.high < 0
    if not clear or found.adjusted >= 0.05 or found.clusters < DECIDES:
        return ""
    return "better" if (found.mean > 0) != (metric in ERRORS) else "worse"


def _usual(matched: Matched, both: set[str]) -> str:
    """The default metric of both files, which needs a common budget if they have budgets."""
    first = budgets(_named(pair.a.per_question.figures for pair in matched.pairs))
    second = budgets(_named(pair.b.per_question.figures for pair in matched.pairs))
    if first and second and not budgets(both):
        raise InputError(
            f"the first file has the budgets {_listed(first)}, the second {_listed(second)}: "
            "no budget is in both",
            "milepost eval run with the same --budgets"
            + (f", or --metric {min(both)}" if both else ""),
        )
    return usual_metric(both)


def _comparison(metric: str, matched: Matched) -> Comparison:
    """Rows and overall figures of matched pairs."""
    groups: dict[tuple[str, str, str, str], list[Pair]] = defaultdict(list)
    unmeasured: list[str] = []
    for pair in matched.pairs:
        if metric in pair.metrics:
            groups[pair.a.system, pair.b.system, pair.a.setting, pair.a.split].append(pair)
        else:
            unmeasured.append(in_words(pair.a))
    overall = [_overall(metric, group) for group in groups.values()]
    return Comparison(metric, tuple(overall), matched.alone_a, matched.alone_b, tuple(unmeasured))


def _overall(metric: str, group: Sequence[Pair]) -> Overall:
    """Two systems on the tasks of one setting and split."""
    figures = {pair.a.task: pair.figures(metric) for pair in group}
    differences = corrected({task: difference(*figures[task]) for task in figures})
    rows = tuple(_row(pair, metric, differences[pair.a.task]) for pair in group)
    first = group[0]
    return Overall(
        a=first.a.system,
        b=first.b.system,
        setting=first.a.setting,
        split=first.a.split,
        rows=rows,
        mean_a=fmean(row.mean_a for row in rows),
        mean_b=fmean(row.mean_b for row in rows),
        difference=over_tasks(figures),
        wilcoxon=wilcoxon([found.mean for found in differences.values()]),
    )


def _row(pair: Pair, metric: str, found: Difference) -> TaskDifference:
    first, second, _ = pair.figures(metric)
    return TaskDifference(
        a=pair.a.system,
        b=pair.b.system,
        task=pair.a.task,
        setting=pair.a.setting,
        split=pair.a.split,
        mean_a=fmean(first),
        mean_b=fmean(second),
        difference=found,
        kinds=corrected(
            {kind: difference(*pair.figures(metric, names)) for kind, names in pair.kinds.items()}
        ),
        only_a=pair.only_a,
        only_b=pair.only_b,
        documents=(pair.a.documents, pair.b.documents),
    )


def _check_metric(metric: str, known: set[str], where: str = "") -> None:
    if metric not in known:
        raise InputError(
            f"unknown metric {metric!r}",
            f"{nearest(metric, known)}one of {_listed(sorted(known))}{where}",
        )


def _named(measured: Iterable[Iterable[str]]) -> set[str]:
    return {name for names in measured for name in names}


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names)) or "none"
