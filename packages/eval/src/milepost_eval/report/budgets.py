"""The plot of a run: how much evidence each of the best systems finds at each budget."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from milepost._optional import require
from milepost.errors import InputError
from milepost_eval.records import Record, budgets
from milepost_eval.report.table import by_task, clean, ranked

SHOWN = 6
"""Systems that are drawn, ours among them: more lines hide each other."""

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Distinguishable with colour blindness (Okabe and Ito 2008)."""

_MARKERS = "osD^vP"

_Means = Mapping[str, tuple[float, float, float] | None]
"""System → mean over tasks with its interval."""


def budget_plot(records: Sequence[Record], ours: str) -> str:
    """Share of the evidence found against characters returned, mean over tasks, as SVG.

    A panel a setting. Drawn are ours and the systems that find most at the middle budget; one that
    misses a task has no mean over tasks and is not drawn. The same records give the same bytes.

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
    matplotlib = require("matplotlib", extra="eval")
    figures = require("matplotlib.figure", extra="eval")
    settings = {"svg.hashsalt": "budgets", "svg.fonttype": "none", "font.size": 9.0}
    panels = list(dict.fromkeys(record.setting for record in records))
    with matplotlib.rc_context(settings):
        drawn = figures.Figure(figsize=(5.2 * len(panels), 3.6), layout="constrained")
        for number, setting in enumerate(panels, 1):
            axes = drawn.add_subplot(1, len(panels), number)
            means = {
                budget: dict(
                    ranked(by_task(records, f"recall@{budget}", setting), f"recall@{budget}")
                )
                for budget in at
            }
            _draw(axes, means, ours, f"setting {clean(setting)}, mean over tasks")
        file = io.BytesIO()
        # Without a date the file changes only when the figures do.
        title = "Evidence found at each budget"
        drawn.savefig(file, format="svg", metadata={"Date": None, "Title": title})
    return file.getvalue().decode("utf-8")


def _draw(axes: Any, means: Mapping[int, _Means], ours: str, title: str) -> None:
    """One setting: a line a system over the budgets."""
    at = list(means)
    best = [name for name, mean in means[at[len(at) // 2]].items() if mean is not None]
    shown = sorted(best, key=lambda name: name != ours)[:SHOWN]
    for number, name in enumerate(shown):
        aside = (number - (len(shown) - 1) / 2) * 0.06
        found = [(place + aside, means[budget].get(name)) for place, budget in enumerate(at)]
        known = [(x, [100.0 * value for value in mean]) for x, mean in found if mean is not None]
        axes.errorbar(
            [x for x, _ in known],
            [mean for _, (mean, _, _) in known],
            yerr=[
                # An interval by resampling need not hold the mean.
                [max(0.0, mean - low) for _, (mean, low, _) in known],
                [max(0.0, high - mean) for _, (mean, _, high) in known],
            ],
            label=clean(name),
            color=_COLOURS[number],
            marker=_MARKERS[number],
            markersize=4,
            linewidth=1.2,
            capsize=2,
        )
    axes.set_xlabel("characters returned")
    axes.set_ylabel("evidence found, %")
    axes.set_xticks(range(len(at)), [f"{budget:,}" for budget in at])
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    names = list(map(clean, shown)) if len(shown) > 1 else []
    columns = 4 if max(map(len, names), default=0) <= 16 else 2
    axes.set_title(title, fontsize=10.0, pad=6.0 + 16.0 * ceil(len(names) / columns))
    if names:  # between title and plot, where no figure is
        axes.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=columns,
            frameon=False,
            fontsize=8.0,
            columnspacing=1.0,
            handletextpad=0.3,
        )
