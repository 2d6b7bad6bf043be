"""Results of document rankings: means over tasks with intervals, as text and as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.console.columns import columns
from milepost_eval.statistics import Values, corrected, mean_over_tasks, over_tasks
from milepost_lab.data.landmarked import Landmarked

FIGURES = ("recall@1", "recall@5", "mrr")


@dataclass(frozen=True, slots=True)
class RankingRow:
    """Results of one ranking.

    Attributes:
        name: name of the ranking.
        figures: metric → value for each question, mean over seeds.
        seeds: MRR of each seed, mean over all questions.
        milliseconds: processor time of the second stage per question; 0 for the first.
    """

    name: str
    figures: Mapping[str, NDArray[np.float64]]
    seeds: tuple[float, ...]
    milliseconds: float


def by_task(data: Landmarked, values: NDArray[np.float64]) -> dict[str, Values]:
    """Group a figure of every question by task for ``evaluate.statistics``; clusters: documents."""
    found: dict[str, tuple[list[float], list[str]]] = {}
    for task, answer, value in zip(data.tasks, data.answers, values, strict=True):
        some = found.setdefault(task, ([], []))
        some[0].append(float(value))
        some[1].append(data.documents[answer])
    return dict(found)


def records(
    data: Landmarked, rows: Sequence[RankingRow], hurt: Sequence[RankingRow] = ()
) -> list[dict[str, Any]]:
    """Compute the printed means over tasks with intervals, and differences from the first row.

    Args:
        data: questions and documents.
        rows: rows of ``ranked``, the first stage first.
        hurt: the same rows with foreign landmarks spliced in.
    """
    base = by_task(data, rows[0].figures["mrr"])
    differences = corrected(
        {
            row.name: over_tasks(
                {
                    task: (values, base[task][0], clusters)
                    for task, (values, clusters) in by_task(data, row.figures["mrr"]).items()
                }
            )
            for row in rows[1:]
        }
    )
    found = []
    for number, row in enumerate(rows):
        record: dict[str, Any] = {"name": row.name}
        for name in FIGURES:
            values = by_task(data, row.figures[name])
            record[name] = mean_over_tasks(values)
            record[f"{name} of tasks"] = {
                task: float(np.mean(some)) for task, (some, _) in values.items()
            }
        if row.name in differences:
            one = differences[row.name]
            record["over the first"] = {
                "mrr": (one.mean, one.low, one.high),
                "verdict": one.verdict,
            }
        if hurt:
            spliced = by_task(data, hurt[number].figures["mrr"])
            record["mrr spliced"] = mean_over_tasks(spliced)
        record |= {"mrr of seeds": row.seeds, "milliseconds": round(row.milliseconds, 3)}
        found.append(record)
    return found


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """The records as lines of text, figures in points of 100."""
    lines = []
    for record in found:
        low, high = (100 * value for value in record["mrr"][1:])
        over = record.get("over the first")
        lines.append(
            (
                record["name"],
                *(f"{100 * record[name][0]:.1f}" for name in FIGURES),
                f"{low:.1f} to {high:.1f}",
                f"{100 * over['mrr'][0]:+.1f} {over['verdict']}" if over else "–",
                f"{100 * record['mrr spliced'][0]:.1f}" if "mrr spliced" in record else "–",
                f"{record['milliseconds']:.1f}",
            )
        )
    head = ("", *FIGURES, "95 % of MRR", "over the first", "spliced", "ms")
    return "\n".join(columns(head, lines))
