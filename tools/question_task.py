"""Join ``data/questions`` with their documents: a task for ``milepost train`` and ``eval``.

    python tools/question_task.py --out scratch/questions [--data ../shared/data] [--absent]

Questions that their document does not answer have no spans, which training and evaluation refuse
and ``milepost fit`` calibrates with; ``--absent`` writes them too.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from milepost_eval.tasks.reading import objects

QUESTIONS = Path(__file__).parents[1] / "data" / "questions" / "questions.jsonl.gz"


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write objects, a line each."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for each in rows:
            file.write(json.dumps(each, ensure_ascii=False) + "\n")


def main() -> None:
    """Read the questions and the corpus, write the task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--absent", action="store_true")
    given = parser.parse_args()
    asked = [each for each in objects(QUESTIONS) if each["spans"] or given.absent]
    names = {each["document"] for each in asked}
    given.out.mkdir(parents=True, exist_ok=True)
    facts = ("licence", "source", "kind")
    documents = (
        {
            **{key: row[key] for key in ("id", "title", "text")},
            "meta": {key: row[key] for key in facts},
        }
        for path in sorted((given.data / "corpus").glob("*.jsonl.gz"))
        for row in objects(path)
        if row["id"] in names
    )
    write(given.out / "documents.jsonl.gz", documents)
    write(given.out / "questions.jsonl.gz", asked)


if __name__ == "__main__":
    main()
