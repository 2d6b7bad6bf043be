"""Join `data/files` with the real files that it asks of: a task for `milepost eval` and `fit`.

    python tools/files_task.py --out scratch/files.jsonl [--data ../shared/data]
    milepost eval run --tasks scratch/files.jsonl --setting collection

The collection holds every readable file but two that repeat others. Evidence is kept as its first
and last words, so that it is found again when a reader of files extracts a text differently.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from milepost.errors import MilepostError
from milepost.text import read
from milepost_eval.tasks.reading import objects

QUESTIONS = Path(__file__).parents[1] / "data" / "files" / "questions.jsonl"
REPEATED = ("docx-long-tables.docx", "pdf-rotated-pages.pdf")


def span(text: str, first: str, last: str) -> tuple[int, int] | None:
    """From the start of ``first`` to the end of the ``last`` at or after it; None if not there."""
    start = text.find(first)
    end = text.find(last, start)
    return None if start < 0 or end < 0 else (start, end + len(last))


def main() -> None:
    """Read the files, find the evidence, write the task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    texts = {}
    for path in sorted((given.data / "files").iterdir()):
        if path.name in REPEATED or path.name == "README.md":
            continue
        try:
            texts[path.name] = read(path).text
        except MilepostError as error:
            print(f"left out: {error}")
    lines = [{"id": name, "text": text} for name, text in texts.items()]
    lost = 0
    for row in objects(QUESTIONS):
        found = span(texts[row["document"]], row["from"], row["to"])
        if found is None:
            lost += 1
            continue
        kept = {key: row[key] for key in ("id", "document", "question", "type", "split")}
        lines.append({**kept, "spans": [list(found)]})
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
    )
    print(f"{len(texts)} files, {len(lines) - len(texts)} questions; evidence not found: {lost}")


if __name__ == "__main__":
    main()
