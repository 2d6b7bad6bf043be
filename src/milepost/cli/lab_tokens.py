"""``milepost lab tokens``: words from their bytes, bytes alone, and byte encoders side by side."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from milepost.cli.columns import columns
from milepost.cli.lab_options import FILE, FOLDER, needs_torch, seed_option
from milepost.cli.options import Settings, common, count_option, json_option, model_option
from milepost.cli.progress import Counter
from milepost.cli.records import print_json
from milepost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from milepost.evaluate.types import Split, Task

What = Literal["words", "noise", "pool", "transfer"]


@click.command(
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
@seed_option("The first.")
@model_option
@json_option
@common
@click.pass_obj
@needs_torch
def tokens(
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
    seed: int,
    model: str | None,
    as_json: bool,
) -> int:
    """Train small models that read bytes, measure them, print a table.

    Without an option: language models over words, bytes, fixed strides and random pieces, alike
    in parameters and in bytes of context. All defaults end in under two minutes on one core.
    """
    with Counter(settings) as counter:
        if what == "words":
            found = _words(counter, text, arms, size, steps or 400, seeds, seed)
        elif what == "noise":
            found = _noise(counter, task, steps or 150, seed, model)
        elif what == "pool":
            found = _pool(counter, size, on, languages, steps or 100, seeds, seed)
        else:
            found = _transfer(counter, task, sources, targets, size, steps or 100, seed)
    if as_json:
        from milepost.evaluate.where import commit, machine, today

        where = {"machine": machine(), "commit": commit(), "date": today()}
        print_json({"experiment": what, **where, **found})
    else:
        for line in _SHOWN[what](found):
            click.echo(line)
    return 0


def _words(
    counter: Counter, text: Path | None, arms: str, size: int, steps: int, seeds: int, seed: int
) -> dict[str, Any]:
    from milepost.lab.word_arms import Setup, compare
    from milepost.lab.word_units import from_file, generated

    setup = Setup(steps=steps, seeds=seeds, seed=seed)
    corpora = [generated(size, seed), *([from_file(text, size)] if text else [])]
    rows = [
        {"corpus": corpus.name, "ceiling": corpus.ceiling, **asdict(score)}
        for corpus in corpora
        for score in compare(corpus, setup, arms.split(","), counter.steps_of())
    ]
    return {"rows": rows}


def _noise(
    counter: Counter, folder: Path | None, steps: int, seed: int, model: str | None
) -> dict[str, Any]:
    from milepost.encoder import load
    from milepost.lab.few_documents import few
    from milepost.lab.sentence_search import Grams, Subwords
    from milepost.lab.word_noise import noise_table, trained_words

    train, dev = _task(folder, "train"), _task(folder, "dev")
    words = trained_words(
        train, steps=steps, seed=seed, progress=lambda done: counter("training", "", done, steps)
    )
    drawn = trained_words(train, steps=0, seed=seed, name=f"{words.name}, untrained")
    found = noise_table(
        [words, drawn, Grams(), Subwords(load(model))],
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
    from milepost.lab.byte_training import Recipe
    from milepost.lab.pool_protocol import Protocol, matrix

    protocol = Protocol(
        Recipe(steps=steps),
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
) -> dict[str, Any]:
    from milepost.lab.byte_training import Recipe
    from milepost.lab.transfer import Budget, languages, shared_size, transfer

    train, dev = _task(folder, "train"), _task(folder, "dev")
    budget = Budget(Recipe(steps=2 * steps), size=size, steps=steps, seed=seed)
    learned = sources.split(",")
    found = transfer(
        train,
        dev,
        learned,
        targets.split(","),
        budget,
        lambda doing: counter(doing, "", 0, 0),
    )
    shared = shared_size(train, learned, size)
    texts = {language.name: asdict(language) for language in languages(train, shared)}
    return {
        "budget": asdict(budget),
        "sources": [texts[name] for name in learned],
        "rows": [{**asdict(row), "language": texts[row.target]} for row in found],
    }


def _task(folder: Path | None, split: Split) -> Task:
    from milepost.evaluate.tasks.shared import read_folder

    if folder is None:
        raise InputError("no task to ask", "give --task FOLDER with documents and questions")
    return read_folder(folder, split)


def _show_words(found: Mapping[str, Any]) -> Iterator[str]:
    from milepost.lab.word_units import BUCKETS

    rows = found["rows"]
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        here = [row for row in rows if row["corpus"] == corpus]
        buckets = [name for name in (*BUCKETS, "all") if any(name in r["right"] for r in here)]
        sizes = here[0]["right"]
        head = [f"{name} ({sizes[name][3]})" for name in buckets]
        shown = (corpus, "parameters", "bits a byte", "ends", "cells", "s a step", *head)
        lines = [
            (
                row["arm"],
                f"{row['parameters']:,}",
                f"{row['bits']:.3f} [{row['low']:.3f}, {row['high']:.3f}]",
                f"{row['end_bits']:.3f}",
                f"{row['places']:,.0f}",
                f"{row['seconds']:.2f}",
                *(_share(row["right"][name]) for name in buckets),
            )
            for row in here
        ]
        yield from columns(shown, lines)
        ceiling = here[0]["ceiling"]
        known = f" No guess gets more than {ceiling:.0%} right." if ceiling else ""
        yield (
            "Right words in percent by how often they stand in the training text (how many were "
            f"asked).{known}\n"
        )


def _show_noise(found: Mapping[str, Any]) -> Iterator[str]:
    rows = found["rows"]
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    head = ("finder", *(f"{rate:.0%} errors" for rate in rates))
    lines = []
    for finder in dict.fromkeys(row["finder"] for row in rows):
        here = [row["found"] for row in rows if row["finder"] == finder]
        lines.append((finder, *map(_recall, here)))
    yield from columns(head, lines)
    yield _about_recall(rows[0]["found"]["questions"])


def _show_pool(found: Mapping[str, Any]) -> Iterator[str]:
    rows = found["rows"]
    targets = list(dict.fromkeys(row["target"] for row in rows))
    head = ("pre-trained on", *(part for name in targets for part in (name, "transfer")))
    lines: list[tuple[str, ...]] = []
    for source in dict.fromkeys(row["source"] for row in rows):
        here = [row for row in rows if row["source"] == source]
        parts = []
        for row in here:
            share = row["transfer"]
            parts.append(f"{row['score']:.3f} [{row['low']:.3f}, {row['high']:.3f}]")
            parts.append("-" if share is None else f"{share:.2f}")
        lines.append((source, *parts))
    yield from columns(head, lines)
    yield (
        "Transfer: 0 as random weights, 1 as the language's own encoder, - where it is no better. "
        + _about_recipe(found["protocol"]["recipe"])
    )


def _show_transfer(found: Mapping[str, Any]) -> Iterator[str]:
    rows = found["rows"]
    targets = {row["target"]: row["language"] for row in rows}
    lines = [
        (source, *(_recall(row["found"]) for row in rows if row["source"] == source))
        for source in dict.fromkeys(row["source"] for row in rows)
    ]
    texts = targets.values()
    lines += [
        ("bytes a character", *(f"{each['size'] / each['characters']:.2f}" for each in texts)),
        *((part, *(f"{each[part]:,}" for each in texts)) for part in ("characters", "documents")),
    ]
    yield from columns(("tuned on", *targets), lines)
    yield _about_recall(min(row["found"]["questions"] for row in rows))
    sources = found["sources"]
    read = ", ".join(f"{each['name']} from {each['documents']}" for each in sources)
    yield (
        f"Read of each source: {sources[0]['characters']:,} characters (documents: {read}). "
        + _about_recipe(found["budget"]["recipe"])
    )


def _about_recipe(recipe: Mapping[str, Any]) -> str:
    return (
        f"Pre-training: {recipe['steps']} steps of {recipe['batch']} windows of "
        f"{recipe['window']} bytes with gaps of {recipe['gap']:g}."
    )


def _about_recall(questions: int) -> str:
    return (
        "Questions in percent whose best sentence is evidence [95 %, documents resampled], and "
        f"one of the best five; {questions} questions."
    )


def _share(right: Sequence[float]) -> str:
    return f"{100 * right[0]:.1f} [{100 * right[1]:.1f}, {100 * right[2]:.1f}]"


def _recall(found: Mapping[str, float]) -> str:
    share = _share((found["first"], found["low"], found["high"]))
    return f"{share}, {100 * found['five']:.1f}"


_SHOWN = {
    "words": _show_words,
    "noise": _show_noise,
    "pool": _show_pool,
    "transfer": _show_transfer,
}
