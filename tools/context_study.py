"""The study of context (studies/context): a configuration for each arm, and what an arm finds.

    python tools/context_study.py config abc --out scratch/abc.toml [--steps 300] [--seed 1]
    milepost train scratch/abc.toml
    python tools/context_study.py measure scratch/context/abc/checkpoint --split dev

``measure`` reads landmarks alone in windows of 320, 48 tokens in front and 16 behind: twins told
apart and the best landmark of ``data/swaps`` by distance, and ranks on questions in other words and
of ``written``; with a context vector also what each part of the vector tells apart.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from milepost.engine.tokenizer import Tokenizer
from milepost.windows.plan import WindowSize
from milepost_eval.tasks.reading import objects
from milepost_train.batches import Batch, queries_of
from milepost_train.check import landmarks_of, vectors_of
from milepost_train.data import tokenize, touched
from milepost_train.model.checkpoint import open_checkpoint

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
ARMS: Mapping[str, tuple[int, int, bool, str]] = {  # near, context, swaps, others
    "base": (0, 0, False, ""),
    "a": (2, 0, False, ""),
    "b": (0, 384, False, ""),
    "c": (0, 0, True, ""),
    "ab": (2, 384, False, ""),
    "ac": (2, 0, True, ""),
    "bc": (0, 384, True, ""),
    "abc": (2, 384, True, ""),
    "ac-learned": (2, 0, True, "learned"),
    "ac-half": (2, 0, True, "half"),
    "abc-128": (2, 128, True, ""),
}

SHARES = (
    "{ written = 6, squad_articles = 2, covid_papers = 2.5, "
    "trials = 1.5, meetings = 2.5, questions = 8 }"
)

_CONFIG = """\
init = "{root}/checkpoint"
out = "{root}/scratch/context/{arm}"
seed = {seed}
average = 0.98
save_every = 60
{model}
[windows]
size = 448
left = 112
right = 16

[data]
tasks = [{tasks}]
pairs = ["{shared}/pairs"]
hold_out = 0.12

[[stage]]
steps = {steps}
rate = 5e-5
warm_up = 20
floor = 0.05

[[stage.part]]
kind = "marked"
weight = 4
windows = [160, 256, 320, 448]
distil = 0.0
near = {near}
context = {context}
noise = {{ typos = 0.1, keywords = 0.1 }}
tasks = {shares}
open_tasks = ["covid_papers", "trials", "meetings"]

[[stage.part]]
kind = "pairs"
weight = 1
pairs = 24
landmarks = "sentences"
"""

_SWAPS = """
[[stage.part]]
kind = "marked"
weight = 5
documents = 10
hard = 0
windows = [448]
distil = 0.0
context = {context}
tasks = {{ swaps = 1 }}
"""


def configuration(arm: str, steps: int, seed: int) -> str:
    """The TOML of an arm; the swaps and questions are where their tools were told to write them."""
    near, context, swaps, others = ARMS[arm]
    model = [f"context = {context}"] * bool(context) + [f'others = "{others}"'] * bool(others)
    folders = [SHARED / "tasks" / name for name in TASKS] + [ROOT / "scratch" / "questions"]
    folders += [ROOT / "scratch" / "swaps"] * swaps
    weight = 1.0 if context else 0.0
    text = _CONFIG.format(
        root=ROOT,
        shared=SHARED,
        arm=arm,
        seed=seed,
        steps=steps,
        near=near,
        context=weight,
        shares=SHARES,
        model="\n".join(model),
        tasks=", ".join(f'"{folder}"' for folder in folders),
    )
    return text + (_SWAPS.format(context=weight) if swaps else "")


def sets(split: str, longest: int) -> dict[str, list[tuple[dict[str, Any], list[dict[str, Any]]]]]:
    """The documents of each set with their questions; documents over ``longest`` left out."""
    written, other = SHARED / "tasks" / "written", ROOT / "scratch" / "other-words"
    rows = list(objects(ROOT / "data" / "swaps" / f"{split}.jsonl.gz"))
    found = {
        "swaps": ([r for r in rows if "text" in r], [r for r in rows if "question" in r]),
        **{
            path.name: (
                list(objects(path / "documents.jsonl.gz")),
                list(objects(path / "questions.jsonl.gz")),
            )
            for path in (written, other)
        },
    }
    made = {}
    for name, (documents, questions) in found.items():
        about = defaultdict(list)
        for question in questions:
            if question["split"] == split:
                about[question["document"]].append(question)
        made[name] = [
            (dict(d), about[d["id"]])
            for d in documents
            if about[d["id"]] and len(d["text"]) <= longest
        ]
    return made


def measure(folder: Path, split: str, longest: int) -> dict[str, Any]:
    """What a checkpoint finds in each set, in percent."""
    checkpoint = open_checkpoint(folder)
    model, reading = checkpoint.model, checkpoint.reading
    tokenizer = Tokenizer(folder / "tokenizer.json", reading.bos_token, reading.landmark)
    width = int(model.backbone.width)
    parts = {"all": slice(None)}
    if model.context is not None:
        parts |= {"own": slice(width), "context": slice(width, None)}

    @torch.no_grad()
    def encode(batch: Batch) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return vectors_of(model, batch)

    ids = tokenizer.bos_id, tokenizer.landmark
    result: dict[str, Any] = {}
    for name, documents in sets(split, longest).items():
        figures: dict[str, list[float]] = defaultdict(list)
        for document, asked in documents:
            text = tokenize(tokenizer, document["id"], name, document["text"])
            vectors = landmarks_of(encode, text, *ids, WindowSize(320, 48, 16, 129))
            encoded = tokenizer.encode([question["question"] for question in asked])
            rows = [np.array(each.ids[:128], np.int32) for each in encoded]
            queries = encode(queries_of(rows, *ids)).float().numpy()
            for part, columns in parts.items():
                scores = queries[:, columns] @ vectors[:, columns].T
                for question, row in zip(asked, scores, strict=True):
                    for key, value in ranks(question, row, text.spans).items():
                        figures[f"{part} {key}"].append(value)
        result[name] = {key: round(100 * fmean(values), 1) for key, values in figures.items()}
        result[name]["questions"] = sum(len(asked) for _, asked in documents)
    return result


def ranks(
    question: Mapping[str, Any], scores: np.ndarray[Any, Any], spans: Sequence[tuple[int, int]]
) -> dict[str, float]:
    """Rank of the best evidence sentence, and whether it is above every twin."""
    evidence = list(touched(spans, question["spans"]))
    rank = 1 + int((scores > scores[evidence].max()).sum())
    found = {"best": float(rank == 1), "five best": float(rank <= 5), "mrr": 1 / rank}
    if question.get("twins"):
        twins = list(touched(spans, question["twins"]))
        apart = float(scores[evidence].max() > scores[twins].max())
        found |= {"twins": apart, f"twins at {question['distance']}": apart}
    return found


def main() -> None:
    """Write a configuration, or measure a checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    config = commands.add_parser("config")
    config.add_argument("arm", choices=sorted(ARMS))
    config.add_argument("--out", type=Path, required=True)
    config.add_argument("--steps", type=int, default=300)
    config.add_argument("--seed", type=int, default=1)
    measured = commands.add_parser("measure")
    measured.add_argument("checkpoint", type=Path)
    measured.add_argument("--split", choices=("dev", "test"), default="dev")
    measured.add_argument("--longest", type=int, default=40000, help="characters of a document")
    given = parser.parse_args()
    if given.command == "config":
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(configuration(given.arm, given.steps, given.seed), encoding="utf-8")
        return
    print(json.dumps(measure(given.checkpoint, given.split, given.longest), indent=1))


if __name__ == "__main__":
    main()
