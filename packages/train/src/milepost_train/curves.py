"""The picture of a run (loss, evidence found, spread and rate over its steps), and the alarm.

Contrastive training has a dead end: all vectors become one. The softmax over ``B`` candidates is
then uniform, the contrast is ln ``B`` and stays there, and so does the mean cosine between
different landmarks, at 1. A rate too high for the temperature and the batch leads there within a
few hundred steps, and the loss alone, which falls a little at first, does not show it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost._optional import require
from milepost.errors import InputError
from milepost_train.model.card import log_lines

_CHANGE = (
    "lower the rate (to a third, then a tenth) or lengthen warm_up; where that is not enough, "
    "lower the temperature or draw larger batches"
)

WARM_UP = 200
"""Steps of a stage in which nothing is said, where its own warm-up is not longer."""
PATIENCE = 5
"""Readings whose mean is judged."""
NEAR = 0.01
"""Share of the floor within which a loss counts as guessing."""
ALIKE = 0.98
"""Mean cosine between different landmarks above which they count as one."""


@dataclass(slots=True)
class CollapseAlarm:
    """Watches the readings of one stage, but for its first steps, in which the rate still rises.

    What it says depends on the readings alone: a resumed run shows it those of its log again.
    """

    warm_up: int = WARM_UP
    _recent: deque[tuple[float, float, float]] = field(
        init=False, default_factory=lambda: deque(maxlen=PATIENCE)
    )
    _faulty: bool = field(init=False, default=False)

    def see(self, step: int, parts: Mapping[str, Any]) -> str | None:
        """Take one reading; a warning with what to change, once until a fault comes back.

        ``step`` is of the stage, from 1. Of ``parts``, a line of the log, are read ``loss``,
        ``floor`` (what it would be if all candidates were alike, so that the model could but
        guess), both in nats, and ``spread`` (mean cosine between different landmarks).
        """
        if step <= self.warm_up:
            return None
        self._recent.append((parts["loss"], parts["floor"], parts["spread"]))
        if len(self._recent) < PATIENCE:
            return None
        loss, floor, spread = (fmean(column) for column in zip(*self._recent, strict=True))
        signs = []
        if spread > ALIKE:
            signs.append(f"different landmarks have a mean cosine of {spread:.3f}")
        if loss >= (1 - NEAR) * floor:
            signs.append(f"the loss is {loss:.3f}, and mere guessing costs {floor:.3f}")
        new = bool(signs) and not self._faulty
        self._faulty = bool(signs)
        seen = " and ".join(signs)
        return f"collapse: over the last {PATIENCE} readings {seen}; {_CHANGE}" if new else None


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
    found = [(step, value) for step, value in pairs if value is not None and math.isfinite(value)]
    return [step for step, _ in found], [value for _, value in found]
