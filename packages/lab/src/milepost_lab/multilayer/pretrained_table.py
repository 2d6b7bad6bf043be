"""The figures of ``pretrained.py`` as lines of text and as a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from statistics import fmean
from typing import Any

from milepost.console.columns import columns
from milepost_lab.differences import difference_lines
from milepost_lab.multilayer.pretrained import PretrainedResult


def lines(found: PretrainedResult) -> Iterator[str]:
    """A row for each design, then the differences with intervals and what they could detect.

    ``*`` marks a rate at an end of those tried, and steps where the cap ended a training.
    """
    ends = (min(found.rates), max(found.rates)) if len(found.rates) > 1 else ()
    rows = []
    for name, runs in found.runs.items():
        points = [100 * fmean(one.ndcg) for one in runs]
        rows.append(
            (
                name,
                f"{fmean(points):.1f}",
                f"({min(points):.1f} … {max(points):.1f})",
                f"{runs[0].rate:g}" + "*" * (runs[0].rate in ends),
                f"{fmean(one.best for one in runs):,.0f}" + "*" * (not all(r.flat for r in runs)),
                f"{runs[0].parameters:,}",
            )
        )
    yield (
        f"nDCG@10 in per cent: {len(found.documents):,} dev questions about "
        f"{len(set(found.documents)):,} documents among {found.passages:,} passages; "
        f"{found.trained:,} training pairs"
    )
    yield from columns(("design", "nDCG@10", "seeds", "rate", "steps", "trained"), rows)
    yield ""
    yield from difference_lines(found.gains, scale=100, digits=1)


def record(found: PretrainedResult) -> dict[str, Any]:
    """All figures, as ``--json`` prints them."""
    fields = asdict(found)
    return {**fields, "gains": {name: one.record() for name, one in found.gains.items()}}
