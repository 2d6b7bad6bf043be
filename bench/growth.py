"""How far a hit should grow into a passage: F1 with the evidence, by threshold and length.

    python bench/growth.py --model FOLDER --report bench/results/growth.json

Development questions asked of their document; the first passage that ``index.search`` shows
without a budget and without a reranker, against the sentences that hold evidence.
``growth_threshold`` is in the model's manifest, the length is ``passages.LONG``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import milepost
import milepost.search.passages
from milepost.search.features import FEATURES
from milepost.search.fusion import Fusion
from milepost.search.trees import FILE, read_trees
from milepost_eval.provenance import today
from milepost_eval.tasks import load
from milepost_train.ranking.cases import Case, asks, case
from milepost_train.ranking.questions import Sizes, sample
from milepost_train.ranking.scores import base_scores, overlap

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings", "multilingual",
         "policies")  # fmt: skip
THRESHOLDS = (1.0, 2.0, 3.0, 4.0, 6.0, 10.0)
LENGTHS = (600, 800, 1200, 2000, 3000)


def measured(shared: Path, model: milepost.Encoder, fusion: Fusion, sizes: Sizes) -> list[Case]:
    """Development questions of all tasks, each asked of its document."""
    found: list[Case] = []
    for task in TASKS:
        asked = asks(sample(load(task, "dev", shared), sizes), model, 0, lambda *step: None)
        found += [case(ask, fusion) for ask in asked if ask.setting == "document"]
        print(task, len(found), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", required=True, help="a shipped model or a folder")
    parser.add_argument("--documents", type=int, default=30, help="of one task")
    parser.add_argument("--questions", type=int, default=8, help="of one document")
    parser.add_argument("--report", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    model = milepost.load(options.model)
    fusion = Fusion.from_fields(model.manifest.fusion)
    dev = measured(options.shared, model, fusion, Sizes(options.documents, options.questions))
    trees = read_trees(model.folder / FILE, tuple(FEATURES))
    scores = [base_scores(each, fusion, trees) for each in dev]
    rows = []
    for length in LENGTHS:
        milepost.search.passages.LONG = length
        for threshold in THRESHOLDS:
            by_task: dict[str, list[float]] = {}
            for each, score in zip(dev, scores, strict=True):
                by_task.setdefault(each.task, []).append(overlap(each, score, threshold))
            tasks = {task: float(np.mean(values)) for task, values in by_task.items()}
            mean = float(np.mean(list(tasks.values())))
            # The file's keys are older than the names of today.
            rows.append({"length": length, "drop": threshold, "tasks": tasks, "mean": mean})
            print(length, threshold, f"{100 * mean:.1f}", flush=True)
    if options.report:
        report = {"date": today(), "model": model.manifest.name, "questions": len(dev)}
        report |= {"ships": {"drop": fusion.growth_threshold}, "rows": rows}
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
