"""The collapse alarm: says in words when a run has stopped telling landmarks apart.

Contrastive training has a dead end: all vectors become one. The softmax over ``B`` candidates is
then uniform, the contrast is ln ``B`` and stays there, and so does the mean cosine between
different landmarks, at 1. A rate too high for the temperature and the batch leads there within a
few hundred steps, and the loss alone, which falls a little at first, does not show it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

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
