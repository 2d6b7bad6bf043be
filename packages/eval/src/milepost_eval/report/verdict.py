"""Differences of our system to its best rivals, and what they say in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from milepost_eval.compare import Overall, against
from milepost_eval.report.arrange import Run, clean
from milepost_eval.report.table import MISSING, with_interval
from milepost_eval.statistics import LEVEL, Difference, Verdict

RIVALS = 3
"""Rivals with whom ours is compared: the best by their mean over tasks."""


def signed(value: float) -> str:
    """A difference of shares in percentage points.

    >>> signed(-0.0213)
    '−2.1'
    """
    return f"{round(100 * value, 1) + 0.0:+.1f}".replace("-", "−")


def signed_interval(found: Difference) -> str:
    """A difference with its interval: one is never shown without the other."""
    return f"{signed(found.mean)} [{signed(found.low)}, {signed(found.high)}]"


def p_value(p: float) -> str:
    """A p-value as it is written.

    >>> p_value(0.0002)
    '< 0.001'
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def comparisons(run: Run, ours: str, metric: str, setting: str) -> list[Overall]:
    """Ours against its best ``RIVALS`` rivals that were measured on any of its tasks."""
    order = run.systems(metric, setting)
    found: list[Overall] = []
    for rival in order if ours in order else ():
        if rival != ours and len(found) < RIVALS:
            (compared,) = against(run.records, ours, metric, setting, [rival])
            found += compared.overall  # one at most: a run has one split
    return found


def paragraphs(
    run: Run, ours: str, metric: str, setting: str, compared: Sequence[Overall]
) -> list[str]:
    """What is better, what is worse and what is unknown, in plain words: one part a rival."""
    if ours not in run.systems(metric, setting):
        return [
            f"{clean(ours)} was not measured in this setting, so there is no statement about it."
        ]
    opening = _standing(run, ours, metric, setting)
    if not compared:
        return [f"{opening} No other system was measured on the same tasks."]
    return [opening, *map(_against, compared)]


def _standing(run: Run, ours: str, metric: str, setting: str) -> str:
    order = run.systems(metric, setting)
    tasks = run.tasks(metric, setting)
    if run.mean(ours, metric, setting) is None:
        return (
            f"{clean(ours)} was not measured on all {_counted(len(tasks), 'task')}, so it has no "
            f"mean over tasks in {metric}."
        )
    text = (
        f"In {metric}, {clean(ours)} reaches {_mean(run, ours, metric, setting)} % as the mean "
        f"over {_counted(len(tasks), 'task')}: "
    )
    ahead = order[: order.index(ours)]
    if not ahead:
        return f"{text}the highest of {_counted(len(order), 'system')}."
    named = ", ".join(f"{clean(name)} {_mean(run, name, metric, setting)}" for name in ahead[:3])
    more = f" and {len(ahead) - 3} more" if len(ahead) > 3 else ""
    return f"{text}place {len(ahead) + 1} of {len(order)}. Higher: {named}{more}."


def _mean(run: Run, system: str, metric: str, setting: str) -> str:
    mean = run.mean(system, metric, setting)
    return with_interval(mean.mean, mean.low, mean.high) if mean else MISSING


def _against(found: Overall) -> str:
    name, count = clean(found.a), _counted(len(found.rows), "task")
    over = {
        "better": f"{name} is better",
        "worse": f"{name} is worse",
        "unknown": "it is unknown which is better",
    }
    parts = [
        f"Against {clean(found.b)}, as the mean over {count}, {over[found.difference.verdict]}: "
        f"{signed_interval(found.difference)} points (p {p_value(found.difference.p)})."
    ]
    openings: dict[Verdict, str] = {
        "better": "Better on",
        "worse": "Worse on",
        "unknown": "Unknown (the interval includes zero, or p corrected for "
        f"{count} is {LEVEL} or more) on",
    }
    for which, opening in openings.items():
        listed = [
            f"{clean(row.task)} {signed_interval(row.difference)}"
            for row in found.rows
            if row.difference.verdict == which
        ]
        if listed:
            parts.append(f"{opening}: {', '.join(listed)}.")
    return " ".join(parts)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
