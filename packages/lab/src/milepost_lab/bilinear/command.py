"""``milepost lab bilinear``: bilinear fusions compared with plain ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.console.options import Settings, common, count_option, json_option, say
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.options import (
    controls_option,
    kept_vectors,
    needs_torch,
    out_option,
    resumable,
    seed_option,
    vectors_option,
)

if TYPE_CHECKING:
    from milepost.types import Reader


@click.command(
    "bilinear",
    short_help="Compare bilinear fusions with plain ones.",
    epilog="""\b
Examples:
  milepost lab bilinear
  milepost lab bilinear tasks/written tasks/trials --out fusions/ --no-controls
  milepost lab bilinear tasks/written --documents 12 --steps 200 --seeds 1 --task digits
  milepost lab bilinear --task product-3 --task product-15 --fusion mlb --seeds 5 --json

\b
With FOLDERs, each with documents.jsonl.gz and questions.jsonl.gz, fusions of question and sentence
rerank the sentences of a document. Tasks: digits (do two pictures show the same digit?), product-K
and sum-K (K planted products or sums). See docs/pooling/bilinear.md.""",
)
@click.argument(
    "folders",
    nargs=-1,
    metavar="[FOLDER]...",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    default=("digits", "product-3", "product-7", "product-15"),
    metavar="NAME",
    help="A task that needs no data; repeat for several.",
)
@click.option(
    "--fusion",
    "names",
    multiple=True,
    metavar="NAME",
    help="A fusion; repeat for several. [default: all of the study, and baselines]",
)
@click.option(
    "--parameters",
    type=click.IntRange(min=1),
    metavar="N",
    help="Budget of each fusion. [default: digits 16,000, planted 1,000, FOLDER 50,000]",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Training steps at most; training ends when the validation loss is flat. "
    "[default: digits 8,000, others 4,000]",
)
@count_option("--seeds", 5, "Trainings of each fusion, at its best rate.")
@seed_option()
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of training documents of a FOLDER; half as many are tested. "
    "[default: all]",
)
@count_option("--candidates", 16, "Sentences of each question that are reranked.", minimum=2)
@click.option(
    "--model",
    metavar="NAME|FOLDER",
    default="landmark-light",
    help="A shipped model or a model folder, which reads the FOLDERs.",
)
@vectors_option
@out_option
@controls_option
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    folders: tuple[Path, ...],
    tasks: tuple[str, ...],
    names: tuple[str, ...],
    parameters: int | None,
    steps: int | None,
    seeds: int,
    seed: int,
    documents: int | None,
    candidates: int,
    model: str,
    cache: Path | None,
    out: Path | None,
    controls: bool,
    as_json: bool,
) -> int:
    """Train fusions of two vectors with the same number of parameters; compare their accuracy.

    Bilinear fusions (mcb, mlb, mfb, mfh, mutan, block) are compared with a linear map of both
    vectors, a ReLU layer over both, a sum of two ReLU layers, and a product of two maps.
    """
    from dataclasses import replace

    from milepost_eval.factory import SystemFactory
    from milepost_lab.bilinear.study import CONTROLS, FEWEST, STUDIED, compare
    from milepost_lab.bilinear.table import record, table, verdicts
    from milepost_lab.bilinear.tasks import evidence, named
    from milepost_lab.bilinear.training import Protocol
    from milepost_lab.controls.readers import control_readers

    chosen = [named(name) for name in tasks]
    protocol = Protocol(seeds=tuple(range(seed, seed + seeds)))
    findings = []
    with Counter(settings) as counter:
        readers: dict[str, Reader] = {}
        if folders:
            readers = {
                "evidence": SystemFactory(kept_vectors(cache), model=model).encoder(),
                **{f"evidence@{each.name}": each for each in control_readers(controls)},
            }
        for name, reader in readers.items():

            def on_reading(task: str, done: int, of: int, name: str = name) -> None:
                counter(name, f"reading {task}", done, of)

            chosen.append(
                evidence(
                    folders,
                    reader,
                    name=name,
                    documents=documents,
                    candidates=candidates,
                    say=on_reading,
                )
            )
        for task in chosen:
            task = replace(
                task, parameters=parameters or task.parameters, steps=steps or task.steps
            )

            if "@" in task.name and len(task.train) < FEWEST:
                if not settings.quiet:
                    say(f"{task.name}: left out: evidence is rarely among the nearest sentences")
                continue

            def on_progress(name: str, done: int, of: int, task: str = task.name) -> None:
                counter(name, task, done, of)

            with resumable(out):
                found = compare(task, names or (*CONTROLS, *STUDIED), protocol, on_progress, out)
            findings.append(found)
            counter.clear()
            if not as_json:
                click.echo(table(found) + "\n")
    if as_json:
        print_json(record(findings))
    else:
        for line in verdicts(findings):
            click.echo(line)
    return 0
