"""Stores at growing sizes: bytes a sentence, time of a search, recall of the approximate index.

    python bench/scale.py [--sentences 10000,100000] [--postgres ADDRESS] [--json FILE]

The landmarks are real: the texts of the shared corpora, read by the light model, each document
once. Questions are the development questions of the tasks. A search is ``Index.search`` without
the reranker, so that the store's part shows; recall is the share of the ten nearest rows that an
exact scan finds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import milepost
from milepost.evaluate.session import Session
from milepost.types import Document

MODEL = "landmark-light"
TASKS = "written,squad_articles,covid_papers,trials,meetings,multilingual,policies"


def corpus(options: argparse.Namespace) -> tuple[list[Document], list[str]]:
    """Documents of all tasks, each text once, and questions about them."""
    session = Session(tasks=TASKS.split(","), split="dev", data=options.data, cache=None)
    documents: dict[str, Document] = {}
    questions: list[str] = []
    for task, _ in session.loaded():
        for document in task.documents:
            documents.setdefault(document.text, Document(document.name, document.text))
        questions += [question.text for question in task.questions[:20]]
    return list(documents.values()), questions


def measured(index: milepost.Index, questions: list[str], clients: int) -> dict[str, float]:
    """Milliseconds of searches, p50 and p99, by several clients at one time."""
    took: list[float] = []
    waiting = iter(questions * clients)
    lock = threading.Lock()

    def ask() -> None:
        while True:
            with lock:
                question = next(waiting, None)
            if question is None:
                return
            begun = time.perf_counter()
            index.search(question, rerank=False)
            took.append(1000 * (time.perf_counter() - begun))

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"p50": statistics.median(took), "p99": float(np.percentile(took, 99))}


def recall(index: milepost.Index, questions: list[str], exact: milepost.Index) -> dict[str, float]:
    """Share of the ten nearest rows of an exact scan, and of its first passages, that are found."""
    shares, same = [], []
    for question in questions[:60]:
        vector = index.model.encode_query(question)
        with exact.snapshot() as theirs, index.snapshot() as ours:
            due, found = theirs.nearest(vector, 10)[1], ours.nearest(vector, 10)[1]
            shares.append(float(np.isclose(due, found, atol=1e-5).mean()))
        first, other = (each.search(question, k=1, rerank=False) for each in (exact, index))
        same.append(float([p.text for p in first] == [p.text for p in other]))
    return {"recall": statistics.mean(shares), "same_first": statistics.mean(same)}


def places(options: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[str, str, Callable]]:
    """Name, place and size in bytes of each store."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

    def on_disk() -> int:
        return sum(path.stat().st_size for path in (folder / "sqlite").rglob("*"))

    yield "SQLite", str(folder / "sqlite"), on_disk
    if options.postgres:
        import psycopg

        from milepost.store.postgres.address import parse

        name = f"bench_{time.time_ns()}"
        joint = "&" if "?" in options.postgres else "?"
        address = f"{options.postgres}{joint}schema={name}"
        conninfo = parse(address).conninfo

        def on_server() -> int:
            with psycopg.connect(conninfo, autocommit=True) as connection:
                return int(
                    connection.execute(
                        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
                        "WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'm')",
                        (name,),
                    ).fetchone()[0]
                )

        def drop() -> None:
            with psycopg.connect(conninfo, autocommit=True) as connection:
                connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())

        stack.callback(drop)
        yield "PostgreSQL", address, on_server


def _known(known: dict[str, Any], text: Document, **_: object) -> Any:
    """What was encoded before, for the second store."""
    return known[text.name]


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A record a size and store."""
    documents, questions = corpus(options)
    encoder = milepost.load(MODEL)
    records = []
    for wanted in (int(each) for each in options.sentences.split(",")):
        with ExitStack() as stack:
            chosen, total, known = [], 0, {}
            for document in documents:
                if total >= wanted:
                    break
                marks = known[document.name] = encoder.encode(document)
                total += len(marks.spans)
                chosen.append(document)
            exact = None
            for name, place, size in places(options, stack):
                plain, encoder.encode = encoder.encode, partial(_known, known)
                index = stack.enter_context(milepost.open(place, model=encoder))
                begun = time.perf_counter()
                index.add(chosen)
                stored = time.perf_counter() - begun
                encoder.encode = plain
                exact = exact or index
                record = {
                    "store": name,
                    "sentences": total,
                    "documents": len(chosen),
                    "store_seconds": stored,
                    "bytes_a_sentence": size() / total,
                    "one": measured(index, questions, 1),
                    "eight": measured(index, questions, 8),
                    **recall(index, questions, exact),
                }
                print(json.dumps(record), flush=True)
                records.append(record)
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", default="10000,100000")
    parser.add_argument("--postgres", help="address of a server with pgvector")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    records = run(options)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
