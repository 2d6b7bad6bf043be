"""How ``milepost eval`` prints results, comparisons and names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from milepost.cli.console.screen import visible, width
from milepost.wording import counted
from milepost_eval.cli.terminal import columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from milepost_eval.compare import Comparison
    from milepost_eval.records import Record
    from milepost_eval.statistics import Difference


def show_records(records: Sequence[Record], metric: str | None) -> None:
    """Print a table a setting; where no metric is asked for, every record is in one of them."""
    from milepost_eval.records import usual_metric
    from milepost_eval.report import as_text, rows

    shown = metric or usual_metric(name for record in records for name in record.metrics)
    places = {(record.task, record.setting) for record in records if shown in record.metrics}
    measured = [each for each in records if (each.task, each.setting) in places] or records
    others = [each for each in records if (each.task, each.setting) not in places]
    for setting in dict.fromkeys(record.setting for record in measured):
        click.echo(as_text(rows(measured, shown, setting), width(sys.stdout)))
    if metric is None:
        _show_probabilities(measured)
    if others and metric is None:
        show_records(others, None)
    for what in dict.fromkeys(f"{record.task}, setting {record.setting}" for record in others):
        if metric is not None:
            click.echo(f"Without {metric}: {visible(what)}")


def _show_probabilities(records: Sequence[Record]) -> None:
    """Print what probabilities say of questions that nothing answers, where there are such."""
    from milepost_eval.probabilities import OF_PROBABILITIES
    from milepost_eval.report.table import cells

    asked = {(record.task, record.setting) for record in records if "auroc" in record.metrics}
    lines = [
        (
            f"{record.task}, {record.setting}, {record.system}",
            *(cells(record, name)[0] for name in OF_PROBABILITIES),
        )
        for record in records
        if (record.task, record.setting) in asked
    ]
    if lines:
        head = ("probabilities, in percent", *OF_PROBABILITIES)
        click.echo("\n".join([*columns(head, lines), ""]))


def show_comparison(comparison: Comparison, a: str, b: str) -> None:
    """Print every difference with its interval, per task and over tasks, and what it decides."""
    from milepost_eval.compare import verdict

    click.echo(f"{comparison.metric}, percent: A = {visible(a)}, B = {visible(b)}\n")
    head = ("task", "system", "A", "B", "A - B", "p", "A is", "questions")
    lines = [
        (
            f"{row.task}, {row.setting}, {row.split}",
            row.a if row.a == row.b else f"{row.a} / {row.b}",
            _percent(row.mean_a),
            _percent(row.mean_b),
            _difference(row.difference),
            f"{row.adjusted:.3f}",
            verdict(comparison.metric, row.difference),
            f"{row.difference.questions:,} in {counted(row.difference.clusters, 'document')}",
        )
        for row in comparison.rows
    ]
    lines += [
        (
            f"mean of {counted(len(each.tasks), 'task')}, {each.setting}, {each.split}",
            each.a if each.a == each.b else f"{each.a} / {each.b}",
            _percent(each.mean_a),
            _percent(each.mean_b),
            _difference(each.difference),
            f"{each.difference.p:.3f}",
            verdict(comparison.metric, each.difference),
            f"Wilcoxon over tasks p = {each.wilcoxon:.3f}",
        )
        for each in comparison.overall
    ]
    for line in columns(head, lines, left=len(head)):
        click.echo(line)
    click.echo("\nIn brackets: 95 % interval, documents resampled. p of tasks: Holm's correction.")
    alone = {(row.task, row.only_a, row.only_b): None for row in comparison.rows}
    for task, only_a, only_b in alone:
        if only_a or only_b:
            click.echo(
                f"{visible(task)}: not compared are {counted(only_a, 'question')} only in A and "
                f"{only_b:,} only in B."
            )
    for name, unpaired in (("A", comparison.alone_a), ("B", comparison.alone_b)):
        for what in unpaired:
            click.echo(f"Only in {name}: {visible(what)}")
    for what in comparison.unmeasured:
        click.echo(f"Without {comparison.metric}: {visible(what)}")


def show_names() -> int:
    """Print tasks, systems, models and metrics, each with a line of explanation."""
    from milepost_eval.catalogue import KINDS, read_catalogue
    from milepost_eval.embedders import NAMES as MODELS
    from milepost_eval.metrics import AT_BUDGET, AT_RANK, OF_DOCUMENTS, OF_SENTENCES
    from milepost_eval.probabilities import OF_PROBABILITIES
    from milepost_eval.tasks.names import NAMES

    tasks = dict.fromkeys(NAMES, "of the shared data (--data)")
    tasks["beir:FOLDER"] = "a collection in BEIR's layout"
    tasks["FILE.jsonl"] = "questions of your own"
    _section("Tasks", tasks)
    catalogue = read_catalogue()
    for kind, (about, _) in KINDS.items():
        names = [name for name, row in catalogue.rows.items() if row.kind == kind]
        _section(f"Systems of the kind {kind}: {about}", dict.fromkeys(names, ""))
    _section("Models", {**MODELS, "FOLDER": "a model of Milepost or sentence-transformers"})
    _section("Sets of systems", {name: ", ".join(names) for name, names in catalogue.sets.items()})
    at_budget = {f"{name}@BUDGET": text for name, text in AT_BUDGET.items()}
    _section("Metrics", at_budget | AT_RANK | OF_SENTENCES | OF_DOCUMENTS | OF_PROBABILITIES)
    return 0


def _section(title: str, names: Mapping[str, str]) -> None:
    click.echo(title)
    widest = max(map(len, names))
    for name, text in names.items():
        click.echo(f"  {name:<{widest}}  {text}".rstrip())
    click.echo()


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _difference(difference: Difference) -> str:
    low, high = 100 * difference.low, 100 * difference.high
    return f"{100 * difference.mean:+.1f} [{low:+.1f}, {high:+.1f}]"
