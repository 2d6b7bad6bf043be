"""``milepost fit``: learn a model's ranking and probabilities from questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost.cli.console.options import Interrupted, Settings, common, count_option, json_option
from milepost.errors import InputError
from milepost.wording import counted
from milepost_eval.cli.task_options import noting, split_names
from milepost_eval.cli.terminal import FOLDER, Counter
from milepost_train.cli import allow_nc_option, cache_option

if TYPE_CHECKING:
    from milepost_train.ranking.questions import Splits


@click.command(
    short_help="Learn a model's ranking and probabilities.",
    epilog="""\b
Examples:
  milepost fit my-model/ --tasks questions.jsonl
  milepost fit my-model/ --tasks questions.jsonl --split dev --out fitted/
  milepost fit landmark-minilm --tasks written,trials,policies:dev --hold-out 0.12 --out fitted/
  milepost fit my-model/ --tasks written,trials --leave-out each

\b
Ranking is learned from train questions and calibrated on dev questions; if all questions are of
one split, they do both, cross-fitted by document. NAME:train and NAME:dev take one split of a
task. At least 200 questions about 20 documents are needed, of train and of dev each if there are
both, and 1,000 about 50 for trees. Questions without spans ("spans": []), which their document
does not answer, are used only to calibrate. See docs/export.md.

\b
Environment:
  MILEPOST_DATA    the folder of the tasks, if --data is not given""",
)
@click.argument("model")
@click.option(
    "--tasks",
    metavar="NAMES|FILES",
    required=True,
    help="Tasks by name or files of questions, separated by commas.",
)
@click.option(
    "--split",
    type=click.Choice(["both", "train", "dev"]),
    default="both",
    help="Which questions; both: learn from train, calibrate on dev.",
)
@count_option("--documents", 40, "Maximum number of documents of one task and split.")
@count_option("--questions", 24, "Maximum number of questions about one document.")
@click.option(
    "--hold-out",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Share of train documents that the model's own training left out (its hold_out); "
    "only these are learned from. [default: what the model's record says]",
)
@allow_nc_option
@click.option("--data", type=FOLDER, help="The folder of the tasks.")
@click.option(
    "--out", type=FOLDER, help="Write a copy of the model here. [default: MODEL itself is changed]"
)
@cache_option("eval")
@count_option("--seed", 1, "Seed of the trees and of the parts for cross-fitting.", minimum=0)
@click.option("--no-trees", is_flag=True, help="Learn weights and probabilities only.")
@click.option(
    "--keep-ranking",
    is_flag=True,
    help="Keep the weights and trees of MODEL, which must be fitted: for another reranker.",
)
@click.option(
    "--leave-out",
    metavar="NAME[,NAME]",
    help="Also fit without these tasks, one at a time, and measure each with the others' fit; "
    "each: every task. Changes the report only.",
)
@json_option
@common
@click.pass_obj
def fit(
    settings: Settings,
    model: str,
    tasks: str,
    split: Splits,
    documents: int,
    questions: int,
    hold_out: float | None,
    allow_nc: bool,
    data: Path | None,
    out: Path | None,
    cache: Path | None,
    seed: int,
    no_trees: bool,
    keep_ranking: bool,
    leave_out: str | None,
    as_json: bool,
) -> None:
    """Learn how MODEL (a folder or a name) ranks sentences, and calibrate its probabilities.

    Fusion weights, trees, passage growth, the reranker's weight and the calibration of
    probabilities are learned from questions whose evidence is marked, and written to the model
    folder. If the command is stopped, nothing is written. The report, also in fit.json in that
    folder, has figures on documents from which nothing was learned.
    """
    from milepost._optional import require
    from milepost.encoder.engine.folder import cache_folder, find_model
    from milepost.search.ranking import Ranking
    from milepost_eval.factory import SystemFactory
    from milepost_eval.session import data_folder
    from milepost_eval.vectors import Vectors
    from milepost_train.ranking.questions import Sizes, roles

    if keep_ranking and (no_trees or leave_out):
        raise click.UsageError("--keep-ranking goes with neither --no-trees nor --leave-out")
    if not (no_trees or keep_ranking):
        require("lightgbm", extra="train")
    folder = find_model(model)
    if out is None and not Path(model).is_dir():
        raise InputError(f"{model} is the name of a model, not your own folder", "--out FOLDER")
    from milepost_train.ranking.fit import fit as fitted
    from milepost_train.ranking.folder import check_out, write_folder
    from milepost_train.ranking.left_out import measure_left_out, others

    place = out or folder.path
    check_out(folder.path, place)
    sizes = Sizes(documents, questions)
    asked = roles(
        split_names(tasks),
        data_folder(data),
        folder.manifest.trained,
        split=split,
        sizes=sizes,
        hold_out=hold_out,
        allow_nc=allow_nc,
    )
    rest = others(asked, split_names(leave_out) if leave_out else [])
    vectors = Vectors((cache or cache_folder() / "eval") / "vectors.sqlite")
    encoder = SystemFactory(vectors, model=model).encoder()
    with Counter(settings) as counter:
        progress = counter.steps_of()
        try:
            made = fitted(
                encoder,
                asked,
                seed=seed,
                with_trees=not no_trees,
                keep=Ranking.read(encoder.manifest.fusion, folder.path) if keep_ranking else None,
                sizes=sizes,
                progress=progress,
                note=noting(settings, counter),
            )
            if rest:
                options: dict[str, Any] = {"seed": seed, "with_trees": not no_trees}
                made.report["left out"] = measure_left_out(
                    encoder, asked, rest, made.report, sizes=sizes, progress=progress, **options
                )
        except KeyboardInterrupt:
            raise Interrupted("nothing was written; vectors read so far are kept") from None
    write_folder(folder.path, place, made.fusion, made.trees, made.report)
    if as_json:
        click.echo(json.dumps(made.report, ensure_ascii=False))
    elif not settings.quiet:
        for line in lines(made.report):
            click.echo(line)
        click.echo(f"\n{place}")


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
