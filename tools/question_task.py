"""Join a set of questions in ``data/`` with its documents: a task for train, eval and fit.

    python tools/question_task.py --out scratch/questions [--data ../shared/data] [--absent]
    python tools/question_task.py --set files --out scratch/files.jsonl.gz
    python tools/question_task.py --set reports --data FOLDER --out scratch/reports.jsonl.gz
    python tools/question_task.py --set other-words --size 500 --out scratch/other-500.jsonl.gz

``--out`` is a folder for ``milepost train``, or one file, whose collection also holds documents
that nobody asks about: ``--size N`` adds them up to N. ``--size 25`` asks each question of its
document and 24 others, in as many files as are needed (``scratch/other-25-0.jsonl.gz`` …).
``--absent`` writes the questions, too, that their document does not answer: they have no spans,
which training refuses, ``milepost fit`` calibrates with and ``milepost eval`` measures.

Evidence in real files is kept as its first and last words, so that it is found again when a reader
of files extracts a text differently.
"""

import argparse
import gzip
import json
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost.documents import read
from milepost.errors import MilepostError
from milepost_eval.tasks.reading import objects

HOME = Path(__file__).parents[1] / "data"
SETS = ("questions", "reworded", "files", "other-words", "reports")
REPEATED = ("docx-long-tables.docx", "pdf-rotated-pages.pdf")  # they repeat other files
FACTS = ("licence", "source", "kind")
FOR_FILES = {"from", "to", "page", "also", "named", "company", "year"}  # no keys of a task

Row = dict[str, Any]


def span(text: str, first: str, last: str, begin: int = 0) -> tuple[int, int] | None:
    """From ``first`` to the ``last`` at or after it, bars between words aside; None if missing."""
    words = [re.compile(r"[\s|]+".join(map(re.escape, part.split()))) for part in (first, last)]
    start = words[0].search(text, begin)
    end = words[1].search(text, start.start()) if start else None
    return (start.start(), end.end()) if start and end else None


def corpus(data: Path) -> Iterable[Row]:
    """The documents of the corpus."""
    for path in sorted((data / "corpus").glob("*.jsonl.gz")):
        for row in objects(path):
            yield {
                **{key: row[key] for key in ("id", "title", "text")},
                "meta": {key: row[key] for key in (*FACTS, "split")},
            }


def texts_of(data: Path, names: Collection[str]) -> dict[str, str]:
    """The texts of documents of the corpus, by name."""
    return {row["id"]: row["text"] for row in corpus(data) if row["id"] in names}


def files(data: Path) -> Iterable[Row]:
    """The real files that can be read."""
    for path in sorted((data / "files").iterdir()):
        if path.name in (*REPEATED, "README.md"):
            continue
        try:
            document = read(path)
        except MilepostError as error:
            print(f"left out: {error}")
            continue
        pages = {int(mark.value): mark.offset for mark in document.marks if mark.kind == "page"}
        yield {"id": path.name, "title": "", "text": document.text, "meta": {}, "pages": pages}


def located(asked: Iterable[Mapping[str, Any]], documents: Mapping[str, Row]) -> list[Row]:
    """The questions with spans, in the documents as they are read today."""
    found: list[Row] = []
    lost = 0
    for row in asked:
        if "from" not in row:
            found.append(dict(row))
            continue
        document = documents.get(row["document"], {"text": ""})
        begin = document.get("pages", {}).get(row.get("page"), 0)
        place = span(document["text"], row["from"], row["to"], begin)
        if place is None:
            lost += 1
            continue
        rest = {key: value for key, value in row.items() if key not in FOR_FILES}
        found.append({**rest, "spans": [list(place)]})
    if lost:
        print(f"evidence not found: {lost}")
    return found


def write(out: Path, documents: Iterable[Row], questions: Sequence[Row]) -> None:
    """Write a task: a folder of two files, or one file."""
    if out.name.endswith((".jsonl", ".jsonl.gz")):
        put(out, (*(flat(row) for row in documents), *questions))
        return
    keys = ("id", "title", "text", "meta")
    put(out / "documents.jsonl.gz", ({key: row[key] for key in keys} for row in documents))
    put(out / "questions.jsonl.gz", questions)


def flat(row: Row) -> Row:
    """A document as a line of a task in one file."""
    return {"id": row["id"], "title": row["title"], "text": row["text"], **row["meta"]}


def put(path: Path, rows: Iterable[Row]) -> None:
    """Write objects, a line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    open_file = gzip.open if path.suffix == ".gz" else Path.open
    with open_file(path, "wt", encoding="utf-8") as file:
        for each in rows:
            file.write(json.dumps(each, ensure_ascii=False) + "\n")


def main() -> None:
    """Read the questions and their documents, write the task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, default="questions")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, help="documents of a collection")
    parser.add_argument("--absent", action="store_true")
    parser.add_argument("--named", action="store_true", help="ask reports by their names")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    (source,) = (HOME / given.set).glob("questions.jsonl*")
    asked = [row for row in objects(source) if row.get("spans", True) or given.absent]
    if given.named:
        asked = [{**row, "question": row["named"]} for row in asked]
    every: dict[str, Row] = {}
    if given.set not in ("questions", "reworded"):
        every |= {row["id"]: row for row in files(given.data)}
    if given.set not in ("files", "reports"):
        every |= {row["id"]: row for row in corpus(given.data)}
    questions = located(asked, every)
    names = {row["document"] for row in questions}
    if given.set == "files":
        names = set(every)  # forms and tables that nobody asks about must not win
    draw = random.Random(given.seed)
    others = [name for name in sorted(every) if name not in names]
    others.sort(key=lambda name: every[name]["meta"].get("split") == "train")  # unseen ones first
    order, size = sorted(names), given.size or 0
    groups = [order]
    if size == 25:
        draw.shuffle(order)
        groups = [order[at : at + size] for at in range(0, len(order), size)]
    for number, group in enumerate(groups):
        full = group + others[: max(0, size - len(group))]
        own = [row for row in questions if row["document"] in group]
        numbered = given.out.name.replace(".jsonl", f"-{number}.jsonl")
        out = given.out.with_name(numbered) if size == 25 else given.out
        write(out, [every[name] for name in full], own)


if __name__ == "__main__":
    main()
