"""``milepost mine``: hard negatives for questions whose evidence is marked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.console.options import (
    Interrupted,
    Settings,
    common,
    count_option,
    model_option,
    say,
)
from milepost_eval.cli.terminal import FILE, Counter
from milepost_train.cli import allow_nc_option, cache_option, split_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from milepost.errors import InputError
    from milepost_eval.types import Split


@click.command(
    short_help="Find hard negatives for questions.",
    epilog="""\b
Examples:
  milepost mine documents.jsonl.gz questions.jsonl.gz --out negatives.jsonl
  milepost mine made.jsonl --out negatives.jsonl --collection 0
  milepost mine made.jsonl --out negatives.jsonl --below 0.9 --model my-model/

\b
DOCUMENTS and QUESTIONS are JSON lines, gzipped or not; one file may hold both. Run the same command
again to resume after an interruption. See docs/training-data.md.""",
)
@click.argument("documents", type=FILE)
@click.argument("questions", type=FILE, required=False)
@click.option("--out", type=FILE, required=True, help="Write JSON lines here.")
@count_option("--document", 8, "Maximum negatives of a question from its own document.", minimum=0)
@count_option("--collection", 8, "Maximum negatives from all other documents.", minimum=0)
@click.option(
    "--below",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.95,
    metavar="X",
    help="Drop sentences that score above this fraction of the evidence's score.",
)
@click.option(
    "--similar",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    metavar="X",
    help="Drop sentences that share this fraction of their words with the evidence.",
)
@count_option(
    "--around", 1, "Never take this many sentences on each side of the evidence.", minimum=0
)
@split_option("Use the questions of this split; lines without a split are in dev.")
@allow_nc_option
@cache_option("train")
@model_option
@common
@click.pass_obj
def mine(
    settings: Settings,
    documents: Path,
    questions: Path | None,
    out: Path,
    document: int,
    collection: int,
    below: float,
    similar: float,
    around: int,
    split: Split,
    allow_nc: bool,
    cache: Path | None,
    model: str | None,
) -> int:
    """Find sentences of DOCUMENTS that rank high for a question of QUESTIONS but do not answer it.

    Landmarks and shared words rank them. Sentences that score nearly as high as the evidence,
    repeat it or are next to it are dropped: they may be answers that nobody marked.
    """
    from milepost.encoder.engine.folder import cache_folder
    from milepost_eval.factory import SystemFactory
    from milepost_eval.vectors import Vectors
    from milepost_train.mining import Limits
    from milepost_train.mining import mine as mined

    limits = Limits(document, collection, below, similar, around)
    vectors = Vectors((cache or cache_folder() / "train") / "vectors.sqlite")
    encoder = SystemFactory(vectors=vectors, model=model).encoder()
    with Counter(settings) as counter:
        try:
            found = mined(
                documents,
                questions or documents,
                out,
                encoder,
                limits,
                split=split,
                allow_nc=allow_nc,
                progress=counter.steps_of(),
            )
        except KeyboardInterrupt:
            raise Interrupted("rows are kept; run the same command to continue") from None
    return report(settings, out, found.counts, found.bad)


def report(
    settings: Settings, out: Path, counts: Mapping[str, int], bad: Sequence[InputError]
) -> int:
    """Print what was written, what was dropped and why, and bad lines; the exit code."""
    from milepost_train.generated import first_of

    for line in first_of(bad):
        say(line)
    if not settings.quiet:
        click.echo(f"{out}")
        for what, number in sorted(counts.items()):
            if number:
                click.echo(f"{number:>11,}  {what}")
        if bad:
            click.echo(f"{len(bad):>11,}  lines or files that cannot be used")
    return 1 if bad else 0
