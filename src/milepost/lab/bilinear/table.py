"""What was found of fusions, for people and as a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from milepost.evaluate.statistics import Difference
from milepost.lab.bilinear.study import BESIDE, STUDIED, Finding, crossover

_MARKS = {"better": "+", "worse": "-", "unknown": " "}


def table(finding: Finding) -> str:
    """One task's figures; differences with 95 % intervals, ``+`` and ``-`` where they are sure."""
    heads = "".join(f"{f'over {name}':>26}  " for name in BESIDE)
    lines = [
        f"{finding.task}: {finding.tells}, %; {finding.trained:,} rows to learn from, "
        f"{finding.tested:,} tested",
        f"{'fusion':<12}{'parameters':>11}{'rate':>8}{'right':>7}{'seeds':>14}{heads}".rstrip(),
    ]
    if finding.without is not None:
        lines.append(f"{'none':<12}{0:>11}{'':>8}{100 * finding.without:>7.1f}")
    for row in finding.rows:
        low, high = min(row.figures), max(row.figures)
        mean = sum(row.figures) / len(row.figures)
        gains = "".join(f"{_gain(row.gains.get(name))}  " for name in BESIDE)
        lines.append(
            f"{row.name:<12}{row.parameters:>11,}{row.rate:>8g}{100 * mean:>7.1f}"
            f"{f'{100 * low:.1f}–{100 * high:.1f}':>14}{gains}".rstrip()
        )
    return "\n".join(lines)


def verdicts(findings: Sequence[Finding]) -> list[str]:
    """In a sentence each: where bilinear fusions win, where they do not, and from when on."""
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
            "A plain product (hadamard) is never surely better than concat-mlp."
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
                        "gains": {
                            name: {**asdict(gain), "verdict": gain.verdict}
                            for name, gain in row.gains.items()
                        },
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
        return f"{'':>26}"
    text = f"{100 * gain.mean:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"
    return f"{text:>24} {_MARKS[gain.verdict]}"
