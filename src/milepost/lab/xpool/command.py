"""``milepost lab xpool``: documents found by a mean, re-ranked by what is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import Settings, common, count_option, json_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost.lab.options import (
    FILE,
    controls_option,
    kept_vectors,
    needs_torch,
    seed_option,
    vectors_option,
)

if TYPE_CHECKING:
    from milepost.evaluate.types import Split
    from milepost.pooling.xpool import Against


@click.command(
    "xpool",
    short_help="Re-rank documents by a pooling that reads the question.",
    epilog="""\b
Examples:
  milepost lab xpool tasks/written tasks/squad_articles
  milepost lab xpool tasks/* --steps 200 --seeds 5 --out xpool.npz
  milepost lab xpool tasks/written --heads 4 --temperature 0.5 --json

\b
Each FOLDER holds documents.jsonl.gz and questions.jsonl.gz. Training reads the training questions,
figures are of the development questions. What --out writes, milepost.pooling.load reads.
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
    show_default=True,
    help="Which questions are asked.",
)
@count_option("--questions", 200, "Questions asked of each task, at most.")
@count_option("--train-documents", 30, "Documents of each task to learn from, at most.")
@count_option("--train-questions", 300, "Questions of each task to learn from, at most.")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="K",
    help="Documents that the first stage keeps.",
)
@count_option("--steps", 100, "Training steps of 16 documents.")
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=3e-4,
    show_default=True,
    metavar="X",
    help="Learning rate.",
)
@count_option("--heads", 1, "Heads of the attention.")
@click.option(
    "--temperature",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="X",
    help="Divides the attention's scores.",
)
@click.option(
    "--final-norm/--no-final-norm",
    default=True,
    show_default=True,
    help="The last LayerNorm, with the published block.",
)
@click.option(
    "--against",
    type=click.Choice(["query", "centred", "normed"]),
    default="query",
    show_default=True,
    help="What a document's vector is compared with.",
)
@click.option(
    "--splice",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.5,
    show_default=True,
    metavar="X",
    help="Foreign share of each document in the robustness column; 0 for none.",
)
@count_option("--seeds", 1, "Trainings; figures are their mean.")
@seed_option()
@click.option(
    "--out",
    type=FILE,
    metavar="FILE",
    help="Write the first seed's pooling here (.npz).",
)
@click.option(
    "--model",
    metavar="NAME|FOLDER",
    default="landmark-light",
    show_default=True,
    help="A shipped model or a model folder.",
)
@vectors_option
@controls_option
@click.option("--allow-nc", is_flag=True, help="Learn from documents for non-commercial use.")
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
    final_norm: bool,
    against: Against,
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
    """Find documents by the mean of their landmarks, then order the best by what is asked.

    X-Pool is trained on the landmarks of training documents and held against poolings without
    parameters: the best landmark, the three best, a softmax over all.
    """
    from milepost.evaluate.names import Workshop
    from milepost.lab.controls.readers import control_readers
    from milepost.lab.xpool.study import Asking, study
    from milepost.lab.xpool.table import table
    from milepost.lab.xpool.training import XPoolRecipe

    with Counter(settings) as counter:
        found = study(
            folders,
            Workshop(kept_vectors(cache), model=model).encoder(),
            XPoolRecipe(steps=steps, rate=rate, against=against),
            {"heads": heads, "temperature": temperature, "final_norm": final_norm},
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
            f"{', '.join(found['tasks'])}; the first stage keeps {keep}, which hold the document "
            f"of {100 * found['ceiling']:.1f} % of the questions."
        )
        if controls:
            click.echo(
                "@random, @nonsense, @hierarchical: landmarks of encoders that know nothing, over "
                "their own first stage."
            )
        if out is not None:
            click.echo(f"{out}")
    return 0
