"""An outcome's panels as one SVG: means with intervals, the same bytes for the same figures."""

from __future__ import annotations

import io
from math import ceil
from typing import Any

from milepost._optional import require
from milepost_eval.report.outcome import Figure, Outcome, Panel

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Distinguishable with colour blindness (Okabe and Ito 2008)."""

_MARKERS = "osD^vPX"


def plot(outcome: Outcome) -> str:
    """All panels side by side.

    Returns:
        An SVG file.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    matplotlib = require("matplotlib", extra="eval")
    figures = require("matplotlib.figure", extra="eval")
    settings = {"svg.hashsalt": outcome.name, "svg.fonttype": "none", "font.size": 9.0}
    with matplotlib.rc_context(settings):
        count = max(1, len(outcome.panels))
        drawn = figures.Figure(figsize=(5.2 * count, 3.6), layout="constrained")
        for number, panel in enumerate(outcome.panels, 1):
            _draw(drawn.add_subplot(1, count, number), panel)
        file = io.BytesIO()
        # Without a date the file changes only when the figures do.
        drawn.savefig(file, format="svg", metadata={"Date": None, "Title": outcome.question})
    return file.getvalue().decode("utf-8")


def _draw(axes: Any, panel: Panel) -> None:
    spread = 0.6 / max(1, len(panel.series)) if not panel.ordered else 0.06
    for number, series in enumerate(panel.series):
        aside = (number - (len(panel.series) - 1) / 2) * spread
        known = [(at + aside, f) for at, f in enumerate(series.figures) if f is not None]
        axes.errorbar(
            [at for at, _ in known],
            [_scaled(figure, figure.mean) for _, figure in known],
            yerr=[
                # An interval by resampling need not hold the mean.
                [max(0.0, _scaled(f, f.mean - f.low)) for _, f in known],
                [max(0.0, _scaled(f, f.high - f.mean)) for _, f in known],
            ],
            label=series.name,
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4,
            linewidth=1.2,
            linestyle="-" if panel.ordered else "none",
            capsize=2,
        )
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    axes.set_xticks(range(len(panel.ticks)), panel.ticks)
    if sum(map(len, panel.ticks)) > 60:
        axes.tick_params(axis="x", labelrotation=30)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    names = [series.name for series in panel.series] if len(panel.series) > 1 else []
    columns = 4 if max(map(len, names), default=0) <= 16 else 2
    axes.set_title(panel.title, fontsize=10.0, pad=6.0 + 16.0 * ceil(len(names) / columns))
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


def _scaled(figure: Figure, value: float) -> float:
    return value if figure.kind == "number" else 100.0 * value
