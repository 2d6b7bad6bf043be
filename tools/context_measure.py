"""What the checkpoints of the study of context find (studies/context).

    python tools/context_measure.py records CHECKPOINT --out scratch/records/abc-1.json.gz
    python tools/context_measure.py table scratch/records/*.json.gz --less base
    python tools/context_measure.py controls --split dev

``records`` reads landmarks alone: ``data/swaps`` (twins told apart, the best landmark), and ranks
on questions in other words and of ``written``; in windows of two sizes, each sentence alone, and
with a context vector what each part of the vector tells apart. ``table`` gives means over seeds,
and differences from an arm with intervals over documents. ``controls`` gives all-MiniLM-L6-v2, BM25
and the shipped network each sentence of ``data/swaps`` with 0 to 8 before it as one text.
"""

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import torch

import milepost
from context_study import ROOT, SHARED
from milepost.documents.sentences import split as sentences_of
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.plan import WindowSize
from milepost_eval.tasks.reading import objects
from milepost_train.batches import Batch, queries_of
from milepost_train.check import landmarks_of, vectors_of
from milepost_train.data import Text, tokenize, touched, trimmed
from milepost_train.model.checkpoint import Checkpoint, open_checkpoint
from milepost_train.model.landmark_encoder import LandmarkEncoder

WINDOWS = {"window": WindowSize(320, 96, 16, 129), "long": WindowSize(510, 224, 16, 129)}
LONGEST = 40_000
"""Characters of a document; longer ones are left out."""


class Asked(NamedTuple):
    """A document of a set, and questions about it."""

    task: str
    split: str
    text: Text
    questions: list[dict[str, Any]]


def sets(split: str) -> dict[str, list[tuple[dict[str, Any], list[dict[str, Any]]]]]:
    """The documents of each set with their questions."""
    rows = list(objects(ROOT / "data" / "swaps" / f"{split}.jsonl.gz"))
    found = {"swaps": ([r for r in rows if "text" in r], [r for r in rows if "question" in r])}
    for path in (SHARED / "tasks" / "written", ROOT / "scratch" / "other-words"):
        documents, questions = (f"{path}/{each}.jsonl.gz" for each in ("documents", "questions"))
        found[path.name] = list(objects(Path(documents))), list(objects(Path(questions)))
    made = {}
    for name, (documents, questions) in found.items():
        about = defaultdict(list)
        for question in (each for each in questions if each["split"] == split):
            about[question["document"]].append(question)
        short = (each for each in documents if len(each["text"]) <= LONGEST)
        made[name] = [(dict(d), about[d["id"]]) for d in short if about[d["id"]]]
    return made


def read(tokenizer: Tokenizer) -> list[Asked]:
    """Every document that is measured, as token ids."""
    return [
        Asked(name, split, tokenize(tokenizer, document["id"], name, document["text"]), asked)
        for split in ("dev", "test")
        for name, documents in sets(split).items()
        for document, asked in documents
    ]


def records(
    checkpoint: Checkpoint, tokenizer: Tokenizer, documents: Iterable[Asked]
) -> list[dict[str, Any]]:
    """For each question the rank of its evidence by every reading, and whether twins are below."""
    model = checkpoint.model.eval()
    encode = encoder_of(model)
    ids = tokenizer.bos_id, tokenizer.landmark
    width = int(model.backbone.width)
    parts = {"own": slice(width), "context": slice(width, None)} if model.context else {}
    found = []
    for task, split, text, asked in documents:
        encoded = tokenizer.encode([question["question"] for question in asked])
        rows = [np.array(each.ids[:128], np.int32) for each in encoded]
        queries = encode(queries_of(rows, *ids)).float().cpu().numpy()
        vectors = {name: landmarks_of(encode, text, *ids, size) for name, size in WINDOWS.items()}
        vectors["alone"] = _alone(encode, text, *ids)
        scores = {name: queries @ each.T for name, each in vectors.items()}
        for part, columns in parts.items():
            scores[part] = queries[:, columns] @ vectors["window"][:, columns].T
        for number, question in enumerate(asked):
            of = {name: ranks(question, each[number], text.spans) for name, each in scores.items()}
            about = {"task": task, "split": split, "document": text.name}
            found.append({**about, "type": question.get("type"), "ranks": of})
    return found


def _alone(
    encode: Callable[[Batch], torch.Tensor], text: Text, bos_id: int | None, landmark: int
) -> np.ndarray[Any, Any]:
    order = np.argsort(text.lengths, kind="stable")
    vectors: list[np.ndarray[Any, Any]] = [np.empty(0)] * len(order)
    for at in range(0, len(order), 256):
        some = order[at : at + 256].tolist()
        batch = queries_of([text.sentence(n) for n in some], bos_id, landmark)
        for number, vector in zip(some, encode(batch).float().cpu().numpy(), strict=True):
            vectors[number] = vector
    return np.stack(vectors)


def ranks(
    question: Mapping[str, Any], scores: np.ndarray[Any, Any], spans: Sequence[tuple[int, int]]
) -> list[float]:
    """Rank of the best evidence sentence from 1, and whether it is above every twin (0 or 1)."""
    evidence = list(touched(spans, question["spans"]))
    rank = 1 + int((scores > scores[evidence].max()).sum())
    if not question.get("twins"):
        return [rank]
    twins = list(touched(spans, question["twins"]))
    return [rank, int(scores[evidence].max() > scores[twins].max())]


def encoder_of(model: LandmarkEncoder) -> Callable[[Batch], torch.Tensor]:
    """The vectors of a batch's landmarks, without gradients, in bfloat16."""
    kind = next(model.parameters()).device.type

    @torch.no_grad()
    def encode(batch: Batch) -> torch.Tensor:
        with torch.autocast(kind, torch.bfloat16):
            return vectors_of(model, batch)

    return encode


FIGURES: Mapping[str, tuple[str, str, Callable[[Sequence[float]], float]]] = {
    "twins": ("swaps", "window", lambda ranks: ranks[1]),
    "best": ("swaps", "window", lambda ranks: float(ranks[0] == 1)),
    "swaps, MRR": ("swaps", "window", lambda ranks: 1 / ranks[0]),
    "swaps alone, MRR": ("swaps", "alone", lambda ranks: 1 / ranks[0]),
    "written, MRR": ("written", "window", lambda ranks: 1 / ranks[0]),
    "written alone": ("written", "alone", lambda ranks: 1 / ranks[0]),
    "other words, MRR": ("other-words", "window", lambda ranks: 1 / ranks[0]),
    "other words alone": ("other-words", "alone", lambda ranks: 1 / ranks[0]),
    "other words, long": ("other-words", "long", lambda ranks: 1 / ranks[0]),
    "written, long": ("written", "long", lambda ranks: 1 / ranks[0]),
    "twins, long": ("swaps", "long", lambda ranks: ranks[1]),
}


def table(files: Sequence[Path], split: str, less: str | None) -> list[dict[str, Any]]:
    """Means over the seeds of an arm, their range, and the difference from the arm ``less``."""
    from milepost_eval.statistics import difference

    arms = defaultdict(list)
    for file in files:
        rows = json.loads(gzip.decompress(file.read_bytes()))
        arm = file.name.removesuffix(".json.gz").rpartition("-")[0]
        arms[arm].append([row for row in rows if row["split"] == split])
    made = []
    for arm, seeds in arms.items():
        for figure in FIGURES:
            found = _values(seeds, figure)
            row: dict[str, Any] = {"arm": arm, "figure": figure, "mean": fmean(map(fmean, found))}
            row["seeds"] = [round(fmean(each), 1) for each in found]
            if less and arm != less and less in arms:
                theirs = _values(arms[less], figure)
                clusters = [r["document"] for r in seeds[0] if r["task"] == FIGURES[figure][0]]
                apart = difference(np.mean(found, 0), np.mean(theirs, 0), clusters)
                row |= {"less": apart.mean, "low": apart.low, "high": apart.high, "p": apart.p,
                        "detectable": apart.detectable}  # fmt: skip
            made.append(row)
    return made


def _values(seeds: Sequence[Sequence[Mapping[str, Any]]], figure: str) -> list[list[float]]:
    """A figure of each question in percent, by seed."""
    task, reading, value = FIGURES[figure]
    return [[100 * value(r["ranks"][reading]) for r in of if r["task"] == task] for of in seeds]


def controls(split: str) -> dict[str, Any]:
    """What chunks tell apart, in percent, by the number of sentences before."""
    import bm25s
    from sentence_transformers import SentenceTransformer

    from milepost_eval.embedders.choose import minilm_folder

    minilm = SentenceTransformer(str(minilm_folder()), device="cpu")
    shipped = milepost.load()
    figures: dict[str, list[float]] = defaultdict(list)
    for document, asked in sets(split)["swaps"]:
        text = document["text"]
        spans = [trimmed(text[start:end], start) for start, end in sentences_of(text)]
        questions = [question["question"] for question in asked]
        for before in (0, 3, 5, 8):
            texts = [
                text[spans[max(0, number - before)][0] : end]
                for number, (_, end) in enumerate(spans)
            ]
            vectors = minilm.encode([*texts, *questions], normalize_embeddings=True)
            tokens = (ids[-500:] for ids, _, _ in shipped.tokenizer.count(texts))
            landmarks = np.concatenate(shipped.encode_windows([[ids] for ids in tokens]))
            words = bm25s.BM25()
            words.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
            for row, question in enumerate(asked):
                terms = bm25s.tokenize(questions[row], return_ids=False, show_progress=False)[0]
                scores = {
                    "MiniLM": vectors[: len(texts)] @ vectors[len(texts) + row],
                    "shipped": landmarks @ shipped.encode_query(questions[row]),
                    "BM25": words.get_scores(terms),
                }
                for name, values in scores.items():
                    rank, apart = ranks(question, values, spans)
                    figures[f"{name} {before} twins"].append(apart)
                    figures[f"{name} {before} best"].append(float(rank == 1))
    return {key: round(100 * fmean(values), 1) for key, values in sorted(figures.items())}


def main() -> None:
    """Measure a checkpoint, or print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("records")
    measured.add_argument("checkpoint", type=Path)
    measured.add_argument("--out", type=Path, required=True)
    printed = commands.add_parser("table")
    printed.add_argument("files", type=Path, nargs="+")
    printed.add_argument("--less", help="an arm")
    for each in (printed, commands.add_parser("controls")):
        each.add_argument("--split", choices=("dev", "test"), default="dev")
    given = parser.parse_args()
    if given.command == "records":
        checkpoint = open_checkpoint(given.checkpoint)
        file, reading = given.checkpoint / "tokenizer.json", checkpoint.reading
        tokenizer = Tokenizer(file, reading.bos_token, reading.landmark)
        found = records(checkpoint, tokenizer, read(tokenizer))
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))
    elif given.command == "controls":
        print(json.dumps(controls(given.split), indent=1))
    else:
        for row in table(given.files, given.split, given.less):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
