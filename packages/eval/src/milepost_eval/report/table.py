"""One metric of every system and task as a table: a row a system, best first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from milepost.errors import InputError, nearest
from milepost.wording import counted
from milepost_eval.cli.terminal import columns
from milepost_eval.probabilities import ERRORS
from milepost_eval.records import Record
from milepost_eval.statistics import mean_over_tasks

MISSING = "–"
MEAN = "mean over tasks"

FEW = 8
"""Documents under which intervals by resampling documents are too narrow."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as text.

    Attributes:
        title: what is shown, of which setting.
        headers: ``system``, the tasks, and the mean over tasks.
        rows: detailed cells ``72.4 [69.0, 75.6]``, one row a system, as many as headers.
        narrow: the same rows with intervals at the mean only.
        notes: what is missing or not to be compared, one sentence each.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    narrow: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


# Names come from files: control characters are no XML, and lone surrogates no UTF-8.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(name: str) -> str:
    """A name without characters that no drawing and no terminal can hold.

    >>> clean("a" + chr(7) + "b")
    'a�b'
    """
    return _UNPRINTABLE.sub("\ufffd", name)


def percent(value: float) -> str:
    """A share in percent, as every figure of a report is written.

    >>> percent(0.7239)
    '72.4'
    """
    return f"{100 * value + 0.0:.1f}"


def with_interval(mean: float, low: float, high: float) -> str:
    """A share with its interval, which some metrics can take beyond 0 or 1.

    >>> with_interval(0.724, 0.69, 0.756)
    '72.4 [69.0, 75.6]'
    """
    return f"{percent(mean)} [{percent(max(0.0, low))}, {percent(min(1.0, high))}]"


def rows(records: Iterable[Record], metric: str, setting: str) -> Table:
    """The table of a metric in a setting.

    Args:
        records: of one run: one of each system, task and setting, all of one split.
        metric: such as ``recall@1600``.
        setting: as records name it.

    Raises:
        InputError: no records, none with this metric in this setting, one of them twice, or records
            of two splits.
    """
    given = tuple(records)
    measured = by_task(given, metric, setting)
    tasks = list(dict.fromkeys(task for task, _ in measured))
    # Systems without the metric (that give no probabilities) are last, with no figure.
    order = dict.fromkeys(each.system for each in given if each.setting == setting)
    means = dict(ranked(measured, metric))
    detailed, narrow = [], []
    for system in means | order:
        mean = means.get(system)
        last = with_interval(*mean) if mean else MISSING
        found = [cells(measured.get((task, system)), metric) for task in tasks]
        detailed.append((clean(system), *(cell for cell, _ in found), last))
        narrow.append((clean(system), *(cell for _, cell in found), last))
    return Table(
        title=f"{metric}, setting {setting}, in percent with 95 % intervals",
        headers=("system", *map(clean, tasks), MEAN),
        rows=tuple(detailed),
        narrow=tuple(narrow),
        notes=tuple(_notes(measured, tasks)),
    )


def ranked(
    measured: dict[tuple[str, str], Record], metric: str
) -> list[tuple[str, tuple[float, float, float] | None]]:
    """Systems with their mean over tasks and its interval, best first.

    Those that miss a task have no mean and are last: theirs would be of easier or harder questions.
    """
    tasks = {task for task, _ in measured}
    found: dict[str, dict[str, Record]] = {}
    for (task, system), record in measured.items():
        found.setdefault(system, {})[task] = record
    better = 1 if metric in ERRORS else -1
    order = sorted(
        found,
        key=lambda name: (
            len(found[name]) < len(tasks),
            better * fmean(record.metrics[metric] for record in found[name].values()),
        ),
    )
    return [
        (
            system,
            mean_over_tasks(
                {task: record.per_question.known(metric) for task, record in found[system].items()}
            )
            if len(found[system]) == len(tasks)
            else None,
        )
        for system in order
    ]


def by_task(records: Sequence[Record], metric: str, setting: str) -> dict[tuple[str, str], Record]:
    """Task and system → the record that has the metric in the setting."""
    if not records:
        raise InputError("no records to report", "milepost eval run")
    splits = sorted({record.split for record in records})
    if len(splits) > 1:
        raise InputError(f"records of several splits: {', '.join(splits)}", "records of one split")
    settings = dict.fromkeys(record.setting for record in records)
    if setting not in settings:
        raise InputError(
            f"nothing was measured in the setting {setting!r}", f"one of {', '.join(settings)}"
        )
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        if record.setting != setting or metric not in record.metrics:
            continue
        if (record.task, record.system) in found:
            raise InputError(
                f"two records of {record.system} on {record.task} ({setting})",
                "the records of one run",
            )
        found[record.task, record.system] = record
    if not found:
        known = list(dict.fromkeys(name for record in records for name in record.metrics))
        raise InputError(
            f"no {metric!r} in the setting {setting!r}",
            f"{nearest(metric, known)}one of {', '.join(known)}",
        )
    return found


def _notes(measured: dict[tuple[str, str], Record], tasks: Sequence[str]) -> Iterable[str]:
    """What is missing from a table or limits what it says."""
    for system in dict.fromkeys(system for _, system in measured):
        lacking = [clean(task) for task in tasks if (task, system) not in measured]
        if lacking:
            yield (
                f"{MISSING}: {clean(system)} was not measured on {', '.join(lacking)}, "
                "so it has no mean over tasks."
            )
    for task in tasks:
        name = clean(task)
        of_task = [record for (each, _), record in measured.items() if each == task]
        if len({frozenset(record.per_question.names) for record in of_task}) > 1:
            yield (
                f"Not all systems were asked the same questions of {name}; differences are of the "
                "questions that both were asked."
            )
        few = len({owner for record in of_task for owner in record.per_question.documents})
        if few < FEW:
            yield (
                f"The questions of {name} are about {counted(few, 'document')}: its "
                "intervals say little of other documents."
            )
        left = max(record.left_out for record in of_task)
        if left:
            yield f"Not asked of {name}: {counted(left, 'question')} (--questions, --documents)."


def as_text(table: Table, width: int | None) -> str:
    """The table for a terminal, in its detailed form where that fits the width.

    Args:
        table: what is shown.
        width: columns of the terminal; None where nothing limits them.
    """
    lines = list(columns(table.headers, table.rows))
    if width is not None and max(map(len, lines)) > width:
        lines = list(columns(table.headers, table.narrow))
    return "\n".join([table.title, "", *lines, *(["", *table.notes] if table.notes else []), ""])


def cells(record: Record | None, metric: str) -> tuple[str, str]:
    """The detailed and the narrow cell."""
    if record is None or metric not in record.metrics:
        return MISSING, MISSING
    mean = record.metrics[metric]
    if metric not in record.intervals:
        return percent(mean), percent(mean)
    return with_interval(mean, *record.intervals[metric]), percent(mean)
