"""Cut the documents of a task to the part that is asked about: a teacher reads all of a document.

    python tools/excerpts.py scratch/questions --out scratch/excerpts --documents 260

An excerpt begins at the paragraph of the first evidence. Questions whose evidence does not lie in
it are left out, and so are documents with fewer than two questions left.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost_eval.tasks.reading import objects
from milepost_train.loading import task_files


def excerpt(
    document: Mapping[str, Any], asked: Sequence[Mapping[str, Any]], most: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A document cut, and the questions that still have their evidence, moved."""
    text = document["text"]
    first = min(each["spans"][0][0] for each in asked)
    start = text.rfind("\n", 0, first) + 1
    end = min(len(text), start + most)
    kept = [
        {**each, "spans": [[a - start, b - start] for a, b in each["spans"]]}
        for each in asked
        if all(start <= a and b <= end for a, b in each["spans"])
    ]
    return {**document, "text": text[start:end]}, kept


def main() -> None:
    """Read a task, cut it, write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--characters", type=int, default=9000)
    parser.add_argument("--documents", type=int, help="at most, drawn at random")
    parser.add_argument("--split", default="train")
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    documents_file, questions_file = task_files(given.task)
    about: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for question in objects(questions_file):
        if question["split"] == given.split and question["spans"]:
            about[question["document"]].append(question)
    names = sorted(about)
    random.Random(given.seed).shuffle(names)
    wanted = set(names[: given.documents])
    given.out.mkdir(parents=True, exist_ok=True)
    with (
        (given.out / "documents.jsonl").open("w", encoding="utf-8") as documents,
        (given.out / "questions.jsonl").open("w", encoding="utf-8") as questions,
    ):
        for row in objects(documents_file):
            if row["id"] not in wanted:
                continue
            cut, kept = excerpt(row, about[row["id"]], given.characters)
            if len(kept) < 2:
                continue
            documents.write(json.dumps(cut, ensure_ascii=False) + "\n")
            for each in kept:
                questions.write(json.dumps(each, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
