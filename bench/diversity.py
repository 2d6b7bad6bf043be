"""Whether sentences unlike those already taken should be preferred within a budget.

    python bench/diversity.py --model FOLDER --report bench/results/diversity.json

Evidence of some questions is scattered over a document, and a budget spent on the best scores may
say one thing several times. A sentence is therefore taken by

    length-adjusted score − weight · likeness to the most alike sentence already taken

with the likeness of ``vectors`` (the cosine of their landmarks, 0 or more; maximal marginal
relevance, Carbonell and Goldstein 1998) or of ``places`` (e^(−characters between them / 400) in one
document). Development questions; a weight of 0 is the search
without its reranker.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import milepost
from milepost.search.passages import length_adjusted_score
from milepost.search.ranking import Ranking
from milepost_eval.metrics import BUDGETS
from milepost_eval.provenance import today
from milepost_eval.tasks import load
from milepost_train.ranking.cases import Ask, Case, asks, case
from milepost_train.ranking.questions import Sample, Sizes, sample, spread
from milepost_train.ranking.scores import base_scores, within_budgets

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings", "multilingual",
         "policies")  # fmt: skip
WEIGHTS = {
    "vectors": (0.5, 1.0, 2.0, 4.0),
    "places": (-1.0, -0.5, 0.5, 1.0, 2.0),
}
MOST = 120
"""Sentences that are looked at: 3,200 characters are some thirty."""
NEAR = 400.0  # characters

Likeness = Callable[[int], np.ndarray]
"""Place of a sentence among those looked at → how alike all of them are to it."""


def by_vectors(ask: Ask, rows: np.ndarray) -> Likeness:
    """Cosines of landmarks."""
    kept = [ask.store.vectors(each.first, each.sentences) for each in ask.store.documents()]
    vectors = np.concatenate(kept)[rows]
    return lambda place: np.maximum(vectors @ vectors[place], 0.0)


def by_places(asked: Case, rows: np.ndarray) -> Likeness:
    """Nearness in one document."""
    owners = np.searchsorted(asked.document_offsets, rows, side="right")
    ends = np.cumsum(asked.lengths)[rows]  # sentences tile their documents
    starts = ends - asked.lengths[rows]

    def likeness(place: int) -> np.ndarray:
        between = np.maximum(starts - ends[place], starts[place] - ends).clip(0)
        return np.where(owners == owners[place], np.exp(-between / NEAR), 0.0)

    return likeness


def found(
    value: np.ndarray, lengths: np.ndarray, gains: np.ndarray, weight: float, likeness: Likeness
) -> list[float]:
    """Share of the evidence within each budget."""
    left, most_alike = value.astype(float), np.zeros(len(value))
    order: list[int] = []
    spent = 0
    while spent < max(BUDGETS) and len(order) < len(value):
        place = int(np.argmax(left - weight * most_alike))
        order.append(place)
        left[place] = -np.inf
        spent += int(lengths[place])
        if weight:
            most_alike = np.maximum(most_alike, likeness(place))
    return within_budgets(lengths[order], gains[order]).tolist()


def measured(ask: Ask, ranking: Ranking) -> dict[tuple[str, float], list[float]]:
    """One question asked of an index: evidence found by each row of the table."""
    asked = case(ask, ranking.fusion)
    score = base_scores(asked, ranking.fusion, ranking.trees)
    value = length_adjusted_score(score, asked.lengths, ranking.fusion.length_penalty)
    rows = np.argsort(-value, kind="stable")[:MOST]
    best = value[rows], asked.lengths[rows], asked.gains[rows]
    likenesses = {"vectors": by_vectors(ask, rows), "places": by_places(asked, rows)}
    figures = {("as it is", 0.0): found(*best, 0.0, np.zeros)}
    for kind, weights in WEIGHTS.items():
        for weight in weights:
            figures[kind, weight] = found(*best, weight, likenesses[kind])
    return figures


def chosen(shared: Path, task: str, documents: int, questions: int) -> Sample:
    """Some questions about each document, and all of those whose evidence is scattered.

    They are what this is about.
    """
    every = sample(load(task, "dev", shared), Sizes(documents, None))
    kept = []
    for of_one in every.questions:
        fewer = spread(of_one, questions)
        kept.append((*fewer, *(q for q in of_one if q.kind == "scattered" and q not in fewer)))
    return replace(every, questions=tuple(kept))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", required=True, help="a shipped model or a folder")
    parser.add_argument("--documents", type=int, default=30, help="of one task")
    parser.add_argument("--questions", type=int, default=12, help="of one document")
    parser.add_argument("--report", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    model = milepost.load(options.model)
    ranking = Ranking.read(model.manifest.fusion, model.folder)
    told: dict[tuple[str, str], list[dict]] = {}
    for task in TASKS:
        asked = chosen(options.shared, task, options.documents, options.questions)
        for ask in asks(asked, model, 0, lambda *step: None):
            if ask.setting == "elsewhere":
                continue
            figures = measured(ask, ranking)
            for group in {task, ask.question.kind} & {task, "scattered"}:
                told.setdefault((ask.setting, group), []).append(figures)
        print(task, len(asked.documents), flush=True)
    report: dict[str, Any] = {"date": today(), "budgets": BUDGETS, "rows": []}
    report["questions"] = {group: len(cases) for (_, group), cases in told.items()}
    report["model"] = model.manifest.name
    for kind, weight in next(iter(told.values()))[0]:
        for setting in ("document", "collection"):
            figures = {
                group: (100 * np.mean([case[kind, weight] for case in cases], axis=0)).tolist()
                for (of, group), cases in told.items()
                if of == setting
            }
            means = np.mean([v for group, v in figures.items() if group != "scattered"], axis=0)
            line = " ".join(f"{group[:6]} {v[1]:.1f}" for group, v in figures.items())
            print(f"{kind} {weight:g} {setting}: {line} | {np.round(means, 2)}", flush=True)
            row = {"likeness": kind, "weight": weight, "setting": setting, "found": figures}
            report["rows"].append({**row, "mean": means.tolist()})
    if options.report:
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
