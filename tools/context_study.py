"""What a checkpoint finds in the sets of the study of context (studies/context).

    python tools/context_study.py scratch/landmark-minilm-context/checkpoint --split dev

Landmarks alone are read, in ``--windows``: twins told apart and the best landmark of ``data/swaps``
by distance, and ranks on questions in other words and of ``written``; with a context vector also
what each part of the vector tells apart.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
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
from milepost_train.model.landmark_encoder import LandmarkEncoder

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"


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
        for document, questions in documents:
            text = tokenize(tokenizer, document["id"], name, document["text"])
            vectors = landmarks_of(encode, text, *ids, size)
            encoded = tokenizer.encode([question["question"] for question in questions])
            rows = [np.array(each.ids[:128], np.int32) for each in encoded]
            queries = encode(queries_of(rows, *ids)).float().numpy()
            for part, columns in parts.items():
                scores = queries[:, columns] @ vectors[:, columns].T
                for question, row in zip(questions, scores, strict=True):
                    for key, value in ranks(question, row, text.spans).items():
                        figures[f"{part} {key}"].append(value)
        result[name] = {key: round(100 * fmean(values), 1) for key, values in figures.items()}
        result[name]["questions"] = sum(len(questions) for _, questions in documents)
    return result


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
    """Measure a checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--longest", type=int, default=40000, help="characters of a document")
    parser.add_argument("--windows", type=int, nargs=3, default=(320, 48, 16))
    options = parser.parse_args()
    size = WindowSize(*options.windows, 129)
    found = measure(options.checkpoint, options.split, options.longest, size)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
