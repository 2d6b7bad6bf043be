"""Two models that make training documents new again: what the ranking is learned from.

    python bench/twins.py --out scratch/twins --init scratch/all-MiniLM-L6-v2
    milepost train scratch/twins/0.toml && milepost train scratch/twins/1.toml
    milepost export scratch/twins/run0/checkpoint --out scratch/twins/model0   # and 1

The search's trees must learn from documents that the encoder has not seen: landmarks look better
on questions learned by heart. Held back from the encoder that ships are only 12 % of the training
documents. Twin 0 is therefore trained on one half of the others and asked about the second, twin 1
the other way round (``ranking_cases.twin_of``). They start from all-MiniLM-L6-v2, because the
checkpoint that the encoder starts from knows all of them. ``run.json`` in ``--out`` holds the
hashes of the shared data that the halves were made from; each training keeps its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from milepost.evaluate.tasks.reading import objects
from milepost.train.data import held_out
from milepost.train.record import describe
from ranking_cases import HOLD_OUT, twin_of

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
SEED = 3

CONFIG = """\
init = "{init}"
out = "run{twin}"
seed = {seed}
average = 0.995
threads = 1
log_every = 25
save_every = 200

[windows]
size = 320
left = 48
right = 16

[data]
tasks = {folders}
pairs = ["{pairs}"]

[[stage]]
steps = {steps}
rate = 1.2e-4
warm_up = 60
floor = 0.02

[[stage.part]]
kind = "marked"
weight = 4
documents = 4
questions = 4
hard = 0
distil = 0.0
windows = [160, 224, 224, 320]
temperature = 0.05
question_dropout = 0.1
tasks = {{ written = 8, squad_articles = 3, covid_papers = 2, trials = 3, meetings = 1 }}
open_tasks = ["covid_papers", "trials", "meetings"]

[[stage.part]]
kind = "pairs"
weight = 1
pairs = 24
landmarks = "sentences"
temperature = 0.05

[check]
tasks = {folders}
every = {steps}
"""


def halve(shared: Path, task: str, out: Path) -> None:
    """A task of each twin: the training documents that are its own, and the development ones."""
    texts = list(objects(shared / "tasks" / task / "documents.jsonl.gz"))
    rows = list(objects(shared / "tasks" / task / "questions.jsonl.gz"))
    for twin in (0, 1):
        own = [
            row
            for row in rows
            if row["split"] == "dev"
            or (
                row["split"] == "train"
                and not held_out(row["document"], HOLD_OUT)
                and twin_of(row["document"]) == twin
            )
        ]
        named = {row["document"] for row in own}
        folder = out / str(twin) / task
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / "questions.jsonl.gz", own)
        write(folder / "documents.jsonl.gz", [text for text in texts if text["id"] in named])


def write(path: Path, rows: list[dict]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))  # the same rows, the same hash


def record_of(options: argparse.Namespace, configs: list[str]) -> dict:
    """What both twins are made from."""
    folders = [options.shared / "tasks" / task for task in TASKS]
    kinds = ("questions", "documents")
    return describe(
        config="\n".join(configs),
        settings={"steps": options.steps, "hold_out": HOLD_OUT, "tasks": TASKS},
        seeds={"both runs": SEED},
        data=[
            *(folder / f"{kind}.jsonl.gz" for folder in folders for kind in kinds),
            options.shared / "pairs",
        ],
        init=options.init,
        device="cpu",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--init", type=Path, required=True, help="all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    for task in TASKS:
        halve(options.shared, task, options.out)
    configs = []
    for twin in (0, 1):
        config = CONFIG.format(
            twin=twin,
            seed=SEED,
            steps=options.steps,
            init=options.init.resolve(),
            pairs=(options.shared / "pairs").resolve(),
            folders=json.dumps([f"{twin}/{task}" for task in TASKS]),
        )
        (options.out / f"{twin}.toml").write_text(config, encoding="utf-8")
        configs.append(config)
    record = json.dumps(record_of(options, configs), indent=1, ensure_ascii=False)
    (options.out / "run.json").write_text(record + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
