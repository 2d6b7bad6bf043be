"""A study of landmark pooling that takes seconds: settings, and data of made-up words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

from milepost_lab.data.long_documents import TASKS
from milepost_lab.lmk.base import BaseSettings
from milepost_lab.lmk.material import Amounts
from milepost_lab.lmk.pairs import SETS
from milepost_lab.lmk.settings import LmkSettings
from milepost_lab.lmk.training import Recipe
from milepost_train.early_stopping import Patience

WORDS = [f"{a}{b}" for a in ("cat", "dog", "tree", "river", "bird") for b in ("", "s", "ly", "ing")]
SMALL = LmkSettings(
    BaseSettings(layers=2, width=16, heads=2, vocabulary=400, row=64, batch=2, steps=2),
    Recipe(steps=2, batch=4, passage=(32, 64), granularities=(16, 32)),
    Amounts((512, 1024), hosts=3, documents=3, questions=2, tuning=4, short=4),
    rates=(1e-4, 1e-3),
    tuning_steps=1,
    seeds=(0, 1),
    attributed=2,
    patience=Patience(every=1, checks=2, most=3),
)


def text(random: Random, words: int) -> str:
    return "".join(f"The {' '.join(random.choices(WORDS, k=9))}. " for _ in range(words // 10))


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def write_data(folder: Path) -> Path:
    """A corpus of three splits, tasks whose documents are long enough, and pairs."""
    random = Random(1)
    splits = ["train", "dev", "test"]
    write(
        folder / "corpus" / "science.jsonl.gz",
        [
            {
                "id": f"{split}-{n}",
                "title": f"The {split} number {n}",
                "text": text(random, 2600),
                "kind": "science",
                "licence": "CC0",
                "source": "",
                "split": split,
            }
            for split in splits
            for n in range(2)
        ],
    )
    for name in TASKS:
        write(
            folder / "tasks" / name / "documents.jsonl.gz",
            [
                {"id": split, "title": "", "text": text(random, 2600), "meta": {}}
                for split in splits
            ],
        )
        write(
            folder / "tasks" / name / "questions.jsonl.gz",
            [
                {
                    "id": f"{split}{n}",
                    "document": split,
                    "question": "What sat?",
                    "spans": [[4, 40]],
                    "split": split,
                }
                for split in splits
                for n in range(2)
            ],
        )
    for name in SETS:
        rows = [
            {"query": f"what is {name} {n}?", "passage": f"{name} {n}. {text(random, 120)}"}
            for n in range(24)
        ]
        write(folder / "pairs" / f"{name}.jsonl.gz", rows)
    return folder


def write_minilm(folder: Path) -> Path:
    """A BERT of as many layers as all-MiniLM-L6-v2, small and random, with a tokenizer."""
    import torch
    from safetensors.torch import save_file

    from milepost_train.model.bert import Bert
    from support.small_models import CONFIGS, write_tokenizer

    config = {**CONFIGS["bert"], "num_hidden_layers": 6}
    torch.manual_seed(4)
    folder.mkdir(parents=True)
    save_file(Bert(config).state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    write_tokenizer(folder / "tokenizer.json")
    return folder
