"""The picture of a run: loss, evidence found, spread and rate over its steps, from its log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.errors import InputError
from milepost_train.alarm import ALIKE
from milepost_train.model.card import log_lines

CURVES = "curves.png"


def draw(folder: Path) -> Path:
    """Write ``curves.png`` from ``log.jsonl``."""
    require("matplotlib", extra="train")
    from matplotlib.figure import Figure  # without pyplot, which looks for a screen

    try:
        lines = list(log_lines(folder))
        figure = Figure(figsize=(11, 7), layout="constrained")
        _draw(figure, lines)
        figure.savefig(folder / CURVES, dpi=110, metadata={"Software": None})
    except OSError as error:
        raise InputError(
            f"the curves of {folder} cannot be drawn: {error.strerror or error}",
            "name the folder of a run, and free some space",
        ) from error
    return folder / CURVES


def _draw(figure: Any, lines: Sequence[Mapping[str, Any]]) -> None:
    (loss, evidence), (spread, rate) = figure.subplots(2, 2)
    for axes, title, names in (
        (loss, "loss, and the loss of guessing (floor)", ("loss", "floor")),
        (spread, "mean cosine between different landmarks", ("spread",)),
        (rate, "learning rate", ("rate",)),
    ):
        axes.set_title(title)
        for name in names:
            axes.plot(*_points([(line["step"], line.get(name)) for line in lines]), label=name)
    loss.legend()
    spread.axhline(ALIKE, color="red", linestyle=":")
    evidence.set_title("evidence found by landmarks")
    for task in dict.fromkeys(task for line in lines for task in line.get("check", ())):
        shares = [(line["step"], line.get("check", {}).get(task)) for line in lines]
        evidence.plot(*_points(shares), marker=".", label=task)
        evidence.legend()
    for axes in (loss, evidence, spread, rate):
        axes.set_xlabel("step")
        for line in lines:
            if "alarm" in line:
                axes.axvline(line["step"], color="red", linewidth=1)


def _points(pairs: Sequence[tuple[int, float | None]]) -> tuple[list[int], list[float]]:
    """Steps and figures, where there is one that is a number."""
    found = [(step, value) for step, value in pairs if value is not None and math.isfinite(value)]
    return [step for step, _ in found], [value for _, value in found]
