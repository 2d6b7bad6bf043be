"""Plots of a comparison as SVG: against length, against one row, and while training."""

from __future__ import annotations

from pathlib import Path

from milepost.writing import write_text
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
    svg,
)
from milepost_lab.compare.found import ALL, Found
from milepost_lab.compare.material import LENGTHS
from milepost_lab.compare.tables import curve_of, steps_of


def lengths(found: Found) -> str | None:
    """nDCG@10 against tokens: ``against`` and the five best at the longest text in colour.

    Returns:
        SVG, or None where there are no two lengths.
    """
    tasks = [task for task in found.tasks if task in LENGTHS]
    rows = [row for row in found.rows if all(found.of(row, task) for task in tasks)]
    if len(tasks) < 2 or not rows:
        return None
    best = sorted(rows, key=lambda row: -found.score(row, tasks[-1]))
    xs = [LENGTHS[task] for task in tasks]
    points = {row: [100 * found.score(row, task) for task in tasks] for row in rows}
    x = Axis("tokens of a document", xs, [f"{n:,}" for n in xs], log=True)
    return _drawn(_styles(found, best), points, x, "nDCG@10, %", "lengths-")


def curves(found: Found) -> str | None:
    """nDCG@10 on validation pairs against steps: ``against`` and the best rows in colour.

    Returns:
        SVG, or None where nothing was validated.
    """
    steps = steps_of(found)
    points = {row: curve_of(found, row) for row in found.rows}
    whole = {
        row: [100 * at[step] for step in steps]
        for row, at in points.items()
        if len(at) == len(steps) > 1
    }
    if not whole:
        return None
    x = Axis("steps", steps, [f"{n:,}" for n in steps])
    y = "nDCG@10 on validation pairs, %"
    return _drawn(_styles(found, list(whole)), whole, x, y, "curves-")


def _styles(found: Found, rows: list[str]) -> dict[str, Style]:
    """The rows in colour: that of ``against`` in ours, and the first of the others."""
    first = {row: OURS for row in rows if row == found.against}
    return first | dict(zip((row for row in rows if row not in first), OTHERS, strict=False))


def _drawn(
    styles: dict[str, Style],
    points: dict[str, list[float]],
    x: Axis,
    y: str,
    prefix: str,
) -> str:
    """Lines of rows, in grey those without a style."""
    rows = [*styles, *(row for row in points if row not in styles)]
    lines = [Line(styles.get(row, REST), x.ticks, points[row]) for row in rows]
    with settings():
        made = figure(7.2, 4.4)
        axes = made.subplots()
        draw_lines(axes, lines, x, y)
        handles = {row: legend_handle(style) for row, style in styles.items()}
        if len(rows) > len(styles):
            handles["others"] = legend_handle(REST)
        made.legend(list(handles.values()), list(handles), loc="outside right upper", frameon=False)
        return svg(made, prefix)


def differences(found: Found) -> str | None:
    """Each row minus ``against``, mean over tasks, with its interval.

    Returns:
        SVG, or None where there is nothing to compare.
    """
    apart = found.apart([(row, ALL) for row in found.rows])
    if not apart:
        return None
    spans = [
        Span(
            row,
            100 * one.difference.mean,
            100 * one.difference.low,
            100 * one.difference.high,
            one.difference.verdict if one.sure else "unknown",
        )
        for (row, _), one in apart.items()
    ]
    low, high = min(span.low for span in spans), max(span.high for span in spans)
    room = 0.05 * (high - low or 1.0)
    with settings():
        made = figure(7.2, 1.0 + 0.3 * len(spans))
        axes = made.subplots()
        title = f"nDCG@10 less that of {found.against}, points, mean over tasks"
        draw_spans(axes, spans, (min(low, 0) - room, max(high, 0) + room), title)
        return svg(made, "differences-")


def write(found: Found, folder: Path) -> list[Path]:
    """Write ``lengths.svg``, ``differences.svg`` and ``curves.svg`` if there are figures for them.

    Raises:
        InputError: the folder cannot be written.
        MissingExtra: matplotlib is not installed.
    """
    written = []
    made = {"lengths": lengths(found), "differences": differences(found), "curves": curves(found)}
    for name, drawn in made.items():
        if drawn is None:
            continue
        path = folder / f"{name}.svg"
        write_text(path, drawn)
        written.append(path)
    return written
