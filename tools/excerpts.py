"""Cut the documents of a task to the part that is asked about: a teacher reads all of a document.

    python tools/excerpts.py scratch/questions --out scratch/excerpts --documents 260

An excerpt begins at the paragraph of the first evidence. Questions whose evidence does not lie in
it are left out, and so are documents with fewer than two questions left.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost_eval.tasks.reading import objects
from milepost_train.loading import task_files
from question_task import put


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
    found = [
        excerpt(row, about[row["id"]], given.characters)
        for row in objects(documents_file)
        if row["id"] in wanted
    ]
    found = [(cut, kept) for cut, kept in found if len(kept) > 1]
    put(given.out / "documents.jsonl", (cut for cut, _ in found))
    put(given.out / "questions.jsonl", (each for _, kept in found for each in kept))


if __name__ == "__main__":
    main()
