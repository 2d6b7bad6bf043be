"""How often a passage holds evidence when the search says it does with a chance of so much.

    python bench/reliability.py --split test --out bench/results/reliability.json
    python bench/reliability.py --split test --model landmark-light --out …/reliability-light.json
    python bench/reliability.py --split test --budget 1600c --out …/reliability-budget.json

Every question is asked as users ask (`index.search`, the five best, or what a budget holds), of its
document, of a collection that holds it, and of a document that does not answer it. Nothing is
tuned here.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import milepost
from milepost.evaluate.where import commit, machine, today
from ranking_cases import TOGETHER, load, opened

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings", "policies",
         "multilingual")  # fmt: skip
SETTINGS = ("document", "collection", "elsewhere")
LEASTS = (0.0, 0.1, 0.2, 0.3, 0.5)
"""Limits under which a passage is left out, as ``--least`` does; 0 shows everything."""


@dataclass(frozen=True)
class Asked:
    """A question in one setting: of each passage shown its chance, and whether it holds evidence.

    Best first.
    """

    task: str
    setting: str
    passages: tuple[tuple[float, bool], ...]


def asked(
    shared: Path,
    model: milepost.Encoder,
    task: str,
    split: str,
    documents: int,
    questions: int,
    budget: str | None,
) -> list[Asked]:
    """Every question of a task in its settings."""
    texts, rows = load(shared, task, split, documents)
    alone, pools = opened(texts, model)
    found = []
    for number, text in enumerate(texts):
        of_text = rows[text["id"]]
        for n, row in enumerate(of_text[:: max(1, -(-len(of_text) // questions))]):
            other = (number + 1 + n) % len(texts)
            settings = {"document": alone[number], "collection": pools[number // TOGETHER]}
            if other != number:
                settings["elsewhere"] = alone[other]
            for setting, index in settings.items():
                shown = index.search(row["question"], k=None if budget else 5, budget=budget)
                passages = tuple(
                    (
                        round(passage.score, 4),
                        passage.document == text["id"]
                        and any(s < passage.end and e > passage.start for s, e in row["spans"]),
                    )
                    for passage in shown
                )
                found.append(Asked(task, setting, passages))
    return found


def shown_of(found: list[Asked]) -> list[tuple[float, bool]]:
    """All passages of these questions."""
    return [passage for each in found for passage in each.passages]


def binned(shown: list[tuple[float, bool]]) -> list[dict]:
    """Ten bins of chance: what was said, what was true, how many."""
    chance = np.array([said for said, _ in shown])
    holds = np.array([true for _, true in shown], float)
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


def limits(found: list[Asked]) -> list[dict]:
    """What each least chance costs and saves.

    ``false alarms``: share of the questions asked elsewhere for which anything is shown, and
    ``passages``, the mean number shown for such a question. ``misses``: share of the questions
    asked of a document (a collection) that answers for which nothing shown holds evidence.
    """
    elsewhere = [each for each in found if each.setting == "elsewhere"]

    def missed(setting: str, least: float) -> float:
        of_setting = [each for each in found if each.setting == setting]
        held = [
            any(holds and chance >= least for chance, holds in each.passages) for each in of_setting
        ]
        return round(1.0 - sum(held) / len(held), 4)

    rows = []
    for least in LEASTS:
        shown = [sum(chance >= least for chance, _ in each.passages) for each in elsewhere]
        rows.append({
            "least": least,
            "false alarms": round(sum(number > 0 for number in shown) / len(shown), 4),
            "passages": round(sum(shown) / len(shown), 4),
            "misses": {name: missed(name, least) for name in ("document", "collection")},
        })  # fmt: skip
    return rows


def told_apart(found: list[Asked]) -> dict:
    """The best passage of a question that something answers, and of one that nothing does."""
    best = {
        setting: [
            max((chance for chance, _ in each.passages), default=0.0)
            for each in found
            if each.setting == setting
        ]
        for setting in ("document", "elsewhere")
    }
    empty = np.sort(best["elsewhere"])
    ranks = sum(np.searchsorted(empty, best["document"], side=side) for side in ("left", "right"))
    return {
        "told apart": round(float(ranks.mean() / 2 / len(empty)), 4),
        "median best chance": {
            "answered": round(float(np.median(best["document"])), 4),
            "elsewhere": round(float(np.median(empty)), 4),
        },
    }


def measures(found: list[Asked]) -> dict:
    """All figures, over everything, by task and by setting."""
    bins = binned(shown_of(found))
    settings = {
        name: shown_of([each for each in found if each.setting == name]) for name in SETTINGS
    }
    tasks = {
        name: shown_of([each for each in found if each.task == name])
        for name in dict.fromkeys(each.task for each in found)
    }
    return {
        "questions": len(found),
        "passages": sum(each["passages"] for each in bins),
        "bins": bins,
        "error": round(error_of(bins), 4),
        "tasks": {name: round(error_of(binned(of)), 4) for name, of in tasks.items()},
        "settings": {name: round(error_of(binned(of)), 4) for name, of in settings.items()},
        "means": {
            name: dict(zip(("said", "true"), np.mean(of, axis=0).round(4).tolist(), strict=True))
            for name, of in settings.items()
        },
        **told_apart(found),
        "limits": limits(found),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", help="a shipped model's name, or a model folder")
    parser.add_argument("--budget", help="ask with a budget, such as 1600c, not for five passages")
    parser.add_argument("--split", default="dev", choices=["dev", "test"])
    parser.add_argument(
        "--documents", type=int, default=16, help="documents of one task, 2 or more"
    )
    parser.add_argument("--questions", type=int, default=8, help="questions of one document")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    model = milepost.load(options.model)
    made = {
        "date": today(),
        "commit": commit(),  # as it stands now, not as it may stand in an hour
        "machine": machine(),
        "model": model.manifest.name,
        "split": options.split,
        "budget": options.budget,
    }
    found: list[Asked] = []
    sizes = options.documents, options.questions
    for task in TASKS:
        of_task = asked(options.shared, model, task, options.split, *sizes, options.budget)
        found += of_task
        print(task, len(of_task), f"error {error_of(binned(shown_of(of_task))):.3f}", flush=True)
    report = json.dumps({**made, **measures(found)}, indent=1)
    options.out.write_text(report + "\n", encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
