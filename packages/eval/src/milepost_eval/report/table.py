"""One metric of every system and task as rows of text, best system first."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from milepost_eval.records import Record
from milepost_eval.report.arrange import Run, clean

MISSING = "–"
MEAN = "mean over tasks"

FEW = 8
"""Documents under which intervals by resampling documents are too narrow."""

_GAP = 2
"""Columns between two columns of a table: one of padding, one that the box leaves blank."""

_NAME_LEAST, _NAME_EASY = 12, 30
"""Columns that systems' names have at least, and those for which headers are folded."""


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


def percent(value: float) -> str:
    """A share in percent, as every figure of a report is written.

    >>> percent(0.7239)
    '72.4'
    """
    return f"{100 * value + 0.0:.1f}"


def with_interval(mean: float, low: float, high: float) -> str:
    """A share with its interval.

    >>> with_interval(0.724, 0.69, 0.756)
    '72.4 [69.0, 75.6]'
    """
    return f"{percent(mean)} [{percent(low)}, {percent(high)}]"


def rows(records: Iterable[Record], metric: str, setting: str) -> Table:
    """The table of a metric in a setting.

    Args:
        records: of one run.
        metric: such as ``recall@1600``.
        setting: ``document`` or ``collection``.

    Raises:
        InputError: no records, or none with this metric in this setting.
    """
    return of_run(Run(records), metric, setting)


def of_run(run: Run, metric: str, setting: str) -> Table:
    """See ``rows``."""
    run.check(metric, setting)
    tasks = run.tasks(metric, setting)
    detailed, narrow = [], []
    for system in run.systems(metric, setting):
        cells = [_cells(run.get(setting, task, system), metric) for task in tasks]
        mean = run.mean(system, metric, setting)
        last = with_interval(mean.mean, mean.low, mean.high) if mean else MISSING
        detailed.append((clean(system), *(cell for cell, _ in cells), last))
        narrow.append((clean(system), *(cell for _, cell in cells), last))
    return Table(
        title=f"{metric}, setting {setting}, in percent with 95 % intervals",
        headers=("system", *map(clean, tasks), MEAN),
        rows=tuple(detailed),
        narrow=tuple(narrow),
        notes=notes(run, metric, setting),
    )


def notes(run: Run, metric: str, setting: str) -> tuple[str, ...]:
    """What is missing from a table or limits what it says."""
    lacking: dict[str, list[str]] = {}
    for system, task in run.missing(metric, setting):
        lacking.setdefault(clean(system), []).append(clean(task))
    found = [
        f"{MISSING}: {system} was not measured on {', '.join(tasks)}, so it has no mean over tasks."
        for system, tasks in lacking.items()
    ]
    found += [
        f"Not all systems were asked the same questions of {clean(task)}; differences are of the "
        "questions that both were asked."
        for task in run.other_questions(metric, setting)
    ]
    for task in run.tasks(metric, setting):
        few = len(run.clusters(task, setting))
        if few < FEW:
            found.append(
                f"The questions of {clean(task)} are about {few} document{'s' * (few > 1)}: its "
                "intervals say little of other documents."
            )
        left = {record.left_out for record in run.records if record.task == task} - {0}
        if left:
            most = max(left)
            found.append(
                f"{most:,} questions of {clean(task)} were not asked (--questions, --documents)."
            )
    return tuple(found)


def as_text(table: Table, width: int | None) -> str:
    """The table for a terminal, in its detailed form where that fits the width.

    Args:
        table: what is shown.
        width: columns of the terminal; None where nothing limits them.
    """
    from rich.cells import cell_len

    whole = [max(map(cell_len, column)) for column in zip(table.headers, *table.rows, strict=True)]
    if width is None or sum(whole) + _GAP * (len(whole) - 1) <= width:
        return _printed(table, table.rows, whole)
    return _printed(table, table.narrow, _widths(table, width))


def _cells(record: Record | None, metric: str) -> tuple[str, str]:
    """The detailed and the narrow cell."""
    if record is None or metric not in record.metrics:
        return MISSING, MISSING
    mean = record.metrics[metric]
    if metric not in record.intervals:
        return percent(mean), percent(mean)
    return with_interval(mean, *record.intervals[metric]), percent(mean)


def _widths(table: Table, width: int) -> list[int]:
    """Columns of the narrow form: names and headers may be folded, figures may not.

    Headers give way first, then names; where that is not enough, the table is too wide.
    """
    from rich.cells import cell_len

    longest = max(cell_len(row[0]) for row in table.narrow)
    widths: list[int] = []
    for most in (16, 12, 10, 8, 6):
        figures = [
            max(min(most, cell_len(header)), *map(cell_len, column))
            for header, *column in zip(table.headers, *table.narrow, strict=True)
        ][1:]
        left = width - sum(figures) - _GAP * len(figures)
        widths = [max(_NAME_LEAST, min(longest, left)), *figures]
        if left >= min(longest, _NAME_EASY):
            break
    return widths


def _printed(table: Table, body: tuple[tuple[str, ...], ...], widths: list[int]) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for number, (header, columns) in enumerate(zip(table.headers, widths, strict=True)):
        justify: Literal["left", "right"] = "right" if number else "left"
        grid.add_column(Text(header), justify=justify, overflow="fold", width=columns)
    for row in body:
        grid.add_row(*map(Text, row))
    buffer = io.StringIO()
    out = Console(
        file=buffer,
        width=sum(widths) + _GAP * len(widths),
        color_system=None,
        force_terminal=False,
        legacy_windows=False,
        emoji=False,
    )
    out.print(Text(table.title))
    out.print(grid)
    for note in table.notes:
        out.print(Text(note))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"
