"""``milepost fit``: learn a model's ranking and probabilities from questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost.cli.console.options import Interrupted, Settings, common, count_option, json_option
from milepost.errors import InputError
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
task. At least 200 questions about 20 documents are needed, and 1,000 about 50 for trees. Questions
without spans ("spans": []), which their document does not answer, are used only to calibrate. See
docs/export.md.

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
    from milepost_train.ranking.report import lines

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
