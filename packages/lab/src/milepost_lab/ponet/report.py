"""Accuracies, differences and costs of the mixers, as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from milepost.console.columns import columns
from milepost_eval.statistics import Difference, corrected
from milepost_lab.differences import over_trainings
from milepost_lab.ponet.study import LEARNING, Cost, Learned, PonetRecipe, growth


def gains(rows: Sequence[Learned]) -> dict[str, Difference]:
    """Accuracy of PoNet less that of every other mixer on the same texts, over the trainings.

    p is corrected over all differences. Empty for a single seed.
    """
    ours = {row.kind: row.accuracies for row in rows if row.mixer == "ponet"}
    return corrected(
        {
            f"{row.kind}: ponet - {row.mixer}": over_trainings(ours[row.kind], row.accuracies)
            for row in rows
            if row.kind in ours and row.mixer in LEARNING and row.mixer != "ponet"
            if len(row.accuracies) > 1
        }
    )


def learned_table(rows: Sequence[Learned]) -> str:
    """Accuracies as lines of text, in points of 100."""
    lines = []
    for row in rows:
        points = [100 * accuracy for accuracy in row.accuracies]
        lines.append(
            (
                row.mixer,
                row.kind,
                f"{np.mean(points):.1f}",
                f"{np.std(points, ddof=1):.1f}" if len(points) > 1 else "–",
                f"{row.rate:g}",
                f"{row.parameters:,}",
                f"{row.milliseconds:.1f}",
                "read" if row.padding > 1e-3 else "not read",
            )
        )
    head = ("mixer", "texts", "accuracy", "sd", "rate", "parameters", "ms/step", "padding")
    return "\n".join(columns(head, lines, left=2))


def cost_table(costs: Sequence[Cost]) -> str:
    """Milliseconds and megabytes of a layer as lines of text, with their growth."""
    lengths = sorted({each.tokens for each in costs})
    known = {(each.mixer, each.tokens): each for each in costs}
    powers = growth(costs)
    lines = []
    for name in dict.fromkeys(each.mixer for each in costs):
        cells = (known[name, n] for n in lengths)
        shown = (f"{each.milliseconds:.1f} ms {each.megabytes:.1f} MB" for each in cells)
        grows = "n^{:.1f}, n^{:.1f}".format(*powers[name]) if name in powers else ""
        lines.append((name, *shown, grows))
    return "\n".join(columns(("layer", *(f"{n:,}" for n in lengths), "grows as"), lines))


def record(rows: Sequence[Learned], costs: Sequence[Cost], recipe: PonetRecipe) -> dict[str, Any]:
    """All figures, as ``--json`` prints them."""
    return {
        "recipe": asdict(recipe),
        "learned": [asdict(row) for row in rows],
        "gains": {name: one.record() for name, one in gains(rows).items()},
        "costs": [asdict(each) for each in costs],
        "growth": {name: list(powers) for name, powers in growth(costs).items()},
    }
