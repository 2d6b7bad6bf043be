"""The report of a fit as text: what it was made from, and what it gives on documents left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from milepost.wording import counted


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The report, line by line; ``fit.json`` holds the same figures and more."""
    yield f"{report['model']}: {report['trees'] or 'no'} trees, seed {report['seed']}"
    yield ""
    yield f"{'questions (documents)':<24}{'train':>16}{'dev':>16}"
    for task, splits in report["questions"].items():
        cells = "".join(f"{_counted(splits.get(split)):>16}" for split in ("train", "dev"))
        yield f"{task:<24}{cells}"
    for note in report["notes"]:
        yield f"note: {note}"
    yield ""
    budgets = ", ".join(f"{each:,}" for each in report["budgets"])
    evidence = dict(report["evidence"])
    again = evidence.pop("questions with reranker", None)
    yield f"evidence found within {budgets} characters, %; mean of tasks, cross-fitted by document"
    yield from _table(evidence)
    if again is not None:
        yield ""
        yield "the same for the questions that were reranked, too"
        yield from _table(again)
    yield ""
    yield f"{'probabilities, cross-fitted':<28}{'log loss':>12}{'calibration error':>20}"
    for name, figures in report["probability"].items():
        for state in ("default", "fitted"):
            row = figures[state]
            yield (
                f"  {f'{name}, {state}':<26}{row['log loss']:>12.4f}"
                f"{row['calibration error']:>20.4f}"
            )
    if "left out" in report:
        yield ""
        yield from _left_out(report["left out"])
    if "absent" in report:
        yield ""
        yield from _told_apart(report["absent"])


def _left_out(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "tasks left out: % found within the budgets, learned from the others and from all tasks"
    yield f"{'calibration error':>92}"
    for row in rows:
        from_others = row["learned from"]
        yield (
            f"  {row['task']}: learned from {counted(from_others['questions'], 'question')} "
            f"({from_others['documents']}) of others, {row['trees'] or 'no'} trees"
        )
        for ranking in ("learned ranking", "with reranker"):
            for learned, name in (("left out", "others"), ("all tasks", "all tasks")):
                figures = row.get(ranking, {}).get(learned, {"evidence": {}})
                for setting, found in figures["evidence"].items():
                    cells = "".join(f"{value:>8.1f}" for value in found)
                    error = f"{figures['calibration error']:>20.4f}"
                    shown = error if setting == "document" else ""
                    yield f"    {f'{ranking}, {setting}, {name}':<44}{cells}{shown}"


def _told_apart(absent: Mapping[str, Any]) -> Iterator[str]:
    yield "questions with a passage of at least a score, %, by task; cross-fitted by document"
    yield f"  {'minimum score':<46}" + "".join(f"{each:>8.0%}" for each in absent["min scores"])
    for ranking in ("learned ranking", "with reranker"):
        for task, asked in absent["questions"].items():
            of_absent = f"absent: {counted(asked['questions'], 'question')} ({asked['documents']})"
            named = (("document", "document"), ("elsewhere", "elsewhere"), ("absent", of_absent))
            for setting, words in named:
                shares = absent.get(ranking, {}).get(setting, {}).get(task)
                if shares is not None:
                    cells = "".join(f"{value:>8.1f}" for value in shares)
                    yield f"  {f'{task}, {ranking}, {words}':<46}{cells}"


def _counted(split: Mapping[str, int] | None) -> str:
    return f"{split['questions']:,} ({split['documents']})" if split else "-"


def _table(rows: Mapping[str, Mapping[str, Mapping[str, list[float]]]]) -> Iterator[str]:
    for name, settings in rows.items():
        for setting, tasks in settings.items():
            found = "".join(f"{value:>8.1f}" for value in tasks["mean"])
            yield f"  {f'{name}, {setting}':<30}{found}"
