"""The pictures of a run: losses, evidence found, rate and spread over its steps, from its log."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost._optional import require
from milepost.errors import InputError
from milepost_eval.report.drawing import (
    GROUND,
    INK,
    OTHERS,
    OURS,
    PALE,
    REST,
    VERDICTS,
    Style,
    figure,
    settings,
    shorten,
    svg,
)
from milepost_train.alarm import CollapseAlarm

_Line = Mapping[str, Any]
_Points = tuple[list[float], list[float]]

# "effective" is a number of negatives, beside which nats would be a line at 0.
_ELSEWHERE = {
    "step", "stage", "seconds", "rate", "gradient", "loss", "floor", "spread", "effective",
}  # fmt: skip
_STYLES = (OURS, *OTHERS)
_OF_DOCUMENTS = {"ndcg@10": None, "success@1": (2.0, 2.0)}
"""Figures of a check of documents, and their dashes."""
_BINS = 40
"""Means that a curve is drawn through; its single values are drawn pale."""


def draw(folder: Path) -> list[Path]:
    """Write ``curves.svg`` and ``curves.png`` from ``log.jsonl``; the same log, the same SVG.

    Panels: the loss over what guessing costs, its parts, the evidence found of each task (and the
    documents by their titles, where the run learns that), the rate, the spread of landmarks, and
    what the alarm said (where, in every panel). Lines of a log that a killed run has cut off are
    left out.

    Args:
        folder: of a run; the pictures go there, too.

    Raises:
        InputError: the log is missing or empty, or a picture cannot be written.
        MissingExtra: matplotlib is not installed.
    """
    require("matplotlib", extra="train")
    lines = _read(folder / "log.jsonl")
    with settings():
        made = _figure(lines)
        paths = [folder / "curves.svg", folder / "curves.png"]
        try:
            paths[0].write_text(svg(made), encoding="utf-8")
            made.savefig(paths[1], format="png", dpi=110, metadata={"Software": None})
        except OSError as error:
            raise InputError(
                f"{folder} cannot be written to: {error.strerror or error}", "free some space"
            ) from error
    return paths


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        rows = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}", "name the folder of a run"
        ) from error
    found = []
    for number, row in enumerate(rows, 1):
        try:
            found.append(json.loads(row))
        except ValueError as error:
            if number < len(rows):
                raise InputError(
                    f"{path}, line {number} is not JSON", "delete the line and draw again"
                ) from error
    if not found:
        raise InputError(f"{path} has no lines yet", "draw after the first")
    return found


def _figure(lines: Sequence[_Line]) -> Any:
    # Fixed places: a layout made to measure takes as long as all the rest, at every check.
    made = figure(11.5, 10.5, None)
    made.subplots_adjust(left=0.075, right=0.975, bottom=0.05, top=0.975, wspace=0.2, hspace=0.3)
    grid = made.subplots(3, 2)
    _losses(grid[0, 0], lines)
    _parts(grid[0, 1], lines)
    _evidence(grid[1, 0], lines)
    _spread(grid[1, 1], lines)
    _rate(grid[2, 0], lines)
    _words(grid[2, 1], lines)
    last = max(1, lines[-1]["step"])
    for axes in grid.flat[:5]:
        axes.set_xlim(0, 1.01 * last)
        axes.set_xlabel("step")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        _borders(axes, lines)
        for line in lines:
            if "alarm" in line:
                axes.axvline(line["step"], color=VERDICTS["worse"], linewidth=1.3, zorder=2.5)
    return made


def _losses(axes: Any, lines: Sequence[_Line]) -> None:
    axes.set_title("Loss, nats")
    for style, (stage, part) in zip(cycle(_STYLES), _stages(lines).items(), strict=False):
        _curve(axes, part, "loss", style, f"stage {stage}")
        label = "" if axes.get_legend_handles_labels()[1][1:] else "floor: guessing"
        floor = _points(part, "floor")
        axes.plot(*floor, color=INK, linewidth=1, linestyle=(0, (4, 3)), label=label)
    _limits(axes, lines, ("loss", "floor"))
    _legend(axes)


def _parts(axes: Any, lines: Sequence[_Line]) -> None:
    axes.set_title("Parts of the loss")
    names = dict.fromkeys(
        name
        for line in lines
        for name, value in line.items()
        if name not in _ELSEWHERE and isinstance(value, int | float)
    )
    for style, name in zip(cycle(_STYLES), names, strict=False):
        for number, part in enumerate(_stages(lines).values()):
            _curve(axes, part, name, style, "" if number else name)
    _limits(axes, lines, tuple(names))
    _legend(axes)


def _evidence(axes: Any, lines: Sequence[_Line]) -> None:
    """Every check; the mean over tasks stands out, and five of them in colour."""
    documents = [line for line in lines if line.get("documents")]
    also = "; thin: documents by title" if documents else ""
    axes.set_title(f"Evidence found by landmarks, %{also}")
    checks = [line for line in lines if line.get("check")]
    tasks = list(dict.fromkeys(task for line in checks for task in line["check"]))
    if len(tasks) > 1:
        steps = [line["step"] for line in checks]
        means = [100 * fmean(line["check"].values()) for line in checks]
        _plain(axes, (steps, means), OURS, "mean")
    styles = [OURS] if len(tasks) == 1 else [*OTHERS, *[REST] * len(tasks)]
    for style, task in zip(styles, tasks, strict=False):
        found = [
            (line["step"], 100 * line["check"][task]) for line in checks if task in line["check"]
        ]
        steps, shares = (list(column) for column in zip(*found, strict=True))
        _plain(axes, (steps, shares), style, shorten(task, 24))
    for name, dashes in _OF_DOCUMENTS.items() if documents else ():
        steps = [line["step"] for line in documents]
        shares = [100 * line["documents"][name] for line in documents]
        _plain(axes, (steps, shares), Style(INK, "", dashes, 1), f"documents, {name}")
    if not checks:
        axes.text(0.5, 0.5, "no check yet", color=PALE, ha="center", transform=axes.transAxes)
    _legend(axes)


def _spread(axes: Any, lines: Sequence[_Line]) -> None:
    axes.set_title("Mean cosine between different landmarks")
    for part in _stages(lines).values():
        _curve(axes, part, "spread", OURS, "")
    alike = CollapseAlarm.__dataclass_fields__["alike"].default
    axes.axhline(alike, color=VERDICTS["worse"], linewidth=1, linestyle=(0, (4, 3)))
    axes.text(
        0.99, alike, "collapse", color=VERDICTS["worse"], fontsize=8.5, ha="right", va="top",
        transform=axes.get_yaxis_transform(),
    )  # fmt: skip
    axes.set_ylim(top=1.02)


def _rate(axes: Any, lines: Sequence[_Line]) -> None:
    axes.set_title("Learning rate; pale, on the right: length of the gradient")
    for part in _stages(lines).values():
        _plain(axes, _points(part, "rate"), OURS, "", markers=False)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:.1e}")
    beside = axes.twinx()
    beside.plot(*_points(lines, "gradient"), color=REST.colour, linewidth=REST.width)
    beside.set_ylim(bottom=0)
    beside.grid(visible=False)


def _words(axes: Any, lines: Sequence[_Line]) -> None:
    """The run so far, and what the alarm said."""
    axes.axis("off")
    last = lines[-1]
    hours = last["seconds"] / 3600
    time = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
    text = [f"step {last['step']:,}, {time}, loss {last['loss']:.3f}"]
    checked = [line for line in lines if line.get("check")]
    if checked:
        best = max(checked, key=lambda line: fmean(line["check"].values()))
        text.append(
            f"evidence found: {100 * fmean(checked[-1]['check'].values()):.1f} % at the last "
            f"check, {100 * fmean(best['check'].values()):.1f} % at the best, "
            f"at step {best['step']:,}"
        )
    found = [line["documents"]["ndcg@10"] for line in lines if line.get("documents")]
    if found:
        text.append(
            f"documents found by title, nDCG@10: {100 * found[-1]:.1f} % at the last check, "
            f"{100 * max(found):.1f} % at the best"
        )
    said = [f"step {line['step']:,}: {line['alarm']}" for line in lines if "alarm" in line]
    text += said[:2] or ["the alarm was silent"]
    if len(said) > 2:
        text.append(f"… and {len(said) - 2} more of the alarm's lines, see log.jsonl")
    axes.text(
        0, 1, "\n\n".join(textwrap.fill(each, 66) for each in text),
        va="top", fontsize=9.5, linespacing=1.35, transform=axes.transAxes,
    )  # fmt: skip


def _borders(axes: Any, lines: Sequence[_Line]) -> None:
    """A line where a stage ends and another begins."""
    for before, line in pairwise(lines):
        if line["stage"] != before["stage"]:
            axes.axvline(before["step"], color=PALE, linewidth=1, linestyle=(0, (1, 2)), zorder=2)


def _stages(lines: Sequence[_Line]) -> dict[Any, list[_Line]]:
    """The lines of each stage, in their order."""
    found: dict[Any, list[_Line]] = {}
    for line in lines:
        found.setdefault(line["stage"], []).append(line)
    return found


def _points(lines: Sequence[_Line], name: str) -> _Points:
    """Steps and figures of the lines that have one; values that are not numbers have no point."""
    found = [
        (line["step"], line[name]) for line in lines if name in line and math.isfinite(line[name])
    ]
    return [step for step, _ in found], [value for _, value in found]


def _curve(axes: Any, lines: Sequence[_Line], name: str, style: Style, label: str) -> None:
    """Readings pale, and a line through the means of neighbours."""
    points = steps, values = _points(lines, name)
    if len(values) > 2 * _BINS:
        axes.plot(steps, values, color=style.colour, linewidth=0.7, alpha=0.35, zorder=3)
        points = _smooth(points)
    _plain(axes, points, style, label, markers=False)


def _smooth(points: _Points) -> _Points:
    """Means of as many readings each as make ``_BINS`` of them."""
    size = -(-len(points[0]) // _BINS)
    steps, values = (
        [fmean(column[at : at + size]) for at in range(0, len(column), size)] for column in points
    )
    return steps, values


def _plain(axes: Any, points: _Points, style: Style, label: str, *, markers: bool = True) -> None:
    axes.plot(
        *points, color=style.colour, linewidth=min(style.width, 2), label=label, zorder=4,
        linestyle=(0, style.dashes) if style.dashes else "-",
        marker=(style.marker or None) if markers or len(points[0]) == 1 else None, markersize=4,
    )  # fmt: skip


def _limits(axes: Any, lines: Sequence[_Line], names: Sequence[str]) -> None:
    """Leave what is far above the rest out of the picture: the first steps would flatten it."""
    values = sorted(value for name in names for value in _points(lines, name)[1])
    if values:
        top = values[int(0.99 * (len(values) - 1))]
        axes.set_ylim(min(0.0, values[0]), max(1.15 * top, 1e-6))


def _legend(axes: Any) -> None:
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=8.5, ncols=2, facecolor=GROUND, framealpha=0.75, edgecolor="none")
