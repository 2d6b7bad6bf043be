"""Small training runs: a few documents, questions and pairs, a tiny BERT, a configuration."""

import json
from pathlib import Path
from typing import Any

from support.files import write_lines
from support.tiny_models import write_checkpoint

ANIMALS = ("cat", "dog", "bird")
PLACES = ("mat", "tree", "river", "house")

SETTINGS: dict[str, Any] = {
    "init": "init",
    "out": "run",
    "seed": 3,
    "dtype": "float32",
    "device": "cpu",
    "threads": 1,
    "average": 0.9,
    "log_every": 2,
    "save_every": 4,
}
STAGES = """
[[stage]]
steps = 6
rate = 1e-3
warm_up = 2
accumulate = 2

[[stage.part]]
kind = "marked"
weight = 2
distil = 0
question_dropout = 0.1

[[stage.part]]
kind = "pairs"
pairs = 4

[[stage]]
kind = "marked"
distil = 0
steps = 5
rate = 5e-4
"""
MERGED = """
[[stage]]
kind = "merged"
steps = 1
documents = 1
questions = 2
tokens = 160
hard = 2
window = 64
left = 16
chunk = 2
"""
CHECK = """
[check]
tasks = ["task"]
every = 20
budget = 60
"""


def write_task(folder: Path, sentences: int = 8) -> Path:
    """A task of six documents, each sentence asked for; every fourth question is of dev."""
    folder.mkdir(parents=True)
    documents, questions = [], []
    for number in range(6):
        said = [
            f"The {ANIMALS[(number + n) % 3]} sat on the {PLACES[(number * 3 + n) % 4]} {n}. "
            for n in range(sentences)
        ]
        documents.append({"id": f"d{number}", "title": f"tree {number}", "text": "".join(said)})
        at = 0
        for n, sentence in enumerate(said):
            end = at + len(sentence.rstrip())
            asked = f"who sat on the {PLACES[(number * 3 + n) % 4]} {n}"
            split = "dev" if n % 4 == 3 else "train"
            questions.append(
                {"id": f"{number}:{n}", "document": f"d{number}", "question": asked,
                 "spans": [[at, end]], "split": split}
            )  # fmt: skip
            at += len(sentence)
    write_lines(folder / "documents.jsonl", documents)
    write_lines(folder / "questions.jsonl", questions)
    return folder


def write_run(
    folder: Path, text: str = "", *, stages: str = STAGES, sentences: int = 8, **changes: Any
) -> Path:
    """A folder with model, data and ``run.toml``; the path of that file.

    Args:
        folder: made where it is not there; what it holds already stays.
        text: more of the file, tables at its end.
        stages: the ``[[stage]]`` tables.
        sentences: of a document.
        changes: keys at the top; None leaves one out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "init").exists():
        write_checkpoint(folder / "init", "bert")
        write_task(folder / "task", sentences)
        write_lines(
            folder / "pairs.jsonl",
            [
                {"query": f"{animal} {place}", "passage": f"The {animal} sat. A {place} sat on it."}
                for animal in ANIMALS
                for place in PLACES
            ],
        )
    named = {**SETTINGS, **changes}
    top = "".join(f"{k} = {json.dumps(v)}\n" for k, v in named.items() if v is not None)
    data = '[data]\ntasks = ["task"]\npairs = ["pairs.jsonl"]\n'
    file = folder / "run.toml"
    file.write_text(f"{top}\n{data}{stages}{text}", encoding="utf-8")
    return file
