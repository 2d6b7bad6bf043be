"""``milepost lab landmark``: experiments with windows, halos and landmarks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import FILE, Settings, common, model_option
from milepost_eval.cli.task_options import noting, split_names, task_options

if TYPE_CHECKING:
    from milepost_eval.types import Split


@click.command(
    "landmark",
    short_help="Windows, halos and landmarks: seven experiments.",
    epilog="""\b
Examples:
  milepost lab landmark
  milepost lab landmark boundaries,halo
  milepost lab landmark all --report experiments.html

\b
See docs/evaluation.md.""",
)
@click.argument("names", nargs=-1)
@task_options()
@model_option
@click.option(
    "--report",
    metavar="OUT.html",
    type=FILE,
    help="Write the plots beside this file, as OUT-NAME.svg.",
)
@common
@click.pass_obj
def command(
    settings: Settings,
    names: tuple[str, ...],
    tasks: str,
    split: Split,
    questions: int | None,
    documents: int | None,
    data: Path | None,
    cache: Path | None,
    model: str | None,
    report: Path | None,
) -> int:
    """Run the experiments NAMES, or all; without NAMES, list them.

    Every experiment prints a Markdown table with 95 % intervals. `--tasks all` means the tasks
    that an experiment was made for.
    """
    from milepost.writing import write_text
    from milepost_eval.session import Session, check_plot
    from milepost_lab.landmark import EXPERIMENTS, as_markdown, outcomes, plot

    if not names:
        widest = max(map(len, EXPERIMENTS))
        for name, each in EXPERIMENTS.items():
            click.echo(f"{name:<{widest}}  {each.question}")
        return 0
    session = Session(
        tasks=split_names(tasks),
        split=split,
        questions=questions,
        documents=documents,
        data=data,
        cache=cache,
        model=model,
    )
    if report:
        check_plot(report)
    for outcome in outcomes(session, split_names(",".join(names)), noting(settings)):
        click.echo(as_markdown(outcome))
        if report:
            path = report.with_name(f"{report.stem}-{outcome.name}.svg")
            write_text(path, plot(outcome))
    return 0
