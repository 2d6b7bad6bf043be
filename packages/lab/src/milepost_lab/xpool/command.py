"""``milepost lab xpool``: rerank documents by a pooling that depends on the question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import FILE, Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.options import (
    controls_option,
    kept_vectors,
    needs_torch,
    seed_option,
    vectors_option,
)

if TYPE_CHECKING:
    from milepost_eval.types import Split


@click.command(
    "xpool",
    short_help="Rerank documents by a pooling that reads the question.",
    epilog="""\b
Examples:
  milepost lab xpool tasks/written tasks/squad_articles
  milepost lab xpool tasks/* --steps 200 --seeds 5 --out xpool.npz
  milepost lab xpool tasks/written --heads 4 --temperature 0.5 --json

\b
Each FOLDER holds documents.jsonl.gz and questions.jsonl.gz. Training uses the training questions;
figures are for the questions of --split. milepost_lab.pooling.load reads the file of --out.
See docs/pooling/xpool.md.""",
)
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@click.option(
    "--split",
    type=click.Choice(["dev", "test"]),
    default="dev",
    help="Split of the evaluated questions.",
)
@count_option("--questions", 200, "Maximum number of questions of each task.")
@count_option("--train-documents", 30, "Maximum number of training documents of each task.")
@count_option("--train-questions", 300, "Maximum number of training questions of each task.")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=20,
    metavar="K",
    help="Documents that the first stage returns.",
)
@count_option("--steps", 100, "Training steps of 16 documents.")
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=3e-4,
    metavar="X",
    help="Learning rate.",
)
@count_option("--heads", 1, "Heads of the attention.")
@click.option(
    "--temperature",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    metavar="X",
    help="Divisor of the attention scores.",
)
@click.option(
    "--splice",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.5,
    metavar="X",
    help="Share of foreign landmarks in the robustness column; 0 for none.",
)
@count_option("--seeds", 1, "Number of trainings, whose figures are averaged.")
@seed_option()
@click.option("--out", type=FILE, help="Write the pooling of the first seed here (.npz).")
@click.option(
    "--model",
    metavar="NAME|FOLDER",
    default="landmark-light",
    help="A shipped model or a model folder.",
)
@vectors_option
@controls_option
@click.option("--allow-nc", is_flag=True, help="Also train on documents for non-commercial use.")
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    folders: tuple[Path, ...],
    split: Split,
    questions: int,
    train_documents: int,
    train_questions: int,
    keep: int,
    steps: int,
    rate: float,
    heads: int,
    temperature: float,
    splice: float,
    seeds: int,
    seed: int,
    out: Path | None,
    model: str,
    cache: Path | None,
    controls: bool,
    allow_nc: bool,
    as_json: bool,
) -> int:
    """Find documents by the mean of their landmarks, then rerank the best by the question.

    X-Pool is trained on the landmarks of training documents and compared with poolings without
    parameters: the best landmark, the three best, a softmax over all.
    """
    from milepost.writing import check_output
    from milepost_eval.factory import SystemFactory
    from milepost_lab.controls.readers import control_readers
    from milepost_lab.xpool.study import Asking, study
    from milepost_lab.xpool.table import table
    from milepost_lab.xpool.training import XPoolRecipe

    if out is not None:
        check_output(out)
    with Counter(settings) as counter:
        found = study(
            folders,
            SystemFactory(kept_vectors(cache), model=model).encoder(),
            XPoolRecipe(steps=steps, rate=rate),
            {"heads": heads, "temperature": temperature},
            Asking(
                split=split,
                questions=questions,
                train_documents=train_documents,
                train_questions=train_questions,
                allow_nc=allow_nc,
                keep=keep,
                splice=splice,
                seeds=range(seed, seed + seeds),
            ),
            controls=control_readers(controls),
            out=out,
            say=counter.steps_of(),
        )
    if as_json:
        print_json(found)
        return 0
    click.echo(table(found["rows"]))
    if not settings.quiet:
        click.echo(
            f"\n{found['questions']:,} {split} questions over {found['documents']:,} documents of "
            f"{', '.join(found['tasks'])}; the first stage returns {keep}, among them the document "
            f"of {100 * found['ceiling']:.1f} % of the questions."
        )
        if controls:
            click.echo(
                "@random, @nonsense, @hierarchical: landmarks of untrained baselines, after their "
                "own first stage."
            )
        if out is not None:
            click.echo(f"{out}")
    return 0
