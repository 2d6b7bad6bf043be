"""``milepost lab compare``: every pooling on the same states, with intervals and tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import (
    FILE,
    FOLDER,
    Interrupted,
    Settings,
    code_option,
    common,
    count_option,
    say,
)
from milepost.console.progress import Counter
from milepost_lab.options import controls_option, needs_torch, seed_option

if TYPE_CHECKING:
    from milepost_lab.compare.found import Found
    from milepost_lab.compare.recipe import Network


@click.command(
    "compare",
    short_help="Compare poolings on the same states.",
    epilog="""\b
Examples:
  milepost lab compare --json pooling.jsonl --report plots/
  milepost lab compare --code my_pooling.py --model my-encoder/ --data pairs.csv
  milepost lab compare --pool mean,mlb,mfb --until-flat --json fusions.jsonl
  milepost lab compare --network lora --pool mean,cls --data my-beir/
  milepost lab compare --as-index --pool mean,attention --save poolings/
  milepost lab compare --pool attention,attention:temperature=0.2 --no-train

\b
PATH is a file or folder of pairs (JSON lines, CSV, TSV, Parquet), a folder in the layout of BEIR or
MTEB (corpus, queries, qrels), Milepost's shared data, or packaged: 1,500 pairs in the package.
A POOLING is NAME, NAME:setting=value:setting=value, or NAME@random over a network with random
weights (or another baseline). Runs in the file of --json are not repeated. See
docs/lab-compare.md.""",
)
@click.option(
    "--pool",
    metavar="POOLING,…",
    help="Poolings, or all. [default: nine common ones, and those of --code]",
)
@code_option
@click.option("--tasks", metavar="TASK,…", help="Tasks. [default: all]")
@click.option(
    "--model",
    metavar="FOLDER",
    help="A checkpoint, or minilm. [default: minilm; for ../shared/data the repository's, if any]",
)
@click.option(
    "--train/--no-train",
    "trained",
    default=True,
    help="Train pooling and head, or compare the pooled vectors as they are.",
)
@click.option(
    "--tune/--no-tune",
    default=True,
    help="Choose the learning rate of each pooling on validation pairs.",
)
@click.option(
    "--rate",
    "rates",
    metavar="NUMBER,…",
    help="Learning rates to choose from; a single one is used as is. [default: 2e-4,1e-3,5e-3]",
)
@click.option(
    "--until-flat",
    is_flag=True,
    help="Train until the validation loss is flat, for at most --steps (3,000), with more rates to "
    "choose from.",
)
@click.option(
    "--network",
    type=click.Choice(["frozen", "lora", "full"]),
    default="frozen",
    help="Train the encoder with each pooling too: not at all (frozen), by LoRA, or in full.",
)
@click.option(
    "--against",
    metavar="ROW",
    help="The row that the others are compared with. [default: lmk, else mean, else the first]",
)
@click.option(
    "--as-index",
    is_flag=True,
    help="Pool unit landmarks without heads, as for the document vectors of an index.",
)
@count_option("--seeds", 5, "Number of seeds.")
@seed_option("The first seed.")
@click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    help="Training steps. [default: the recipe's]",
)
@click.option(
    "--pairs", type=click.IntRange(24), metavar="N", help="Training pairs. [default: 600]"
)
@click.option("--asked", type=click.IntRange(2), metavar="N", help="Queries to ask. [default: 300]")
@click.option(
    "--documents", type=click.IntRange(2), metavar="N", help="Long documents. [default: 64]"
)
@click.option(
    "--tokens",
    type=click.IntRange(4),
    metavar="N",
    help="Maximum tokens of a passage of your data; the rest is cut off. [default: 256]",
)
@click.option(
    "--texts",
    type=click.IntRange(2),
    metavar="N",
    help="Documents of a corpus to rank. [default: 1000]",
)
@controls_option
@click.option(
    "--data",
    metavar="PATH",
    multiple=True,
    help="Data; may be repeated. [default: ../shared/data, else packaged]",
)
@click.option("--json", "results", type=FILE, help="Keep runs here; .xz compresses.")
@click.option(
    "--save", type=FOLDER, help="Write each pooling here (.npz), for milepost export --pooling."
)
@click.option("--report", type=FOLDER, help="Write plots here.")
@click.option("--cache", type=FOLDER, help="Keep states here. [default: Milepost's cache]")
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings | None,
    pool: str | None,
    code: tuple[Path, ...],
    tasks: str | None,
    model: str | None,
    trained: bool,
    tune: bool,
    rates: str | None,
    until_flat: bool,
    network: Network,
    against: str | None,
    as_index: bool,
    seeds: int,
    seed: int,
    steps: int | None,
    pairs: int | None,
    asked: int | None,
    documents: int | None,
    tokens: int | None,
    texts: int | None,
    controls: bool,
    data: tuple[str, ...],
    results: Path | None,
    save: Path | None,
    report: Path | None,
    cache: Path | None,
) -> int:
    """Train every pooling in the same way on the states of one network, and rank them.

    Tables go to stdout as Markdown: the ranking, each pooling minus one of them (--against),
    lengths, seeds, learning curves and cost, with 95 % intervals and corrected tests.
    """
    from dataclasses import replace

    if report is not None:
        from milepost._optional import require

        require("matplotlib", extra="lab")  # checked before the runs, not after
    from milepost_eval.embedders.choose import NAMES
    from milepost_lab.compare.cache import ResultCache
    from milepost_lab.compare.found import Found
    from milepost_lab.compare.given import check_against, recipe_of, settings_of
    from milepost_lab.compare.images import TASK as IMAGES
    from milepost_lab.compare.images import images
    from milepost_lab.compare.material import Sizes
    from milepost_lab.compare.reading import MINILM, TokenReader, default_cache, default_model
    from milepost_lab.compare.rows import rows_of
    from milepost_lab.compare.session import Session
    from milepost_lab.compare.sources import read_tasks, sources, task_names
    from milepost_lab.controls.kinds import KINDS
    from milepost_lab.pooling.code import run_code

    told = settings or Settings()
    for file in code:
        run_code(file)
    found = sources(data)
    ours = all(source.kind == "shared" for source in found)
    # Pre-training byte encoders takes as long as a comparison on data of others.
    kinds = KINDS if ours else ("random",)
    rows = rows_of(pool, controls=controls and network == "frozen" and not as_index, kinds=kinds)
    names = task_names(tasks, found)
    recipe = recipe_of(
        steps, rates, tune=tune, network=network, as_index=as_index, until_flat=until_flat
    )
    runs = ResultCache(results)
    kept = [run.row for run in runs.runs if run.trained == trained]
    check_against(against, [*(row.name for row in rows), *kept])
    given = {
        "pairs": pairs,
        "asked": asked,
        "documents": documents,
        "tokens": tokens,
        "texts": texts,
    }
    sizes = replace(Sizes(), **{name: number for name, number in given.items() if number})
    chosen = model or default_model(ours=ours)
    reader = TokenReader.open(chosen, cache or default_cache(), transformers=network == "lora")
    with Counter(told) as counter:

        def note(line: str) -> None:
            counter.clear()
            if not told.quiet:
                say(line)

        if save is not None and trained and not as_index:
            note("saved poolings come without their heads; --as-index trains them without any")
        if network == "lora" and reader.replaced:
            note("with --network lora separators attend to all tokens, not to their sentence alone")
        counter("", "finding documents and questions", 0, 1)
        tasks_of_text = read_tasks(found, reader.words, names, sizes, note)
        others = [images()] if IMAGES in names and trained and recipe.network == "frozen" else []
        session = Session(reader, tasks_of_text, others, recipe, runs, trained, save, counter, note)
        session.agree(settings_of(reader.identity, sizes, recipe))
        try:
            session.run(rows, range(seed, seed + seeds))
        except KeyboardInterrupt:
            stored = "finished runs are stored; run the same command to continue"
            raise Interrupted(
                stored if results else "with --json FILE a run can be continued"
            ) from None
    _show(
        Found(runs, trained=trained, against=against),
        NAMES[MINILM] if chosen == MINILM else chosen,
        report,
    )
    return 1 if session.left_out else 0


def _show(found: Found, model: str, report: Path | None) -> None:
    from milepost_lab.compare.pictures import write
    from milepost_lab.compare.tables import tables
    from milepost_lab.landmark import as_markdown

    for outcome in tables(found, model):
        click.echo(as_markdown(outcome))
    if report is not None:
        for path in write(found, report):
            click.echo(path)
