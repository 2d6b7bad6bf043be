"""``milepost mine``: hard negatives for questions whose evidence is marked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import Interrupted, Settings, common, count_option, model_option, say
from milepost.console.progress import Counter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from milepost.errors import InputError
    from milepost.evaluate.types import Split

_FIRST = 20  # bad lines that are named; the count tells the rest

GIVEN = click.Path(path_type=Path, dir_okay=False)


@click.command(
    short_help="Find hard negatives for questions.",
    epilog="""\b
Examples:
  milepost mine documents.jsonl.gz questions.jsonl.gz --out negatives.jsonl
  milepost mine made.jsonl --out negatives.jsonl --collection 0
  milepost mine made.jsonl --out negatives.jsonl --below 0.9 --model my-model/

\b
DOCUMENTS and QUESTIONS are JSON lines, gzipped or not; one file may hold both. What is written
stays: the same command goes on where it was stopped. See docs/training-data.md.""",
)
@click.argument("documents", type=GIVEN)
@click.argument("questions", type=GIVEN, required=False)
@click.option("--out", type=GIVEN, metavar="FILE", required=True, help="Write JSON lines here.")
@count_option("--document", 8, "Negatives of a question from its own document, at most.", minimum=0)
@count_option("--collection", 8, "Negatives from all other documents, at most.", minimum=0)
@click.option(
    "--below",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.95,
    show_default=True,
    metavar="X",
    help="Drop what scores above this share of the evidence's score.",
)
@click.option(
    "--similar",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    metavar="X",
    help="Drop what shares so many of its words with the evidence.",
)
@count_option(
    "--around", 1, "Leave so many sentences on each side of the evidence alone.", minimum=0
)
@click.option(
    "--selected",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    metavar="X",
    help="Chance that a sentence which answers was marked; 1: all negatives count alike.",
)
@click.option(
    "--split",
    type=click.Choice(["train", "dev", "test"]),
    default="train",
    show_default=True,
    help="Which questions. A line that names no split is in dev, as everywhere.",
)
@click.option(
    "--allow-nc",
    is_flag=True,
    help="Keep documents whose licence forbids commercial use.",
)
@click.option(
    "--cache",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep vectors here. [default: train in Milepost's cache]",
)
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
    selected: float,
    split: Split,
    allow_nc: bool,
    cache: Path | None,
    model: str | None,
) -> int:
    """Rank the sentences of DOCUMENTS for every question of QUESTIONS and keep the wrong ones.

    Landmarks and shared words rank them. What scores nearly as high as the evidence, repeats it
    or stands beside it is dropped: it may be an answer that nobody marked.
    """
    from milepost.engine.folder import cache_folder
    from milepost.evaluate.names import Workshop
    from milepost.evaluate.vectors import Vectors
    from milepost.train.mining import mine as mined
    from milepost.train.negatives import Limits

    limits = Limits(document, collection, below, similar, around, selected=selected)
    vectors = Vectors((cache or cache_folder() / "train") / "vectors.sqlite")
    encoder = Workshop(vectors=vectors, model=model).encoder()
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
                progress=lambda doing, done, of: counter(doing, "", done, of),
            )
        except KeyboardInterrupt:
            raise Interrupted("what is written stays: the same command goes on from here") from None
    return report(settings, out, found.counts, found.bad)


def report(
    settings: Settings, out: Path, counts: Mapping[str, int], bad: Sequence[InputError]
) -> int:
    """Say what was written, what was dropped and why, and which lines cannot be used.

    Returns:
        The exit code: 1 where a line cannot be used.
    """
    for error in bad[:_FIRST]:
        say(str(error))
    if len(bad) > _FIRST:
        say(f"… and {len(bad) - _FIRST:,} more lines or files that cannot be used")
    if not settings.quiet:
        click.echo(f"{out}")
        for what, number in sorted(counts.items()):
            if number:
                click.echo(f"{number:>11,}  {what}")
        if bad:
            click.echo(f"{len(bad):>11,}  lines or files that cannot be used")
    return 1 if bad else 0
