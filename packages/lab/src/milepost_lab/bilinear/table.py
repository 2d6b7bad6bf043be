"""The results of a comparison of fusions as lines of text and as a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from milepost.console.columns import columns
from milepost_eval.statistics import Difference
from milepost_lab.bilinear.study import BESIDE, STUDIED, Finding, crossover

_MARKS = {"better": "+", "worse": "-", "unknown": " "}


def table(finding: Finding) -> str:
    """The figures of one task, with differences and their 95 % intervals.

    A decided difference is marked ``+`` or ``-``; ``*`` marks a rate at an end of the grid, and
    steps where the cap ended a training. Below stands the smallest difference that can be shown.
    """
    lines: list[tuple[str, ...]] = []
    if finding.without is not None:
        lines.append(
            ("none", "0", "", "", f"{100 * finding.without:.1f}", "", *("" for _ in BESIDE))
        )
    for row in finding.rows:
        low, high = 100 * min(row.figures), 100 * max(row.figures)
        lines.append(
            (
                row.name,
                f"{row.parameters:,}",
                f"{row.rate:g}" + "*" * row.edge,
                f"{fmean(row.steps):,.0f}" + "*" * (row.flat < len(row.steps)),
                f"{100 * fmean(row.figures):.1f}",
                f"{low:.1f}–{high:.1f}",
                *(_gain(row.gains.get(name)) for name in BESIDE),
            )
        )
    head = (
        "fusion",
        "parameters",
        "rate",
        "steps",
        "right",
        "seeds",
        *(f"over {name}" for name in BESIDE),
    )
    title = (
        f"{finding.task}: {finding.tells}, %; {finding.trained:,} training rows, "
        f"{finding.tested:,} test rows"
    )
    found = [row.gains[BESIDE[0]].detectable for row in finding.rows if BESIDE[0] in row.gains]
    least = f"minimum detectable effect over {BESIDE[0]}: {100 * max(found):.1f} points"
    return "\n".join((title, *columns(head, lines), least))


def verdicts(findings: Sequence[Finding]) -> list[str]:
    """One sentence a task on the fusions that beat an MLP, then the first product that pays."""
    lines = []
    for finding in findings:
        sure = [name for name in finding.better("concat-mlp") if name in STUDIED]
        lines.append(
            f"{finding.task}: surely better than concat-mlp: {', '.join(sure)}."
            if sure
            else f"{finding.task}: no bilinear fusion is surely better than concat-mlp."
        )
    if any(finding.task.startswith("product-") for finding in findings):
        first = crossover(findings)
        lines.append(
            "A plain product (hadamard) is surely better than concat-mlp at none of these numbers "
            "of planted products."
            if first is None
            else f"A plain product (hadamard) is surely better than concat-mlp from {first} "
            "planted products on."
        )
    return lines


def record(findings: Sequence[Finding]) -> dict[str, Any]:
    """Everything, as it is printed by ``--json``."""
    return {
        "tasks": [
            {
                **asdict(finding),
                "rows": [
                    {
                        **asdict(row),
                        "gains": {name: gain.record() for name, gain in row.gains.items()},
                    }
                    for row in finding.rows
                ],
            }
            for finding in findings
        ],
        "crossover": crossover(findings),
    }


def _gain(gain: Difference | None) -> str:
    if gain is None:
        return ""
    points = (100 * value for value in (gain.mean, gain.low, gain.high))
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*points) + f" {_MARKS[gain.verdict]}"
