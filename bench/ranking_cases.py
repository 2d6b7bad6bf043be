"""Questions measured for ``fit_ranking.py``: what the search says of every candidate sentence."""

from __future__ import annotations

import argparse
import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import milepost
from milepost.evaluate.tasks.reading import objects
from milepost.intake import entry
from milepost.reranker import Reranker
from milepost.search import question_terms
from milepost.search.features import FEATURES, features
from milepost.search.fusion import Fusion
from milepost.search.ranking import CLOSELY, Ranked, Ranking
from milepost.search.scope import gather
from milepost.search.searcher import again_of
from milepost.train.data import NON_COMMERCIAL, held_out

TASKS = {
    "written": 2.0,
    "squad_articles": 1.0,
    "covid_papers": 1.0,
    "trials": 1.0,
    "meetings": 1.0,
    "multilingual": 1.0,
}
"""Tasks that have training questions, with the weight of each."""
HOLD_OUT = 0.12
TOGETHER = 12  # documents of a collection


@dataclass
class Case:
    """A question measured in one setting.

    ``rows`` are the sentences looked at closely, ``gains`` the share of the question's evidence in
    each sentence of the scope, ``again`` what the reranker says of those that it read (else NaN).
    """

    task: str
    kind: str
    setting: str
    rows: np.ndarray
    columns: np.ndarray
    fused: np.ndarray
    gains: np.ndarray
    spans: np.ndarray
    document_offsets: np.ndarray
    evidence: list[tuple[int, int]]
    document: int  # of the evidence among the scope's, -1 where it is not there
    again: np.ndarray | None = None

    @property
    def unfamiliar(self) -> float:
        """How little the tokenizer knows of question and documents, 0-1."""
        return float(self.columns[0, list(FEATURES).index("out of vocabulary")])


def arguments(text: str | None, *, documents: int, questions: int) -> argparse.ArgumentParser:
    """What every script that measures questions is told; ``text`` says what it does."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=documents, help="of one task")
    parser.add_argument("--questions", type=int, default=questions, help="of one document")
    parser.add_argument("--report", type=Path, help="write the figures to this file")
    return parser


def remembered(path: Path | None, make: Callable[[], Any]) -> Any:
    """What ``make`` returns, from the file where it was kept before; None keeps nothing."""
    if path and path.exists():
        with path.open("rb") as file:
            return pickle.load(file)
    made = make()
    if path:
        with path.open("wb") as file:
            pickle.dump(made, file)
    return made


def twin_of(document: str) -> int:
    """Which of the two twins, 0 or 1, is trained on a document that the encoder may see."""
    return hashlib.sha256(f"fold{document}".encode()).digest()[0] % 2


def fresh(document: str, task: str, twin: int | None) -> bool:
    """Whether a training document was unseen by the encoder, or by a twin that it may not see."""
    if twin is None:
        return task == "multilingual" or held_out(document, HOLD_OUT)
    free = task != "multilingual" and not held_out(document, HOLD_OUT)
    return free and twin_of(document) != twin


def load(
    shared: Path, task: str, split: str, documents: int, twin: int | None = None
) -> tuple[list[dict], dict]:
    """Documents and their questions of a split; of training only what the encoder has not seen."""
    asked: dict[str, list[dict]] = {}
    for row in objects(shared / "tasks" / task / "questions.jsonl.gz"):
        if row["split"] != split:
            continue
        if split != "train" or fresh(row["document"], task, twin):
            asked.setdefault(row["document"], []).append(row)
    chosen = sorted(asked)
    kept = set(chosen[:: max(1, -(-len(chosen) // documents))])
    texts = []
    for row in objects(shared / "tasks" / task / "documents.jsonl.gz"):
        licence = str(row.get("meta", {}).get("licence", ""))
        if row["id"] in kept and not (split == "train" and NON_COMMERCIAL.search(licence)):
            texts.append(row)
    return texts, asked


def cases(
    shared: Path,
    model: milepost.Encoder,
    fusion: Fusion,
    split: str,
    documents: int,
    questions: int,
    twin: int | None = None,
    *,
    again: bool = False,
) -> list[Case]:
    """All questions of a split in all settings; with a twin those of its sister's documents.

    With ``again`` the model's reranker reads the best places of each.
    """
    found: list[Case] = []
    reranker = Reranker.of(model) if again else None
    # The trees choose what is read again, and serve nothing else here.
    ranking = Ranking(fusion, Ranking.read({}, model.folder).trees if again else None)
    for task in (*TASKS, "policies") if split == "dev" else TASKS:
        texts, asked = load(shared, task, split, documents, twin)
        if not texts:
            continue
        alone, pools = opened(texts, model)
        for number, text in enumerate(texts):
            rows = asked[text["id"]]
            for n, row in enumerate(rows[:: max(1, -(-len(rows) // questions))]):
                settings = {"document": alone[number]}
                if n % 2 == 0 and len(texts) > 1:
                    other = alone[(number + 1 + n) % len(texts)]
                    settings["collection"] = pools[number // TOGETHER]
                    if other is not alone[number]:
                        settings["elsewhere"] = other
                for setting, index in settings.items():
                    found.append(measured(row, task, setting, index, model, ranking, reranker))
        print(split, task, len(texts), len(found), flush=True)
    return found


def opened(texts: list[dict], model: milepost.Encoder) -> tuple[list, list]:
    """An index of each document, and one of every ``TOGETHER`` of them."""
    alone, pools = [], []
    for number, text in enumerate(texts):
        alone.append(milepost.open(model=model))
        alone[-1].add(milepost.Document(text["id"], text["text"]))
        if number % TOGETHER == 0:
            pools.append(milepost.open(model=model))
        copy(alone[-1], pools[-1], text["id"])
    return alone, pools


def copy(source: Any, target: Any, name: str) -> None:
    """Put a document into another index without encoding it again."""
    document = source._store.document(name)
    kept = source._store.sentences(name)
    vectors = source._store.vectors(kept.first, len(kept.spans))
    target._store.put(entry(document, (kept.spans, vectors, kept.vocab_coverage), None))


def measured(
    row: dict,
    task: str,
    setting: str,
    index: Any,
    model: milepost.Encoder,
    ranking: Ranking,
    reranker: Reranker | None,
) -> Case:
    """One question in one setting; with a reranker also what it says of the best places."""
    question = row["question"]
    scope = gather(index._store, model.encode_query(question), question_terms(question))
    again = [np.full(len(scope.spans), np.nan, np.float32)] if reranker else [None]
    reads = again_of(index._store, scope, reranker and reranker.for_query(question))

    def heard(order: np.ndarray) -> np.ndarray:
        again.append(reads(order))
        return again[-1]

    vocab_coverage = model.vocab_coverage(question)
    fused = Ranked(scope, vocab_coverage, ranking, reads and heard).fused
    names = [info.name for info in scope.documents]
    document = names.index(row["document"]) if row["document"] in names else -1
    gains = np.zeros(len(scope.spans), np.float32)
    spans = [tuple(span) for span in row["spans"]]
    if document >= 0:
        part = slice(scope.document_offsets[document], scope.document_offsets[document + 1])
        for start, end in spans:
            low = np.maximum(scope.spans[part, 0], start)
            gains[part] += np.clip(np.minimum(scope.spans[part, 1], end) - low, 0, None)
        gains /= sum(end - start for start, end in spans)
    rows = np.sort(np.argsort(-fused.score, kind="stable")[:CLOSELY])
    columns = features(scope, fused, rows)
    kind = row.get("type") or ""
    return Case(
        task,
        kind,
        setting,
        rows,
        columns,
        fused.score,
        gains,
        scope.spans,
        scope.document_offsets,
        spans,
        document,
        again[-1],
    )
