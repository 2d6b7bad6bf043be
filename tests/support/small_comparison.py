"""A small comparison: pairs whose query repeats words of its text, and a cache of made figures."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

WORDS = [f"word{n}" for n in range(60, 90)]


def small_pairs(count: int, *, seed: int = 0, sentences: int = 2) -> list[tuple[Any, Any]]:
    """Query and text as token ids: the query is three tokens of the text."""
    random = Random(seed)
    pairs = []
    for _ in range(count):
        text = [[random.randrange(105, 199) for _ in range(6)] for _ in range(sentences)]
        pairs.append(([random.sample(text[0], 3)], text))
    return pairs


def small_task(name: str = "sentences", *, count: int = 20, pairs: int = 48, **changes: Any) -> Any:
    """A task of texts."""
    from milepost_lab.compare.material import Material

    asked = small_pairs(count, seed=9)
    names = [f"query {number}" for number in range(count)]
    fields = {
        "name": name,
        "training": "pairs",
        "pairs": small_pairs(pairs),
        "queries": [query for query, _ in asked],
        "names": names,
        "clusters": names,
        "texts": [text for _, text in asked],
        "right": list(range(count)),
    }
    return Material(**{**fields, **changes})


def write_pairs(folder: Path, count: int = 300) -> Path:
    """All sets of pairs with passages that are short, and some that are long."""
    from milepost_lab.compare.material import SETS

    random = Random(3)
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(SETS):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as file:
            for n in range(count if not number else 2):
                size = 40 if n % 3 else 60
                words = " ".join(random.choices(["cat", "dog", "tree", "river"], k=size // 4))
                passage = f"The {words}. The bird {n} {number} sat." + " The cat sat." * (
                    80 * (n % 3 == 0)
                )
                row = {"query": f"bird {n} {number}", "passage": passage}
                file.write(json.dumps(row) + "\n")
    return folder


def own_rows(count: int) -> list[dict[str, str]]:
    """Pairs by a researcher: the query is three words of its passage."""
    random = Random(7)
    rows = []
    for number in range(count):
        words = random.choices(["cat", "dog", "tree", "river", "house", "mat"], k=12)
        passage = f"The {' '.join(words)}. The bird {number} sat on the mat."
        rows.append({"anchor": f"bird {number} sat", "positive": passage})
    return rows


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_beir(
    folder: Path, splits: tuple[str, ...] = ("train", "dev"), documents: int = 40
) -> Path:
    """A collection in the layout of BEIR: a question a document in each split, twelve of dev.

    A question of another split than ``train`` has a second document, of grade 1 beside 2.
    """
    corpus = [
        {"_id": f"d{n}", "title": "", "text": f"{row['positive']} The cat {n}."}
        for n, row in enumerate(own_rows(documents))
    ]
    queries, tables = [], {}
    for split in splits:
        asked = range(documents if split == "train" else 12)
        queries += [{"_id": f"{split}{n}", "text": f"bird {n} {split}"} for n in asked]
        rows = [f"{split}{n}\td{n}\t2" for n in asked]
        if split != "train":
            rows += [f"{split}{n}\td{n + 1}\t1" for n in asked]
        tables[split] = "query-id\tcorpus-id\tscore\n" + "\n".join(rows) + "\n"
    write_lines(folder / "corpus.jsonl", corpus)
    write_lines(folder / "queries.jsonl", queries)
    (folder / "qrels").mkdir()
    for split, text in tables.items():
        (folder / "qrels" / f"{split}.tsv").write_text(text, encoding="utf-8")
    return folder


def made_run(
    row: str,
    task: str,
    seed: int,
    figures: list[float],
    *,
    metric: str = "ndcg@10",
    **changes: Any,
) -> Any:
    """A run with these figures."""
    from milepost_lab.compare.cache import Run

    fields: dict[str, Any] = {
        "trained": True,
        "key": f"{row} {task} {seed}",
        "reads": "tokens",
        "asks": False,
        "width": 384,
        "parameters": 0,
        "losses": (2.0, 1.0),
        "figures": {metric: tuple(figures), "first": tuple(figures)},
        "seconds": (1.0, 0.5),
        "made": "some day",
    }
    return Run(row=row, task=task, seed=seed, **{**fields, **changes})


def made_cache() -> Any:
    """Landmarks fall by 2 points from 512 to 8k, the mean by 20; max is level but for its seeds.

    30 documents of one query each; sentences apart.
    """
    from milepost_lab.compare.cache import Asked, ResultCache

    cache = ResultCache()
    asked = tuple(f"q{n}" for n in range(30))
    levels = {
        "sentences": {"lmk": 0.80, "mean": 0.70, "max": 0.80},
        "documents-512": {"lmk": 0.70, "mean": 0.80, "max": 0.70},
        "documents-2k": {"lmk": 0.69, "mean": 0.70, "max": 0.69},
        "documents-8k": {"lmk": 0.68, "mean": 0.60, "max": 0.68},
    }
    for task, rows in levels.items():
        names = tuple(f"pair {n}" for n in range(30)) if task == "sentences" else asked
        cache.ask(Asked(task, task, "pairs", names, names, 30, 50))
        for seed in (0, 1):
            for row, level in rows.items():
                shift = 0.0 if row != "max" else (0.05 if seed else -0.02)
                cache.add(
                    made_run(row, task, seed, [level + shift + 0.002 * (n % 5) for n in range(30)])
                )
    return cache
