"""How often a passage holds evidence when the search says it does with a chance of so much.

    python bench/reliability.py --model FOLDER --split test --out bench/results/reliability.json

Every question is asked as users ask (`index.search`, the five best), of its document, of a
collection that holds it, and of a document that does not answer it. Nothing is tuned here.
"""

from __future__ import annotations

import argparse
import json
import platform
from datetime import date
from pathlib import Path

import numpy as np

import milepost
from ranking_cases import TOGETHER, load, opened

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings", "policies",
         "multilingual")  # fmt: skip


def asked(
    shared: Path, model: milepost.Encoder, task: str, split: str, documents: int, questions: int
) -> list[dict]:
    """Of every passage shown: its setting, its place in the answer, its chance, what it holds."""
    texts, rows = load(shared, task, split, documents)
    alone, pools = opened(texts, model)
    shown = []
    for number, text in enumerate(texts):
        of_text = rows[text["id"]]
        for n, row in enumerate(of_text[:: max(1, -(-len(of_text) // questions))]):
            other = (number + 1 + n) % len(texts)
            settings = {"document": alone[number], "collection": pools[number // TOGETHER]}
            if other != number:
                settings["elsewhere"] = alone[other]
            for setting, index in settings.items():
                for place, passage in enumerate(index.search(row["question"], k=5)):
                    holds = passage.document == text["id"] and any(
                        start < passage.end and end > passage.start for start, end in row["spans"]
                    )
                    shown.append({
                        "task": task, "setting": setting, "place": place,
                        "chance": round(passage.score, 4), "holds": bool(holds),
                    })  # fmt: skip
    return shown


def binned(shown: list[dict]) -> list[dict]:
    """Ten bins of chance: what was said, what was true, how many."""
    chance = np.array([each["chance"] for each in shown])
    holds = np.array([each["holds"] for each in shown], float)
    place = np.minimum((chance * 10).astype(int), 9)
    return [
        {
            "said": round(float(chance[place == bin_].mean()), 4),
            "true": round(float(holds[place == bin_].mean()), 4),
            "passages": int((place == bin_).sum()),
        }
        for bin_ in range(10)
        if (place == bin_).any()
    ]


def error_of(bins: list[dict]) -> float:
    """Expected calibration error: the mean distance of said and true over passages."""
    total = sum(each["passages"] for each in bins)
    return sum(abs(each["said"] - each["true"]) * each["passages"] for each in bins) / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model")
    parser.add_argument("--split", default="dev", choices=["dev", "test"])
    parser.add_argument("--documents", type=int, default=16, help="documents of one task")
    parser.add_argument("--questions", type=int, default=8, help="questions of one document")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    model = milepost.load(options.model)
    shown: list[dict] = []
    for task in TASKS:
        of_task = asked(
            options.shared, model, task, options.split, options.documents, options.questions
        )
        shown += of_task
        print(task, len(of_task), f"error {error_of(binned(of_task)):.3f}", flush=True)
    # The best passage of a question that nothing answers, and of one that something does.
    best = [each for each in shown if each["place"] == 0]
    answered = [each["chance"] for each in best if each["setting"] == "document"]
    empty = [each["chance"] for each in best if each["setting"] == "elsewhere"]
    ranks = np.searchsorted(np.sort(empty), answered, side="left") + np.searchsorted(
        np.sort(empty), answered, side="right"
    )
    bins = binned(shown)
    report = {
        "date": date.today().isoformat(),
        "model": model.manifest.name,
        "split": options.split,
        "machine": platform.machine(),
        "passages": len(shown),
        "bins": bins,
        "error": round(error_of(bins), 4),
        "tasks": {
            task: round(error_of(binned([e for e in shown if e["task"] == task])), 4)
            for task in TASKS
        },
        "settings": {
            setting: round(error_of(binned([e for e in shown if e["setting"] == setting])), 4)
            for setting in ("document", "collection", "elsewhere")
        },
        "told apart": round(float(ranks.mean() / 2 / len(empty)), 4),
        "median best chance": {
            "answered": round(float(np.median(answered)), 4),
            "elsewhere": round(float(np.median(empty)), 4),
        },
    }
    options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
