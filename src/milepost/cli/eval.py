"""``milepost eval``: whether the evidence is found, beside what people use today."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from milepost.console.options import Interrupted, Settings, common, model_option, say
from milepost.console.progress import Counter

if TYPE_CHECKING:
    from milepost.evaluate.records import Record
    from milepost.evaluate.session import Session
    from milepost.evaluate.types import Setting, Split

FILE = click.Path(path_type=Path, dir_okay=False)

MEASURING = ("tasks", "split", "questions", "documents", "model")
HEARD = {
    "listing": (),
    "compare": ("metric",),
    "sources": ("metric", "report", "as_json", "mteb"),
    "tune": (*MEASURING, "dtype"),
    "experiment": (*MEASURING, "report"),
}
"""What is done instead of measuring systems → the other options that it hears."""
ALWAYS = ("data", "cache", "quiet", "color", "debug")


@click.command(
    "eval",
    short_help="Measure whether the evidence comes back, beside rivals.",
    epilog="""\b
Examples:
  milepost eval --tasks questions.jsonl
  milepost eval --tasks written,trials --systems short,chunk:tuned@minilm --report out.html
  milepost eval --tasks all --systems all --split test --json > results.jsonl
  milepost eval --from results.jsonl --report out.html
  milepost eval --compare before.jsonl after.jsonl
  milepost eval --experiment boundaries,halo
  milepost eval --list

\b
Questions of one's own: JSON lines with "id" and "text" for a document, and with "question",
"document" and "spans" for a question; see docs/evaluation.md.

\b
Environment:
  MILEPOST_DATA    the folder of the tasks, where --data is not given""",
)
@click.option(
    "--tasks",
    metavar="NAMES|FILE",
    default="all",
    show_default=True,
    help="Tasks by name or files of questions, separated by commas.",
)
@click.option(
    "--systems",
    metavar="NAMES",
    default="short",
    show_default=True,
    help="Systems by name, separated by commas; short, all and documents are sets.",
)
@click.option(
    "--split",
    type=click.Choice(["train", "dev", "test"]),
    default="dev",
    show_default=True,
    help="Which questions. Choose on dev, report on test.",
)
@click.option(
    "--setting",
    type=click.Choice(["document", "collection", "both"]),
    default="document",
    show_default=True,
    help="Each question's document is given, or all documents are searched at once.",
)
@click.option(
    "--budgets",
    metavar="N,N",
    default="800,1600,3200",
    show_default=True,
    help="Characters of text that are looked at.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="What tables show. [default: recall at the middle budget]",
)
@click.option(
    "--questions",
    metavar="N",
    type=click.IntRange(min=1),
    help="Ask at most N questions of a task, spread over its documents.",
)
@click.option(
    "--documents",
    metavar="N",
    type=click.IntRange(min=1),
    help="Use at most N documents of a task.",
)
@click.option(
    "--data", metavar="FOLDER", type=click.Path(path_type=Path), help="The folder of the tasks."
)
@click.option(
    "--cache",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep vectors here. [default: eval in Milepost's cache]",
)
@model_option
@click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Numbers that sentence-transformers models compute in.",
)
@click.option("--report", metavar="OUT.html", type=FILE, help="Write a page with plots.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a result, at once.")
@click.option(
    "--from",
    "sources",
    metavar="FILE",
    type=FILE,
    multiple=True,
    help="Show these results and measure nothing. May be repeated.",
)
@click.option(
    "--compare",
    nargs=2,
    metavar="A B",
    type=FILE,
    help="Compare two files of results, question by question.",
)
@click.option(
    "--experiment",
    metavar="NAMES",
    help="Run experiments, see --list; with --report OUT.html their plots go beside it.",
)
@click.option(
    "--tune",
    metavar="FILE",
    type=FILE,
    help="Choose every rival's settings on the questions asked, into FILE.",
)
@click.option(
    "--tuned",
    metavar="FILE",
    type=FILE,
    help="What `tuned` stands for. [default: the package's choices]",
)
@click.option(
    "--mteb",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write the scores as mteb's tools read them, too.",
)
@click.option("--list", "listing", is_flag=True, help="List tasks, systems, metrics, experiments.")
@common
@click.pass_context
def evaluate(
    context: click.Context,
    tasks: str,
    systems: str,
    split: Split,
    setting: str,
    budgets: str,
    metric: str | None,
    questions: int | None,
    documents: int | None,
    data: Path | None,
    cache: Path | None,
    model: str | None,
    dtype: str,
    report: Path | None,
    as_json: bool,
    sources: tuple[Path, ...],
    compare: tuple[Path, Path] | None,
    experiment: str | None,
    tune: Path | None,
    tuned: Path | None,
    mteb: Path | None,
    listing: bool,
) -> int:
    """Ask questions whose evidence is marked, and measure which of it comes back.

    Every result is a mean over questions with its 95 % interval, by resampling documents. No
    difference is shown without one.
    """
    settings: Settings = context.obj
    _check_heard(context)
    if listing:
        from milepost.cli.eval_show import show_names

        return show_names()
    if compare:
        return _compare(*compare, metric)
    from milepost.evaluate.session import Session, check_metric, check_plots
    from milepost.evaluate.types import SETTINGS
    from milepost.evaluate.writing import check_output

    session = Session(
        tasks=_listed(tasks),
        systems=_listed(systems),
        split=split,
        settings=SETTINGS if setting == "both" else (cast("Setting", setting),),
        budgets=_budgets(budgets),
        questions=questions,
        documents=documents,
        data=data,
        cache=cache,
        model=model,
        dtype=dtype,
        tuned=tuned,
    )
    if report:
        check_plots(report)
    if tune:
        check_output(tune)
        return _tune(settings, session, tune)
    if experiment:
        return _experiments(settings, session, _listed(experiment), report)
    if metric and not sources:
        check_metric(metric, session.budgets, session.settings)
    if mteb and not sources and setting == "document":
        raise click.UsageError("--mteb: mteb knows only collections, add --setting collection")
    records = _measured(settings, session, sources, as_json=as_json)
    if not as_json:  # before any file is written: a full disk should not take the figures along
        from milepost.cli.eval_show import show_records

        show_records(records, metric)
    if report:
        from milepost.evaluate.report import write_page

        names = [record.system for record in records]
        ours = "landmark" if "landmark" in names else names[0]
        command = shlex.join(["milepost", *sys.argv[1:]])
        write_page(report, records, ours=ours, command=command)
    if mteb:
        from milepost.evaluate.mteb_export import export

        export(records, mteb)
    return 0


def _check_heard(context: click.Context) -> None:
    """Refuse options that would say nothing: nobody should think that they did."""
    from click.core import ParameterSource

    given = [
        parameter
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]
    for doing in given:
        for other in given if doing.name in HEARD else ():
            if other is not doing and other.name not in (*HEARD[doing.name], *ALWAYS):
                raise click.UsageError(f"{doing.opts[0]} takes no {other.opts[0]}")


def _listed(names: str) -> list[str]:
    found = [name.strip() for name in names.split(",") if name.strip()]
    if not found:
        raise click.UsageError("a list of names is empty")
    return found


def _budgets(given: str) -> list[int]:
    budgets = [int(each) if each.isdecimal() else 0 for each in _listed(given)]
    if min(budgets) < 1:
        raise click.UsageError(f"--budgets {given}: write numbers of characters, 800,1600")
    return budgets


def _measured(
    settings: Settings, session: Session, sources: tuple[Path, ...], *, as_json: bool
) -> list[Record]:
    """Records of the files, or measured now; as JSON each is printed as soon as it is there."""
    from milepost.evaluate.records import read, to_line

    if sources:
        records = [record for source in sources for record in read(source)]
        if as_json:
            for record in records:
                click.echo(to_line(record))
        return records
    with Counter(settings) as counter:
        records = []
        try:
            for record in session.records(counter, _told(settings, counter)):
                records.append(record)
                if as_json:
                    counter.clear()
                    click.echo(to_line(record))
                    sys.stdout.flush()  # what is measured is there even if the next one is killed
        except KeyboardInterrupt:
            raise Interrupted("vectors are kept: the same command goes on from here") from None
    return records


def _told(settings: Settings, counter: Counter | None = None) -> Callable[[str], None]:
    """Where notes go: to stderr, unless they are not wanted."""

    def told(note: str) -> None:
        if counter is not None:
            counter.clear()
        if not settings.quiet:
            say(note)

    return told


def _compare(a: Path, b: Path, metric: str | None) -> int:
    from milepost.cli.eval_show import show_comparison
    from milepost.evaluate.compare import compare
    from milepost.evaluate.records import read

    show_comparison(compare(read(a), read(b), metric), a.name, b.name)
    return 0


def _tune(settings: Settings, session: Session, path: Path) -> int:
    from milepost.evaluate.tuned import write_tuned
    from milepost.evaluate.tuning import tune

    def told(name: str, figure: float) -> None:
        if not settings.quiet:
            say(f"{100 * figure:5.1f}  {name}")

    tuned = tune([task for task, _ in session.loaded()], session.workshop, progress=told)
    write_tuned(path, tuned)
    for family, name in tuned.choices.items():
        click.echo(f"{family}  {name}  {100 * tuned.grids[family][name]:.1f}")
    return 0


def _experiments(
    settings: Settings, session: Session, names: list[str], report: Path | None
) -> int:
    """Tables on stdout as Markdown; with --report the plots beside it."""
    from milepost.evaluate.writing import write_text
    from milepost.lab.landmark import as_markdown, outcomes, plot

    for outcome in outcomes(session, names, _told(settings)):
        click.echo(as_markdown(outcome))
        if report:
            path = report.with_name(f"{report.stem}-{outcome.name}.svg")
            write_text(path, plot(outcome))
    return 0
