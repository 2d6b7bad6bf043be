"""LMK, CLS, mean and last compared: one vector for each document of 1k to 16k tokens.

Every second layer of all-MiniLM-L6-v2 starts a network that reads any length in one pass
(``long_bert.py``). It is trained once with each pooling, in the same way, on passages of 256 tokens
(``training.py``), and reads documents of up to 16,384 tokens, as the authors of LMK train on short
texts and read long ones (arXiv 2601.21525). Documents and their cuts: ``data/long_documents.py``.

Each (pooling, seed) leaves its weights and figures in a folder; finished runs are not repeated.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.functional import normalize

from milepost.errors import InputError
from milepost.evaluate.metrics import of_documents
from milepost.evaluate.where import commit, machine, today
from milepost.evaluate.writing import write_text
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
"""Sets of training pairs."""

LAYERS = (1, 3, 5)
"""Layers of all-MiniLM-L6-v2 that start the network."""

SHORT = 256
"""Tokens of a training passage and of a window; cuts begin at multiples of it."""

Progress = Callable[[str, int, int], None]
"""Called with the name of a run, the steps done and the number of steps."""


@dataclass(frozen=True, slots=True)
class LmkSettings:
    """Everything that the figures depend on, besides code and data.

    Attributes:
        recipe: of training.
        lengths: of the cuts, in tokens, ascending.
        min_tokens: minimum length of a document.
        documents: number of documents.
        questions: maximum number of questions about one document.
        states: number of states of a document that ``mean`` averages; all would take minutes.
        held: number of held-out pairs, which measure short texts.
        seeds: of training.
        dtype: of matrix products.
    """

    recipe: LmkRecipe = field(default_factory=LmkRecipe)
    lengths: tuple[int, ...] = (1024, 2048, 4096, 8192, 16384)
    min_tokens: int = 8192
    documents: int = 32
    questions: int = 10
    states: int = 4096
    held: int = 256
    seeds: tuple[int, ...] = (0, 1, 2)
    dtype: Literal["bfloat16", "float32"] = "bfloat16"


QUICK = LmkSettings(
    LmkRecipe(steps=3, batch=8), (1024, 2048, 4096), documents=6, states=2048, held=32, seeds=(0,)
)
"""A run of about a minute."""


@dataclass(frozen=True, slots=True)
class LmkMaterial:
    """The data of the study.

    Attributes:
        words: the tokenizer.
        documents: long documents.
        asked: questions, each about one document.
        held: held-out pairs of query and passage.
        training: training pairs.
    """

    words: Words
    documents: Sequence[LongDocument]
    asked: Sequence[Asked]
    held: Sequence[tuple[Sentences, Sentences]]
    training: Sequence[tuple[Sentences, Sentences]]


def material(base: Path, data: Path, settings: LmkSettings) -> LmkMaterial:
    """Read documents, questions and pairs.

    Args:
        base: folder of all-MiniLM-L6-v2, with ``tokenizer.json``.
        data: folder with ``corpus/``, ``tasks/`` and ``pairs/``.
        settings: sizes.

    Raises:
        InputError: a folder is missing, or there are fewer than two documents or too few pairs.
    """
    if not (base / "tokenizer.json").is_file():
        raise InputError(f"{base} has no tokenizer.json", "--base FOLDER of all-MiniLM-L6-v2")
    if not (data / "pairs").is_dir():
        raise InputError(f"{data} has no pairs/", "--data FOLDER with pairs/, corpus/ and tasks/")
    words = Words(base / "tokenizer.json")
    documents, asked = gather(
        data,
        words,
        least=settings.min_tokens,
        documents=settings.documents,
        questions=settings.questions,
    )
    if len(documents) < 2:
        raise InputError(
            f"{data} has {len(documents)} documents of {settings.min_tokens:,} tokens with a "
            "question, fewer than 2",
            "--data FOLDER with corpus/ and tasks/",
        )
    recipe = settings.recipe
    wanted = settings.held + recipe.steps * recipe.batch
    pairs = short_pairs(data / "pairs", PAIRS, words, wanted, SHORT)
    held, training = pairs[: settings.held], pairs[settings.held :]
    if len(training) < recipe.batch:
        raise InputError(
            f"{data / 'pairs'} has {len(pairs)} pairs, fewer than {settings.held + recipe.batch}",
            "--data FOLDER with more pairs",
        )
    return LmkMaterial(words, documents, asked, held, training)


def study(
    base: Path,
    data: Path,
    folder: Path,
    settings: LmkSettings,
    progress: Progress = lambda name, done, of: None,
) -> dict[str, Any]:
    """Train and measure every pooling with every seed.

    Args:
        base: folder of all-MiniLM-L6-v2.
        data: see ``material``.
        folder: of weights and figures; runs found here with the same settings and data are kept.
        settings: sizes and seeds.
        progress: see ``Progress``.

    Returns:
        Settings, documents, questions and runs, as ``--json`` prints them.

    Raises:
        InputError: see ``material``.
    """
    given = material(base, data, settings)
    # A run does not depend on the other seeds.
    shared = (replace(settings, seeds=()), LAYERS, given.documents, given.asked)
    key = hashlib.sha256(repr((*shared, given.held, given.training)).encode()).hexdigest()
    runs = [
        run(folder, key, base, given, settings, pooling, seed, progress)
        for seed in settings.seeds
        for pooling in POOLINGS
    ]
    return {
        "made": f"{today()}, commit `{commit()}`, {machine()}",
        "settings": asdict(settings),
        "documents": [(each.name, each.task, each.tokens) for each in given.documents],
        "questions": [(each.name, each.kind, each.document) for each in given.asked],
        "runs": runs,
    }


def run(
    folder: Path,
    key: str,
    base: Path,
    given: LmkMaterial,
    settings: LmkSettings,
    pooling: Pooling,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """Train and measure one network, or return the figures of a finished run with the same key."""
    name = f"{pooling}-{seed}"
    weights, figures = folder / f"{name}.safetensors", folder / f"{name}.json"
    known = _figures(figures)
    if known.pop("key", None) == key:
        return known
    model = load_long_bert(base, LAYERS)
    opening = given.words.opening
    assert opening is not None  # a BERT's tokenizer has [CLS]
    reader = PooledReader(
        model,
        pooling,
        opening=opening,
        closing=given.words.closing,
        dtype=getattr(torch, settings.dtype),
    )
    before = short(reader, given.held)
    begun = time.perf_counter()
    stored = _metadata(weights)
    if stored.get("key") == key:
        model.load_state_dict(load_file(weights), strict=False)
        losses = json.loads(stored["losses"])
    else:
        steps = settings.recipe.steps
        losses = train(
            reader,
            given.training,
            settings.recipe,
            seed,
            lambda step, _: progress(name, step + 1, steps),
        )
        trained = {n: w.detach() for n, w in model.named_parameters() if w.requires_grad}
        folder.mkdir(parents=True, exist_ok=True)
        draft = weights.with_suffix(".part")
        save_file(trained, draft, {"key": key, "losses": json.dumps(losses)})
        draft.replace(weights)
    trained_in = time.perf_counter() - begun
    model.eval()
    found: dict[str, Any] = {
        "pooling": pooling,
        "seed": seed,
        "losses": losses,
        "short before": before,
        "short": short(reader, given.held),
        "figures": measure(reader, given.documents, given.asked, settings),
    }
    if pooling == "mean":
        found["estimate"] = estimate(reader, given.documents[0], settings)
    found["seconds"] = [trained_in, time.perf_counter() - begun - trained_in]
    write_text(figures, json.dumps({"key": key, **found}))
    return found


def ndcg(queries: Tensor, vectors: Tensor, right: Sequence[int]) -> list[float]:
    """nDCG@10 of each query, which has one right document.

    Args:
        queries: ``(q, d)``, unit length.
        vectors: ``(documents, d)``, unit length.
        right: number of the right document of each query.
    """
    order = (queries @ vectors.T).argsort(dim=1, descending=True, stable=True)[:, :10].tolist()
    return [
        of_documents([str(n) for n in ranked], {str(wanted): 1})["ndcg@10"]
        for ranked, wanted in zip(order, right, strict=True)
    ]


def measure(
    reader: PooledReader,
    documents: Sequence[LongDocument],
    asked: Sequence[Asked],
    settings: LmkSettings,
) -> list[dict[str, Any]]:
    """Figures of a trained network at each length.

    Returns:
        ``reading`` (``whole``: one pass; ``windows``: 256 tokens at a time), ``granularity``,
        ``length`` and ``ndcg`` of each question.
    """
    numbers = {document.name: n for n, document in enumerate(documents)}
    right = [numbers[question.document] for question in asked]
    texts = [question.text for question in asked]
    found = []
    for granularity in (32, SENTENCES) if reader.pooling == "lmk" else (32,):
        queries = reader.vectors(texts, granularity)
        for length in settings.lengths:
            cuts = [document.cut(length) for document in documents]
            vectors = reader.vectors(cuts, granularity, most=settings.states)
            found.append(("whole", granularity, length, ndcg(queries, vectors, right)))
    if reader.pooling in ("lmk", "mean"):
        queries = reader.vectors(texts, 32)
        longest = settings.lengths[-1]
        windows = [reader.windowed(each.cut(longest), SHORT, 32) for each in documents]
        for length in settings.lengths:
            sums = []
            for document, rows in zip(documents, windows, strict=True):
                first = (document.start(length) - document.start(longest)) // SHORT
                sums.append(rows[first : first + length // SHORT].sum(0))
            vectors = normalize(torch.stack(sums), dim=-1)
            found.append(("windows", 32, length, ndcg(queries, vectors, right)))
    names = ("reading", "granularity", "length", "ndcg")
    return [dict(zip(names, each, strict=True)) for each in found]


def short(reader: PooledReader, held: Sequence[tuple[Sentences, Sentences]]) -> float:
    """Mean nDCG@10 of held-out pairs, whose texts are as long as in training."""
    queries = reader.vectors([query for query, _ in held], 32)
    passages = reader.vectors([passage for _, passage in held], 32)
    figures = ndcg(queries, passages, range(len(held)))
    return sum(figures) / len(figures)


def estimate(reader: PooledReader, document: LongDocument, settings: LmkSettings) -> float:
    """Cosine of ``mean`` over some states of the longest cut with ``mean`` over all of them."""
    text = [document.cut(settings.lengths[-1])]
    some, every = reader.vectors(text, 32, most=settings.states), reader.vectors(text, 32)
    return float((some * every).sum())


def _figures(path: Path) -> dict[str, Any]:
    """The figures of a finished run; empty if there are none that can be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        return {}


def _metadata(path: Path) -> dict[str, str]:
    """Metadata of stored weights; empty if there are none that can be read."""
    try:
        with safe_open(path, "pt") as file:
            return dict(file.metadata() or {})
    except (OSError, SafetensorError):
        return {}
