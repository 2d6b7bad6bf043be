"""A made-up corpus with tasks: an article, a written question, a long and a short trial."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any


def words_of(random: Random, count: int) -> str:
    """Sentences of words that the small tokenizer knows."""
    return "".join(
        f"{' '.join(random.choices(['the cat', 'river', 'dog', 'tree', 'house'], k=9))}. "
        for _ in range(count // 10)
    )


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def write_corpus(folder: Path, words: int = 3000) -> Path:
    """An article, which a written question asks about too, and a short and a long trial.

    The article has 900 words more than ``words``, the long trial as many, the short one 700.
    """
    from milepost_lab.data.long_documents import TASKS

    random = Random(1)
    body = words_of(random, words)
    article = f"The bird on the mat\n\n{body}\n\nThe bird sat on a tree.\n\n{words_of(random, 900)}"
    at = article.index("The bird sat")
    fields = {"kind": "science", "licence": "CC0", "source": "", "split": "dev"}
    row = {"id": "a", "title": "The bird on the mat", "text": article, **fields}
    write(folder / "corpus" / "science.jsonl.gz", [row])
    documents: dict[str, list[dict[str, Any]]] = {name: [] for name in TASKS}
    questions: dict[str, list[dict[str, Any]]] = {name: [] for name in TASKS}
    documents["written"] = [{"id": "a", "title": "", "text": article, "meta": {}}]
    questions["written"] = [{"id": "w", "document": "a", "spans": [[at, at + 22]]}]
    for name, size in (("long", words), ("short", 700)):
        text = words_of(random, size)
        documents["trials"].append({"id": name, "title": "", "text": text, "meta": {}})
        spans = [[100, 130]] if name == "long" else [[5, 9]]
        questions["trials"].append({"id": name, "document": name, "spans": spans})
    far = {"id": "far", "document": "long", "spans": [[0, len(documents["trials"][0]["text"])]]}
    questions["trials"].append(far)
    filler = {"id": "f", "title": "", "text": "The cat sat.", "meta": {}}
    asked = {"id": "q", "document": "f", "spans": [[0, 3]]}
    for name in TASKS:
        some = [{"question": "Where?", "split": "dev", **q} for q in questions[name] or [asked]]
        write(folder / "tasks" / name / "documents.jsonl.gz", documents[name] or [filler])
        write(folder / "tasks" / name / "questions.jsonl.gz", some)
    return folder
