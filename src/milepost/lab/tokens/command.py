"""``milepost lab tokens``: words from their bytes, bytes alone, and byte encoders side by side."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from milepost.console.options import Settings, common, count_option, json_option, model_option
from milepost.console.progress import Counter
from milepost.console.records import print_json
from milepost.errors import InputError
from milepost.lab.options import FILE, FOLDER, controls_option, needs_torch, seed_option
from milepost.lab.tokens.tables import SHOWN

if TYPE_CHECKING:
    from milepost.evaluate.types import Split, Task

What = Literal["words", "noise", "pool", "transfer"]


@click.command(
    "tokens",
    short_help="Words from spelling, bytes, and byte encoders.",
    epilog="""\b
Examples:
  milepost lab tokens --text examples/origin-of-species.txt
  milepost lab tokens --arms words,words-mean,words-published --seeds 3
  milepost lab tokens --noise --task shared/data/tasks/written
  milepost lab tokens --pool
  milepost lab tokens --transfer --task shared/data/tasks/multilingual --sources de --targets de,ru

\b
See docs/pooling/words.md and docs/pooling/bytes.md.""",
)
@click.option("--words", "what", flag_value="words", default=True, help="Words, bytes, strides.")
@click.option("--noise", "what", flag_value="noise", help="Typing errors in questions.")
@click.option("--pool", "what", flag_value="pool", help="Encoders of toy languages and controls.")
@click.option(
    "--transfer", "what", flag_value="transfer", help="Tuned in one language, asked in others."
)
@click.option(
    "--text",
    type=FILE,
    metavar="FILE",
    help="--words: a document beside the generated morphology.",
)
@click.option(
    "--arms",
    metavar="NAMES",
    default="words,bytes,stride,random",
    show_default=True,
    help="--words: what is compared.",
)
@click.option(
    "--size",
    type=click.IntRange(min=5000),
    default=60_000,
    show_default=True,
    metavar="BYTES",
    help="Text to train on.",
)
@click.option(
    "--on",
    type=click.Choice(["agreement", "rebuild"]),
    default="rebuild",
    show_default=True,
    help="--pool: the task.",
)
@click.option(
    "--languages",
    type=click.IntRange(1, 4),
    default=2,
    show_default=True,
    help="--pool: toy languages.",
)
@click.option(
    "--task", type=FOLDER, metavar="FOLDER", help="--noise, --transfer: documents and questions."
)
@click.option(
    "--sources",
    metavar="NAMES",
    default="de",
    show_default=True,
    help="--transfer: languages to tune on.",
)
@click.option(
    "--targets",
    metavar="NAMES",
    default="de,ro,ru",
    show_default=True,
    help="--transfer: languages to ask in.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Training steps.  [default: 100 to 400, by experiment]",
)
@count_option("--seeds", 1, "--words, --pool: how many.")
@controls_option
@seed_option("The first.")
@model_option
@json_option
@common
@click.pass_obj
@needs_torch
def command(
    settings: Settings,
    what: What,
    text: Path | None,
    arms: str,
    size: int,
    on: Literal["agreement", "rebuild"],
    languages: int,
    task: Path | None,
    sources: str,
    targets: str,
    steps: int | None,
    seeds: int,
    controls: bool,
    seed: int,
    model: str | None,
    as_json: bool,
) -> int:
    """Train small models that read bytes, measure them, print a table.

    Without an option: language models over words, bytes, fixed strides and random pieces, alike
    in parameters and in bytes of context. All defaults end in under three minutes on one core.
    The last rows are controls, over networks that know nothing of the text; --pool always has them.
    """
    with Counter(settings) as counter:
        if what == "words":
            found = _words(counter, text, arms, size, steps or 400, seeds, seed, controls)
        elif what == "noise":
            found = _noise(counter, task, steps or 150, seed, model, controls)
        elif what == "pool":
            found = _pool(counter, size, on, languages, steps or 100, seeds, seed)
        else:
            found = _transfer(counter, task, sources, targets, size, steps or 100, seed, controls)
    if as_json:
        from milepost.evaluate.where import commit, machine, today

        where = {"machine": machine(), "commit": commit(), "date": today()}
        print_json({"experiment": what, **where, **found})
    else:
        for line in SHOWN[what](found):
            click.echo(line)
    return 0


def _words(
    counter: Counter,
    text: Path | None,
    arms: str,
    size: int,
    steps: int,
    seeds: int,
    seed: int,
    controls: bool,
) -> dict[str, Any]:
    from milepost.lab.tokens.lm_study import CONTROLS, Setup, compare
    from milepost.lab.tokens.units import from_file, generated

    setup = Setup(steps=steps, seeds=seeds, seed=seed)
    corpora = [generated(size, seed), *([from_file(text, size)] if text else [])]
    names = list(dict.fromkeys((*arms.split(","), *(CONTROLS if controls else ()))))
    rows = [
        {"corpus": corpus.name, "ceiling": corpus.ceiling, **asdict(score)}
        for corpus in corpora
        for score in compare(corpus, setup, names, counter.steps_of())
    ]
    return {"rows": rows}


def _noise(
    counter: Counter,
    folder: Path | None,
    steps: int,
    seed: int,
    model: str | None,
    controls: bool,
) -> dict[str, Any]:
    from milepost.encoder import load
    from milepost.lab.controls.encoders import KINDS
    from milepost.lab.tokens.few_documents import few
    from milepost.lab.tokens.sentence_search import Grams, Subwords
    from milepost.lab.tokens.typo_study import control_words, noise_table, trained_words

    train, dev = _task(folder, "train"), _task(folder, "dev")

    def training(done: int) -> None:
        counter("training", "", done, steps)

    words = trained_words(train, steps=steps, seed=seed, progress=training)
    untaught = [
        control_words(kind, steps=steps, seed=seed, progress=training) for kind in KINDS if controls
    ]
    found = noise_table(
        [words, Grams(), Subwords(load(model)), *untaught],
        few(dev, 10, 20, seed=seed),
        seed=seed,
        progress=counter.steps_of(),
    )
    return {"rows": [asdict(row) for row in found]}


def _pool(
    counter: Counter,
    size: int,
    on: Literal["agreement", "rebuild"],
    languages: int,
    steps: int,
    seeds: int,
    seed: int,
) -> dict[str, Any]:
    from milepost.lab.controls.byte_training import ByteRecipe
    from milepost.lab.tokens.pool_protocol import Protocol, matrix

    protocol = Protocol(
        ByteRecipe(steps=steps),
        size=size,
        task=on,
        languages=languages,
        steps=max(1, steps * 3 // 5),
        seeds=seeds,
        seed=seed,
    )
    cells = matrix(protocol, counter.steps_of())
    return {"protocol": asdict(protocol), "rows": [asdict(cell) for cell in cells]}


def _transfer(
    counter: Counter,
    folder: Path | None,
    sources: str,
    targets: str,
    size: int,
    steps: int,
    seed: int,
    controls: bool,
) -> dict[str, Any]:
    from milepost.lab.controls.byte_training import ByteRecipe
    from milepost.lab.tokens.transfer import Budget, transfer

    train, dev = _task(folder, "train"), _task(folder, "dev")
    budget = Budget(ByteRecipe(steps=2 * steps), size=size, steps=steps, seed=seed)
    learned = sources.split(",")
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
    return {
        "budget": asdict(budget),
        "sources": [texts[name] for name in learned],
        "rows": [{**asdict(row), "language": texts[row.target]} for row in found.rows],
    }


def _task(folder: Path | None, split: Split) -> Task:
    from milepost.evaluate.tasks.shared import read_folder

    if folder is None:
        raise InputError("no task to ask", "give --task FOLDER with documents and questions")
    return read_folder(folder, split)
