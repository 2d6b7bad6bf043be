"""The plot of a run: how much evidence each of the best systems finds at each budget."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.errors import InputError
from milepost_eval.records import Record, budgets
from milepost_eval.report.outcome import Figure, Outcome, Panel, Series
from milepost_eval.report.outcome_plot import plot
from milepost_eval.report.table import by_task, clean, ranked

SHOWN = 6
"""Systems that are drawn, ours among them: more lines hide each other."""


def budget_plot(records: Sequence[Record], ours: str) -> str:
    """Share of the evidence found against characters returned, mean over tasks, as SVG.

    A panel a setting. Drawn are ours and the systems that find most at the middle budget; one that
    misses a task has no mean over tasks and is not drawn.

    Args:
        records: of one run.
        ours: the system that is drawn first.

    Raises:
        InputError: no records, or none with evidence found at a budget.
        MissingExtra: matplotlib is not installed.
    """
    at = budgets(name for record in records for name in record.metrics)
    if not at:
        raise InputError("no record has recall at a budget to draw", "tasks with marked evidence")
    middle = at[len(at) // 2]
    panels = []
    for setting in dict.fromkeys(record.setting for record in records):
        found = {
            budget: dict(ranked(by_task(records, f"recall@{budget}", setting), f"recall@{budget}"))
            for budget in at
        }
        best = [name for name, mean in found[middle].items() if mean is not None]
        shown = sorted(best, key=lambda name: name != ours)[:SHOWN]
        series = tuple(
            Series(
                clean(name),
                tuple(Figure(*mean) if (mean := found[b].get(name)) else None for b in at),
            )
            for name in shown
        )
        panels.append(
            Panel(
                title=f"setting {clean(setting)}, mean over tasks",
                across="characters returned",
                up="evidence found, %",
                ticks=tuple(f"{budget:,}" for budget in at),
                series=series,
            )
        )
    return plot(Outcome((), (), "", tuple(panels), "budgets", "Evidence found at each budget"))
