"""The plots of a run: what each shows, in panels that a page lays out and a file joins."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Literal

from milepost.writing import write_text
from milepost_eval.compare import Overall
from milepost_eval.records import Record
from milepost_eval.report.arrange import SETTING_NAMES, Run, clean
from milepost_eval.report.drawing import (
    OTHERS,
    OURS,
    REST,
    Axis,
    Line,
    Span,
    Style,
    draw_lines,
    draw_spans,
    figure,
    legend_handle,
    settings,
    shorten,
    svg,
)
from milepost_eval.report.series import LEAST_DOCUMENTS, Point, by_length, by_position
from milepost_eval.report.table import MEAN
from milepost_eval.report.verdict import comparisons
from milepost_eval.statistics import Difference

BANDED = 2
"""Systems whose curves have bands, ours and its best rival: more bands hide each other."""

CURVES = 3
"""Systems in the plots of position and length."""

_BANDS = f"Bands are 95 % intervals, of the first {BANDED} systems named"
_FEW = f"{_BANDS}; a group of fewer than {LEAST_DOCUMENTS} documents has none."

_PANEL = (4.4, 3.0)
_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes: its title, its height in inches, and what draws it.

    ``side`` is where the title is aligned: over long labels of rows it starts above them.
    """

    title: str
    height: float
    draw: Callable[[Any], None]
    side: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Plot:
    """Panels that show one thing.

    Attributes:
        key: short, for file names.
        title: what is shown.
        caption: how to read it.
        legend: name of each style; the last may mean all others.
        panels: one a task or rival.
    """

    key: str
    title: str
    caption: str
    legend: tuple[tuple[str, Style], ...]
    panels: tuple[Panel, ...]


def plots(
    run: Run, ours: str, metric: str, setting: str, compared: Sequence[Overall]
) -> list[Plot]:
    """All plots of a setting for which there are figures.

    Args:
        run: what was measured.
        ours: the highlighted system.
        metric: of the plots that show one.
        setting: of the records.
        compared: ours with its rivals in this metric and setting.
    """
    made = [
        _budgets(run, ours, setting),
        _curves(run, ours, metric, setting, _POSITION),
        _curves(run, ours, metric, setting, _LENGTH),
        _differences(ours, metric, compared),
        _kinds(ours, metric, compared),
    ]
    return [plot for plot in made if plot.panels]


def write_plots(records: Iterable[Record], folder: Path, ours: str) -> list[Path]:
    """Write each plot as an SVG file named ``SETTING-KEY.svg``.

    Raises:
        InputError: no records, none of ours, or a folder that cannot be written.
        MissingExtra: matplotlib is not installed.
    """
    run = Run(records)
    run.check_system(ours)
    written = []
    with settings():
        for setting in run.settings:
            metric = run.headline(setting)
            if metric is None:
                continue
            found = comparisons(run, ours, metric, setting)
            for plot in plots(run, ours, metric, setting, found):
                # Settings are read from files: a name with a slash leads to no other folder.
                path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', setting)}-{plot.key}.svg"
                write_text(path, _joined(plot, SETTING_NAMES.get(setting, clean(setting))))
                written.append(path)
    return written


def drawn(panel: Panel, prefix: str, alt: str) -> str:
    """One panel as SVG for a page; call it inside ``settings()``."""
    made = figure(_PANEL[0], panel.height)
    axes = made.subplots()
    panel.draw(axes)
    axes.set_title(panel.title, loc=panel.side)
    return svg(made, prefix, alt=alt)


def _joined(plot: Plot, subtitle: str) -> str:
    """All panels of a plot in one drawing, under its title, subtitle and caption."""
    columns = min(_COLUMNS, len(plot.panels))
    rows = ceil(len(plot.panels) / columns)
    height = max(panel.height for panel in plot.panels)
    under = 0.3 * ceil(len(plot.legend) / columns) + 0.1
    words = [
        line
        for part in (plot.title, subtitle, plot.caption)
        for line in textwrap.wrap(part, 56 * columns)
    ]
    made = figure(_PANEL[0] * columns, height * rows + 0.18 * len(words) + 0.2 + under)
    grid = made.subplots(rows, columns, squeeze=False).flat
    for axes, panel in zip(grid, plot.panels, strict=False):
        panel.draw(axes)
        axes.set_title(panel.title, loc=panel.side)
    for axes in grid[len(plot.panels) :]:
        axes.axis("off")
    made.suptitle("\n".join(words), fontsize=10, x=0.01, ha="left")
    if plot.legend:
        made.legend(
            [legend_handle(style) for _, style in plot.legend],
            [_legible(name) for name, _ in plot.legend],
            loc="outside lower left",
            ncols=columns,
            frameon=False,
            handlelength=3.2,
        )
    return svg(made, "", alt="", page=False)


def _legible(name: str) -> str:
    """A name for a legend, which would leave out those that begin with ``_``."""
    return f"\u200b{shorten(name)}" if name.startswith("_") else shorten(name)


def _styles(run: Run, ours: str, metric: str, setting: str, most: int) -> dict[str, Style]:
    """Ours and its best rivals; everything else is pale."""
    order = run.systems(metric, setting)
    first = [ours] if ours in order else []
    rivals = [name for name in order if name != ours][: most - 1]
    return dict(zip([*first, *rivals], [OURS, *OTHERS] if first else OTHERS, strict=False))


def _entries(ours: str, styles: Mapping[str, Style], others: int) -> tuple[tuple[str, Style], ...]:
    named = [
        (f"{clean(name)} (ours)" if name == ours else clean(name), style)
        for name, style in styles.items()
    ]
    return (*named, *([(f"{others} others", REST)] if others > 0 else []))


def _budgets(run: Run, ours: str, setting: str) -> Plot:
    metric = run.headline(setting) or ""
    styles = _styles(run, ours, metric, setting, len(OTHERS) + 1)
    budgets = run.budgets if len(run.budgets) > 1 and metric.startswith("recall@") else ()
    panels = []
    order = run.systems(metric, setting) if budgets else ()
    tasks = run.tasks(metric, setting) if budgets else ()
    ticks = Axis("characters read (budget)", budgets, [f"{b:,}" for b in budgets], log=True)
    for task in (*tasks, None) if len(tasks) > 1 else tasks:
        lines = [
            line
            for name in sorted(order, key=lambda name: name not in styles)
            if (line := _found(run, name, task, setting, styles.get(name, REST)))
        ]
        panels.append(_panel(clean(task) if task else "mean over tasks", lines, ticks))
    return Plot(
        "budget",
        "Evidence found against characters read",
        f"Share of the evidence's characters among the first characters returned. {_BANDS}.",
        _entries(ours, styles, len(order) - len(styles)),
        tuple(panels),
    )


def _found(run: Run, system: str, task: str | None, setting: str, style: Style) -> Line | None:
    """Evidence found by a system at each budget; of no task: the mean over tasks."""
    points: list[tuple[float, float, float | None, float | None]] = []
    for budget in run.budgets:
        metric = f"recall@{budget}"
        if task is None:
            mean = run.mean(system, metric, setting)
            if mean:
                points.append((budget, mean.mean, mean.low, mean.high))
            continue
        record = run.get(setting, task, system)
        if record and metric in record.metrics:
            low, high = record.intervals.get(metric, (None, None))
            points.append((budget, record.metrics[metric], low, high))
    return _line(style, points) if points else None


def _line(style: Style, points: Sequence[tuple[float, float, float | None, float | None]]) -> Line:
    banded = style in (OURS, *OTHERS[: BANDED - 1])
    return Line(
        style,
        [x for x, _, _, _ in points],
        [100 * y for _, y, _, _ in points],
        [None if low is None else 100 * low for _, _, low, _ in points] if banded else (),
        [None if high is None else 100 * high for _, _, _, high in points] if banded else (),
    )


def _panel(title: str, lines: Sequence[Line], x: Axis) -> Panel:
    def draw(axes: Any) -> None:
        draw_lines(axes, lines, x, "evidence found, %")

    return Panel(shorten(title), _PANEL[1], draw)


@dataclass(frozen=True, slots=True)
class _Curve:
    key: str
    title: str
    caption: str
    axis: Callable[[Sequence[Point]], Axis]
    points: Callable[[Record, str], list[Point]]


def _curves(run: Run, ours: str, metric: str, setting: str, curve: _Curve) -> Plot:
    styles = _styles(run, ours, metric, setting, CURVES)
    panels, alike = [], []
    # Position and length mean nothing to metrics over whole documents.
    for task in run.tasks(metric, setting) if metric.startswith("recall@") else ():
        found = {
            name: curve.points(record, metric)
            for name in styles
            if (record := run.get(setting, task, name)) and metric in record.metrics
        }
        lines = [
            _line(styles[name], [(point.at, point.mean, point.low, point.high) for point in points])
            for name, points in found.items()
        ]
        if any(len(line.xs) > 1 for line in lines):
            axis = curve.axis([point for points in found.values() for point in points])
            panels.append(_panel(clean(task), lines, axis))
        elif lines:
            alike.append(clean(task))
    return Plot(
        curve.key,
        f"{curve.title} ({metric})",
        curve.caption
        + (
            f" Not drawn, as all questions fall into one group: {', '.join(alike)}."
            if alike
            else ""
        ),
        _entries(ours, styles, 0),
        tuple(panels),
    )


def _position_axis(points: Sequence[Point]) -> Axis:
    del points  # the same for all tasks
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    labels = [f"{tick:.0%}".replace("%", " %") for tick in ticks]
    return Axis("where the evidence begins in its document", ticks, labels, limits=(0.0, 1.0))


def _length_axis(points: Sequence[Point]) -> Axis:
    ticks = sorted({point.at for point in points})
    return Axis("length of the document, thousand characters", *_thousands(ticks), log=True)


def _thousands(ticks: Sequence[float]) -> tuple[list[float], list[str]]:
    """Ticks that are not so near that their labels meet, and the labels."""
    kept: list[float] = []
    for tick in ticks:
        if not kept or ticks[-1] == ticks[0] or tick / kept[-1] > (ticks[-1] / ticks[0]) ** 0.12:
            kept.append(tick)
    return kept, [f"{tick / 1000:,.{0 if tick >= 10_000 else 1}f}" for tick in kept]


_POSITION = _Curve(
    "position",
    "Evidence found against its position in the document",
    f"Means over questions whose evidence begins in a tenth of its document. {_FEW}",
    _position_axis,
    by_position,
)
_LENGTH = _Curve(
    "length",
    "Evidence found against the length of the document",
    "Means over the questions of up to five groups of documents, shortest to longest, of about "
    f"as many documents each; a point is at its group's median length. {_FEW}",
    _length_axis,
    by_length,
)

_READ = (
    "Ours minus the rival, in percentage points, with 95 % intervals by resampling documents. "
    "Right of zero ours is better. Filled blue: better; filled orange: worse; hollow grey: "
    "unknown, as the interval includes zero or p, corrected for all compared, is 0.05 or more."
)


def _differences(ours: str, metric: str, compared: Sequence[Overall]) -> Plot:
    rows = {}
    for found in compared:
        rows[found.b] = [_span(shorten(row.task, 24), row.difference) for row in found.rows]
        if len(found.rows) > 1:
            rows[found.b].append(_span(MEAN, found.difference, total=True))
    title = f"Differences of {clean(ours)} to its best rivals, by task ({metric})"
    return Plot("differences", title, _READ, (), _forest(metric, rows))


def _kinds(ours: str, metric: str, compared: Sequence[Overall]) -> Plot:
    rows = {
        found.b: [
            _span(f"{shorten(row.task, 16)}: {shorten(kind, 16)} ({one.questions})", one)
            for row in found.rows
            for kind, one in row.kinds.items()
        ]
        for found in compared
        if any(row.kinds for row in found.rows)
    }
    title = f"Differences of {clean(ours)} to its best rivals, by kind of question ({metric})"
    caption = f"{_READ} In brackets: questions of the kind."
    return Plot("kinds", title, caption, (), _forest(metric, rows))


def _span(label: str, found: Difference, *, total: bool = False) -> Span:
    ends = 100 * found.mean, 100 * found.low, 100 * found.high
    return Span(label, *ends, found.verdict, total)


def _forest(metric: str, rows: Mapping[str, Sequence[Span]]) -> tuple[Panel, ...]:
    """A panel a rival; all have one scale, so that they can be compared."""
    ends = [end for spans in rows.values() for span in spans for end in (span.low, span.high)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = 0.05 * (high - low) or 1.0

    def panel(rival: str, spans: Sequence[Span]) -> Panel:
        def draw(axes: Any) -> None:
            limits = (low - room, high + room)
            draw_spans(axes, spans, limits, f"difference in {metric}, points")

        return Panel(f"minus {shorten(rival, 36)}", 0.9 + 0.27 * len(spans), draw, "right")

    return tuple(panel(rival, spans) for rival, spans in rows.items())
