"""Whether passages hold evidence as often as their scores say.

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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import milepost
from milepost.evaluate.tasks import load
from milepost.evaluate.where import commit, machine, today
from milepost.train.ranking.cases import TOGETHER
from milepost.train.ranking.questions import Sizes, sample
from milepost.types import Document

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings", "policies",
         "multilingual")  # fmt: skip
SETTINGS = ("document", "collection", "elsewhere")
LEASTS = (0.0, 0.1, 0.2, 0.3, 0.5)
"""Limits under which a passage is left out, as ``--min-score`` does; 0 shows everything."""


@dataclass(frozen=True)
class Asked:
    """A question in one setting: of each passage shown its chance, and whether it holds evidence.

    Best first.
    """

    task: str
    setting: str
    passages: tuple[tuple[float, bool], ...]


def opened(documents: Sequence[Document], model: milepost.Encoder) -> milepost.Index:
    """An index of some documents."""
    index = milepost.open(model=model)
    index.add(documents)
    return index


def asked(shared: Path, model: milepost.Encoder, task: str, options: argparse.Namespace) -> list:
    """Every question of a task in its settings."""
    sizes = Sizes(options.documents, options.questions)
    chosen = sample(load(task, options.split, shared), sizes)
    documents = chosen.documents
    alone = [opened([document], model) for document in documents]
    firsts = range(0, len(documents), TOGETHER)
    pools = [opened(documents[first : first + TOGETHER], model) for first in firsts]
    budget = options.budget
    found = []
    for number, (document, questions) in enumerate(zip(documents, chosen.questions, strict=True)):
        for n, question in enumerate(questions):
            other = (number + 1 + n) % len(documents)
            settings = {"document": alone[number], "collection": pools[number // TOGETHER]}
            if other != number:
                settings["elsewhere"] = alone[other]
            for setting, index in settings.items():
                shown = index.search(question.text, k=None if budget else 5, budget=budget)
                passages = tuple(
                    (
                        round(passage.score, 4),
                        passage.document == document.name
                        and any(s < passage.end and e > passage.start for s, e in question.spans),
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
    for task in TASKS:
        of_task = asked(options.shared, model, task, options)
        found += of_task
        print(task, len(of_task), f"error {error_of(binned(shown_of(of_task))):.3f}", flush=True)
    report = json.dumps({**made, **measures(found)}, indent=1)
    options.out.write_text(report + "\n", encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
