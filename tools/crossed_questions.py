"""Questions of one language about documents of another, from XQuAD's translations.

    python tools/crossed_questions.py --split train --out scratch/crossed [--each 1]

``multilingual`` and ``squad_articles`` of the shared tasks hold the same questions and paragraphs
in twelve languages, under the same ids. Each question of a document gets the words of ``--each``
other languages, drawn at random; the spans stay. The folder is a task for ``[data] tasks`` of
``milepost train`` and for ``milepost eval``.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from milepost_eval.tasks.reading import objects
from question_task import put

TASKS = ("multilingual", "squad_articles")


def main() -> None:
    """Read both tasks and write the crossed one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/tasks"))
    parser.add_argument("--split", choices=("train", "dev", "test"), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=1, help="other languages for a question")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    language: dict[str, str] = {}
    documents: dict[str, Mapping[str, Any]] = {}
    for task in TASKS:
        for document in objects(given.data / task / "documents.jsonl.gz"):
            documents[document["id"]] = document
            language[document["id"]] = document["meta"].get("language", "en")
    words: dict[str, dict[str, str]] = defaultdict(dict)
    asked: list[tuple[str, Mapping[str, Any]]] = []
    for task in TASKS:
        for question in objects(given.data / task / "questions.jsonl.gz"):
            if question["split"] != given.split or question["id"].startswith("drcd-"):
                continue
            key = question["id"].rpartition("-")[2]
            words[key][language[question["document"]]] = question["question"]
            asked.append((key, question))
    lines = [
        {
            "id": f"{question['id']}-{other}",
            "document": question["document"],
            "question": words[key][other],
            "spans": question["spans"],
            "type": f"{other}-{own}",
            "split": given.split,
        }
        for key, question in asked
        for own in [language[question["document"]]]
        for others in [sorted(words[key].keys() - {own})]
        for other in draw.sample(others, min(given.each, len(others)))
    ]
    put(given.out / "questions.jsonl", lines)
    used = sorted({str(line["document"]) for line in lines})
    put(given.out / "documents.jsonl", (dict(documents[name]) for name in used))


if __name__ == "__main__":
    main()
