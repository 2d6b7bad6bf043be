"""The study of context (studies/context): a configuration for each arm, and what an arm finds.

    python tools/context_study.py config abc --out scratch/abc.toml [--steps 300] [--seed 1]
    milepost train scratch/abc.toml
    python tools/context_study.py narrow scratch/context/abc/checkpoint 128 --out scratch/narrow
    python tools/context_study.py measure scratch/narrow --split dev
    python tools/context_study.py controls --split dev

``narrow`` keeps the principal directions of the context vectors of training text. ``measure`` reads
landmarks alone, in ``--windows``: twins told apart and the best landmark of ``data/swaps`` by
distance, and ranks on questions in other words and of ``written``; with a context vector also what
each part of the vector tells apart. ``controls`` gives all-MiniLM-L6-v2 and BM25 each sentence of
``data/swaps`` with 0, 3, 5 and 8 sentences before it as one text.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import torch

from milepost.documents.sentences import split as sentences_of
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.plan import WindowSize
from milepost_eval.embedders.choose import minilm_folder
from milepost_eval.tasks.reading import objects
from milepost_train.batches import Batch, queries_of
from milepost_train.check import landmarks_of, vectors_of
from milepost_train.data import tokenize, touched, trimmed
from milepost_train.model.checkpoint import open_checkpoint
from milepost_train.model.landmark_encoder import LandmarkEncoder

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")


@dataclass(frozen=True, slots=True)
class Arm:
    """What is trained; see studies/context.

    Attributes:
        near: sentences this close to the evidence are no negatives.
        context, layers: numbers of the context vector, and its own last layers.
        frozen: everything but the context vector keeps the shipped weights.
        swaps: subject swaps are among the questions.
        others: how a single vector's last layer attends to other sentences.
        windows: tokens of a window of swaps.
    """

    near: int = 0
    context: int = 0
    layers: int = 1
    frozen: bool = False
    swaps: bool = True
    others: str = ""
    windows: tuple[int, ...] = (448,)


ARMS: Mapping[str, Arm] = {
    "base": Arm(swaps=False),
    "a": Arm(near=2, swaps=False),
    "b": Arm(context=384, swaps=False),
    "c": Arm(),
    "ab": Arm(near=2, context=384, swaps=False),
    "ac": Arm(near=2),
    "bc": Arm(context=384),
    "abc": Arm(near=2, context=384),
    "ac-learned": Arm(near=2, others="learned"),
    "ac-half": Arm(near=2, others="half"),
    "frozen-1": Arm(context=384, frozen=True),
    "frozen-2": Arm(context=384, layers=2, frozen=True),
    "frozen-3": Arm(context=384, layers=3, frozen=True),
    "shipped": Arm(near=2, context=384, layers=3, frozen=True, windows=(320, 448, 510)),
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
size = 510
left = 112
right = 16

[data]
tasks = [{tasks}]
pairs = ["{shared}/pairs"]
hold_out = 0.12

[[stage]]
steps = {steps}
rate = {rate}
warm_up = 30
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
"""

_PAIRS = """
[[stage.part]]
kind = "pairs"
weight = 1
pairs = 24
landmarks = "sentences"
"""

_SWAPS = """
[[stage.part]]
kind = "marked"
weight = 6
documents = 10
hard = 0
windows = {windows}
distil = 0.0
context = {context}
tasks = {{ swaps = 1 }}
"""


def configuration(name: str, steps: int, seed: int) -> str:
    """The TOML of an arm; the swaps and questions are where their tools were told to write them."""
    arm = ARMS[name]
    model = [f"context = {arm.context}", f"context_layers = {arm.layers}"] * bool(arm.context)
    model += [f'others = "{arm.others}"'] * bool(arm.others)
    model += ['frozen = ["backbone.*"]'] * arm.frozen
    folders = [SHARED / "tasks" / task for task in TASKS] + [ROOT / "scratch" / "questions"]
    folders += [ROOT / "scratch" / "swaps"] * arm.swaps
    weight = 1.0 if arm.context else 0.0
    text = _CONFIG.format(
        root=ROOT,
        shared=SHARED,
        arm=name,
        seed=seed,
        steps=steps,
        # New layers on frozen weights take a higher rate, and pairs have no context to learn from.
        rate="2e-4" if arm.frozen else "5e-5",
        near=arm.near,
        context=weight,
        shares=SHARES,
        model="\n".join(model),
        tasks=", ".join(f'"{folder}"' for folder in folders),
    )
    text += "" if arm.frozen else _PAIRS
    swaps = _SWAPS.format(context=weight, windows=list(arm.windows))
    return text + (swaps if arm.swaps else "")


def sets(split: str, longest: int) -> dict[str, list[tuple[dict[str, Any], list[dict[str, Any]]]]]:
    """The documents of each set with their questions; documents over ``longest`` left out."""
    rows = list(objects(ROOT / "data" / "swaps" / f"{split}.jsonl.gz"))
    found = {"swaps": ([r for r in rows if "text" in r], [r for r in rows if "question" in r])}
    for path in (SHARED / "tasks" / "written", ROOT / "scratch" / "other-words"):
        documents, questions = (f"{path}/{each}.jsonl.gz" for each in ("documents", "questions"))
        found[path.name] = list(objects(Path(documents))), list(objects(Path(questions)))
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


def measure(folder: Path, split: str, longest: int, size: WindowSize) -> dict[str, Any]:
    """What a checkpoint finds in each set, in percent."""
    checkpoint = open_checkpoint(folder)
    model, reading = checkpoint.model, checkpoint.reading
    tokenizer = Tokenizer(folder / "tokenizer.json", reading.bos_token, reading.landmark)
    width = int(model.backbone.width)
    parts = {"all": slice(None)}
    if model.context is not None:
        parts |= {"own": slice(width), "context": slice(width, None)}

    encode = encoder_of(model)
    ids = tokenizer.bos_id, tokenizer.landmark
    result: dict[str, Any] = {}
    for name, documents in sets(split, longest).items():
        figures: dict[str, list[float]] = defaultdict(list)
        for document, asked in documents:
            text = tokenize(tokenizer, document["id"], name, document["text"])
            vectors = landmarks_of(encode, text, *ids, size)
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


def controls(split: str, longest: int) -> dict[str, Any]:
    """What MiniLM and BM25 tell apart, in percent, by the number of sentences before."""
    import bm25s
    from sentence_transformers import SentenceTransformer

    minilm = SentenceTransformer(str(minilm_folder()), device="cpu")
    figures: dict[str, list[float]] = defaultdict(list)
    for document, asked in sets(split, longest)["swaps"]:
        text = document["text"]
        spans = [trimmed(text[start:end], start) for start, end in sentences_of(text)]
        questions = [question["question"] for question in asked]
        for before in (0, 3, 5, 8):
            texts = [
                text[spans[max(0, number - before)][0] : end]
                for number, (_, end) in enumerate(spans)
            ]
            vectors = minilm.encode([*texts, *questions], normalize_embeddings=True)
            words = bm25s.BM25()
            words.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
            for row, question in enumerate(asked):
                terms = bm25s.tokenize(questions[row], return_ids=False, show_progress=False)[0]
                scores = {
                    "MiniLM": vectors[: len(texts)] @ vectors[len(texts) + row],
                    "BM25": words.get_scores(terms),
                }
                for name, values in scores.items():
                    for key, value in ranks(question, values, spans).items():
                        figures[f"{name} {before} {key}"].append(value)
    return {key: round(100 * fmean(values), 1) for key, values in sorted(figures.items())}


def narrow(folder: Path, dimensions: int, out: Path) -> None:
    """Project context vectors to their principal directions in swaps and written (train split)."""
    checkpoint = open_checkpoint(folder)
    model, reading = checkpoint.model, checkpoint.reading
    assert model.context is not None
    width = int(model.backbone.width)
    tokenizer = Tokenizer(folder / "tokenizer.json", reading.bos_token, reading.landmark)
    random, rows = Random(1), []
    for task in (ROOT / "scratch" / "swaps", SHARED / "tasks" / "written"):
        documents = [each["text"] for each in objects(task / "documents.jsonl.gz")]
        for text in random.sample(documents, 60):
            read = tokenize(tokenizer, "", "", text[:6000])
            ids = tokenizer.bos_id, tokenizer.landmark
            rows.append(landmarks_of(encoder_of(model), read, *ids, WindowSize(320, 48, 16, 129)))
    vectors = np.concatenate(rows)[:, width:]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    _, values, directions = np.linalg.svd(vectors, full_matrices=False)
    print(f"{(values[:dimensions] ** 2).sum() / (values**2).sum():.3f} of the energy is kept")
    before = model.context
    checkpoint.reading = replace(reading, context=dimensions)
    model.read_as(checkpoint.reading)
    with torch.no_grad():
        weight = torch.from_numpy(directions[:dimensions]) @ before.project.weight
        model.context.load_state_dict({**before.state_dict(), "project.weight": weight})
    checkpoint.save(out)


def encoder_of(model: LandmarkEncoder) -> Callable[[Batch], torch.Tensor]:
    """The vectors of a batch's landmarks, without gradients, in bfloat16."""

    @torch.no_grad()
    def encode(batch: Batch) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return vectors_of(model, batch)

    return encode


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
    narrowed = commands.add_parser("narrow")
    narrowed.add_argument("checkpoint", type=Path)
    narrowed.add_argument("dimensions", type=int)
    narrowed.add_argument("--out", type=Path, required=True)
    measured = commands.add_parser("measure")
    measured.add_argument("checkpoint", type=Path)
    for each in (measured, commands.add_parser("controls")):
        each.add_argument("--split", choices=("dev", "test"), default="dev")
        each.add_argument("--longest", type=int, default=40000, help="characters of a document")
    measured.add_argument("--windows", type=int, nargs=3, default=(320, 48, 16))
    given = parser.parse_args()
    if given.command == "config":
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(configuration(given.arm, given.steps, given.seed), encoding="utf-8")
    elif given.command == "narrow":
        narrow(given.checkpoint, given.dimensions, given.out)
    elif given.command == "controls":
        print(json.dumps(controls(given.split, given.longest), indent=1))
    else:
        size = WindowSize(*given.windows, 129)
        found = measure(given.checkpoint, given.split, given.longest, size)
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
