"""The lines of a study for people, for programs, and to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from milepost_eval.report.outcome import Cell, Outcome, Panel, Series
from milepost_lab.power.live import Phase
from milepost_lab.power.measured import nearest_rank
from milepost_lab.power.policy import Policy
from milepost_lab.power.speed import Speed
from milepost_lab.power.study import FREE, METRICS, Line


def outcome(lines: Sequence[Line], across: str, speed: Speed, policy: Policy) -> Outcome:
    """The lines as a table and panels.

    Args:
        lines: see ``study``, at least one.
        across: what the labels are.
        speed: of the engine that the jobs' lengths are from.
        policy: whose threshold and delays the note speaks of.
    """
    rows: list[tuple[Cell, ...]] = [
        (
            line.label,
            line.controller,
            *(line.figure(metric) for metric in METRICS),
            "yes" if line.kept else "no",
        )
        for line in lines
    ]
    labels = tuple(dict.fromkeys(line.label for line in lines))
    names = dict.fromkeys(line.controller for line in lines if line.controller != FREE)
    found = {(line.label, line.controller): line for line in lines}
    panels = tuple(
        Panel(
            title=metric,
            across=across,
            up=up,
            ticks=labels,
            series=tuple(
                Series(name, tuple(found[label, name].figure(metric) for label in labels))
                for name in names
            ),
        )
        for metric, up in (
            ("search P99", "times the reference"),
            ("bulk P99", "times the reference"),
            ("work", "share of the reference"),
            ("s over", "seconds over budget"),
        )
    )
    return Outcome(
        columns=(across, "controller", *METRICS, "targets kept"),
        rows=tuple(rows),
        note=_note(lines, speed, policy),
        panels=panels,
        name="power",
        question="How many servers does one power budget carry, and what do their jobs pay for it?",
    )


def _note(lines: Sequence[Line], speed: Speed, policy: Policy) -> str:
    worst = max(max(line.rise) for line in lines)
    window = policy.telemetry + policy.cap_delay
    return (
        "Slowdowns and work are relative to the same servers and jobs without a budget. Within the "
        f"{window:g} s that a reading and a cap take, power rose by up to {100 * worst:.1f} % of "
        f"the budget: from t2 = {100 * policy.t2:g} % it reached {100 * (policy.t2 + worst):.1f} "
        "%, so the threshold alone does not keep the budget; the brake does. Arrivals follow the "
        "statistics of a public trace; a question takes "
        f"{1e3 * speed.question:.2f} ms, 1,000 tokens {1e6 * speed.token:.0f} ms "
        f"({speed.engine}; {speed.machine}; {speed.date}); watts are those of a public server."
    )


def as_json(
    lines: Sequence[Line], across: str, speed: Speed, settings: dict[str, Any]
) -> dict[str, Any]:
    """Everything, a figure a seed, for programs; what could not be measured is null."""
    return {
        "experiment": "power",
        "settings": settings,
        "speed": asdict(speed),
        "across": across,
        "rows": [
            {
                across: line.label,
                "controller": line.controller,
                "figures": {name: _known(values) for name, values in line.figures.items()},
                "seconds": {name: _known(values) for name, values in line.seconds.items()},
                "rise": list(line.rise),
                "kept": line.kept,
            }
            for line in lines
        ],
    }


def _known(values: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def contention(phases: dict[str, Phase]) -> str:
    """Searches beside bulk indexing, as Markdown."""
    lines = [
        "| bulk indexing | searches | P50 ms | P99 ms | sentences indexed a second |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, phase in phases.items():
        lines.append(
            f"| {name} | {len(phase.searches)} | {1e3 * phase.median:.1f} | "
            f"{1e3 * nearest_rank(phase.searches, 0.99):.1f} | "
            f"{phase.sentences / phase.seconds:.1f} |"
        )
    return "\n".join(lines)


def contention_json(phases: dict[str, Phase]) -> dict[str, Any]:
    """The same for programs."""
    return {"experiment": "power, live", "phases": {n: asdict(p) for n, p in phases.items()}}
