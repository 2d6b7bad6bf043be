"""A folder of shared data, small and made here."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from milepost_train.light.distil import TASKS

TEXT = "Frost came early. The bees had left the hive. Nobody knew why.\n\nIn spring they came back."


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    at = TEXT.index("The bees")
    names = [f"doc{n}" for n in range(60)]
    for task in TASKS:
        write(
            tmp_path / "tasks" / task / "documents.jsonl.gz",
            [
                {
                    "id": name,
                    "title": "",
                    "text": f"Of {task} and {name}. {TEXT}",
                    "meta": {"licence": "CC BY-NC" if n == 1 else "CC0"},
                }
                for n, name in enumerate(names)
            ],
        )
        begin = [len(f"Of {task} and {name}. ") + at for name in names]
        write(
            tmp_path / "tasks" / task / "questions.jsonl.gz",
            [
                {
                    "id": f"{name}-q",
                    "document": name,
                    "question": f"Who left the hive of {name}?",
                    "spans": [[begin[n], begin[n] + 8]],
                    "split": "dev" if n == 2 else "train",
                }
                for n, name in enumerate(names)
            ],
        )
    rows = [
        {"id": f"c{n}", "licence": licence, "split": part, "text": f"Kept{n}. {TEXT}"}
        for n, (licence, part) in enumerate(
            [("CC0", "train"), ("CC-BY-NC-4.0", "train"), ("CC0", "dev"), ("CC0", "test")] * 5
        )
    ]
    write(tmp_path / "corpus" / "health.jsonl.gz", rows)
    write(tmp_path / "pairs" / "definitions.jsonl.gz", [{"query": "What is wax?", "passage": "x"}])
    write(tmp_path / "pairs" / "sentence-cloze.jsonl.gz", [{"query": "No.", "passage": "x"}])
    return tmp_path
