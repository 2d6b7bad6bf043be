"""``milepost lab tokens``: words from their spelling, subwords, bytes, and byte encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from milepost.console.group import CommandGroup
from milepost.console.options import (
    FILE,
    FOLDER,
    Command,
    Settings,
    common,
    count_option,
    json_option,
    model_option,
)
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost_lab.options import controls_option, needs_torch, out_option, resumable, seed_option
from milepost_lab.tokens.tables import SHOWN

if TYPE_CHECKING:
    from milepost_eval.types import Split, Task


@click.group(
    "tokens",
    cls=CommandGroup,
    short_help="Words from spelling, bytes, and byte encoders.",
    epilog="""\b
Examples:
  milepost lab tokens words --text examples/origin-of-species.txt
  milepost lab tokens typos --task shared/data/tasks/written
  milepost lab tokens pool
  milepost lab tokens transfer --task shared/data/tasks/multilingual --sources de --targets de,ru

\b
See docs/pooling/words.md and docs/pooling/bytes.md.""",
)
def command() -> None:
    """Train small models that read bytes, and measure them.

    With the defaults, every command except words takes under three minutes on one core. The last
    rows of a table are controls: networks that know nothing of the text.
    """


def _steps(default: int) -> Callable[[Command], Command]:
    return count_option("--steps", default, "Number of training steps.")


def _languages(name: str, default: str, help_text: str) -> Callable[[Command], Command]:
    return click.option(name, metavar="NAMES", default=default, help=help_text)


_size = click.option(
    "--size",
    type=click.IntRange(min=5000),
    default=60_000,
    metavar="BYTES",
    help="Length of the text to train on.",
)
_task_option = click.option(
    "--task", "folder", type=FOLDER, required=True, help="Folder with documents and questions."
)


@command.command(
    "words",
    short_help="Compare language models over words, subwords and bytes.",
    epilog="""\b
Examples:
  milepost lab tokens words --out words/
  milepost lab tokens words --text examples/origin-of-species.txt --out words/
  milepost lab tokens words --arms words,subwords,bytes --no-controls --seeds 5
  milepost lab tokens words --steps 5 --size 5000 --seeds 2    # a check, in seconds

\b
See docs/pooling/words.md.""",
)
@click.option("--text", type=FILE, help="Also use this document, not only generated words.")
@click.option(
    "--arms",
    metavar="NAMES",
    default="words,subwords,bytes,stride,random",
    help="Models to compare, separated by commas.",
)
@click.option(
    "--vocabulary",
    type=click.IntRange(min=258),
    default=512,
    metavar="N",
    help="Subwords, bytes included; the layers above shrink to keep the size of the model.",
)
@_size
@_steps(400)
@count_option("--seeds", 3, "Trainings of each arm.")
@out_option
@controls_option
@seed_option()
@json_option
@common
@click.pass_obj
@needs_torch
def words(
    settings: Settings,
    text: Path | None,
    arms: str,
    vocabulary: int,
    size: int,
    steps: int,
    seeds: int,
    out: Path | None,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Compare language models over words, subwords, bytes, fixed strides and random pieces.

    All have the same number of parameters and read the same bytes of text, in the same windows. The
    subwords are learned from the same training text. With the defaults this takes ten minutes on
    two cores.
    """
    from milepost_lab.tokens.lm_arms import CONTROLS, Setup
    from milepost_lab.tokens.lm_study import compare
    from milepost_lab.tokens.units import from_file, generated

    setup = Setup(steps=steps, vocabulary=vocabulary, seeds=seeds, seed=seed)
    corpora = [generated(size), *([from_file(text, size)] if text else [])]
    names = list(dict.fromkeys((*arms.split(","), *(CONTROLS if controls else ()))))
    rows: list[dict[str, Any]] = []
    gains: dict[str, dict[str, Mapping[str, Any]]] = {}
    with Counter(settings) as counter, resumable(out):
        for corpus in corpora:
            found = compare(corpus, setup, names, counter.steps_of(), out)
            rows += [
                {"corpus": corpus.name, "ceiling": corpus.ceiling, **asdict(score)}
                for score in found.scores
            ]
            gains[corpus.name] = {
                measure: {name: one.record() for name, one in of.items()} if as_json else of
                for measure, of in found.gains.items()
            }
    return _print("words", {"rows": rows, "gains": gains}, as_json=as_json)


@command.command("typos", short_help="Measure what typing errors in questions cost.")
@_task_option
@_steps(150)
@model_option
@controls_option
@seed_option("Seed of weights, questions and errors.")
@json_option
@common
@click.pass_obj
@needs_torch
def typos(
    settings: Settings,
    folder: Path,
    steps: int,
    model: str | None,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Measure how often evidence is found in spite of typing errors in the question."""
    from milepost.encoder import load
    from milepost_lab.controls.kinds import KINDS
    from milepost_lab.tokens.few_documents import few
    from milepost_lab.tokens.sentence_search import Grams, Subwords
    from milepost_lab.tokens.typo_study import control_words, trained_words, typo_table

    train, dev = _task(folder, "train"), _task(folder, "dev")
    with Counter(settings) as counter:

        def training(done: int) -> None:
            counter("training", "", done, steps)

        trained = trained_words(train, steps=steps, seed=seed, progress=training)
        baselines = [
            control_words(kind, steps=steps, seed=seed, progress=training)
            for kind in KINDS
            if controls
        ]
        found = typo_table(
            [trained, Grams(), Subwords(load(model)), *baselines],
            few(dev, 10, 20, seed=seed),
            seed=seed,
            progress=counter.steps_of(),
        )
    return _print("typos", {"rows": [asdict(row) for row in found]}, as_json=as_json)


@command.command("pool", short_help="Compare byte encoders of toy languages with controls.")
@click.option(
    "--on",
    type=click.Choice(["agreement", "rebuild"]),
    default="rebuild",
    help="Task: agreement of subject and verb, or filling gaps.",
)
@click.option(
    "--languages",
    type=click.IntRange(1, 4),
    default=2,
    metavar="N",
    help="Number of toy languages.",
)
@_size
@_steps(100)
@count_option("--seeds", 1, "Number of seeds.")
@seed_option()
@json_option
@common
@click.pass_obj
@needs_torch
def pool(
    settings: Settings,
    on: Literal["agreement", "rebuild"],
    languages: int,
    size: int,
    steps: int,
    seeds: int,
    seed: int,
    as_json: bool,
) -> int:
    """Compare byte encoders that differ only in their text: toy languages and controls."""
    from milepost_lab.controls.byte_training import ByteRecipe
    from milepost_lab.tokens.pool_protocol import Protocol, matrix

    protocol = Protocol(
        ByteRecipe(steps=steps),
        size=size,
        task=on,
        languages=languages,
        steps=max(1, steps * 3 // 5),
        seeds=seeds,
        seed=seed,
    )
    with Counter(settings) as counter:
        cells = matrix(protocol, counter.steps_of())
    found = {"protocol": asdict(protocol), "rows": [asdict(cell) for cell in cells]}
    return _print("pool", found, as_json=as_json)


@command.command("transfer", short_help="Tune in one language, search in others.")
@_task_option
@_languages("--sources", "de", "Languages to tune on, separated by commas.")
@_languages("--targets", "de,ro,ru", "Languages to search in, separated by commas.")
@_size
@_steps(100)
@controls_option
@seed_option("Seed of weights and of the selected questions.")
@json_option
@common
@click.pass_obj
@needs_torch
def transfer(
    settings: Settings,
    folder: Path,
    sources: str,
    targets: str,
    size: int,
    steps: int,
    controls: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Tune a byte encoder on the questions of one language, and search documents of others."""
    from milepost_lab.controls.byte_training import ByteRecipe
    from milepost_lab.tokens.transfer import Budget, transfer

    train, dev = _task(folder, "train"), _task(folder, "dev")
    budget = Budget(ByteRecipe(steps=2 * steps), size=size, steps=steps, seed=seed)
    learned = sources.split(",")
    with Counter(settings) as counter:
        found = transfer(
            train,
            dev,
            learned,
            targets.split(","),
            budget,
            lambda doing: counter(doing, "", 0, 0),
            controls=controls,
        )
    texts = {name: asdict(language) for name, language in found.languages.items()}
    result = {
        "budget": asdict(budget),
        "sources": [texts[name] for name in learned],
        "rows": [{**asdict(row), "language": texts[row.target]} for row in found.rows],
    }
    return _print("transfer", result, as_json=as_json)


def _print(experiment: str, found: dict[str, Any], *, as_json: bool) -> int:
    """Print the result as a table or as JSON, with what made it."""
    if as_json:
        from milepost_eval.provenance import commit, machine, today

        where = {"machine": machine(), "commit": commit(), "date": today()}
        print_json({"experiment": experiment, **where, **found})
    else:
        for line in SHOWN[experiment](found):
            click.echo(line)
    return 0


def _task(folder: Path, split: Split) -> Task:
    from milepost_eval.tasks.shared import read_folder

    return read_folder(folder, split)
