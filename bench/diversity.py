"""Whether sentences unlike those already taken should be preferred within a budget.

    python bench/diversity.py --model FOLDER --report bench/results/diversity.json

Evidence of some questions is scattered over a document, and a budget spent on the best scores may
say one thing several times. A sentence is therefore taken by

    worth − weight · likeness to the most alike sentence already taken

with the likeness of ``vectors`` (the cosine of their landmarks, 0 or more; maximal marginal
relevance, Carbonell and Goldstein 1998) or of ``places`` (e^(−characters between them / 400) in one
document). Development questions; a weight of 0 is the search
without its reranker.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np

import milepost
from fit_ranking import BUDGETS, within_budgets
from milepost.search import question_terms
from milepost.search.passages import length_adjusted_score
from milepost.search.ranking import Ranked, Ranking
from milepost.search.scope import Scope, gather
from ranking_cases import TASKS, TOGETHER, arguments, load, opened

WEIGHTS = {
    "vectors": (0.5, 1.0, 2.0, 4.0),
    "places": (-1.0, -0.5, 0.5, 1.0, 2.0),
}
MOST = 120
"""Sentences that are looked at: 3,200 characters are some thirty."""
NEAR = 400.0  # characters

Likeness = Callable[[int], np.ndarray]
"""Place of a sentence among those looked at → how alike all of them are to it."""


def by_vectors(index: Any, scope: Scope, rows: np.ndarray) -> Likeness:
    """Cosines of landmarks."""
    vectors = []
    for row in rows.tolist():
        owner = scope.owner(row)
        first = scope.documents[owner].first + row - int(scope.document_offsets[owner])
        vectors.append(index._store.vectors(first, 1)[0])
    all_of = np.array(vectors)
    return lambda place: np.maximum(all_of @ all_of[place], 0.0)


def by_places(scope: Scope, rows: np.ndarray) -> Likeness:
    """Nearness in one document."""
    owners = np.searchsorted(scope.document_offsets, rows, side="right")
    starts, ends = scope.spans[rows].T

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
    return within_budgets(lengths[order], gains[order])


def measured(
    row: dict, index: Any, model: milepost.Encoder, ranking: Ranking
) -> dict[tuple[str, float], list[float]]:
    """One question asked of an index: evidence found by each row of the table."""
    question = row["question"]
    scope = gather(index._store, model.encode_query(question), question_terms(question))
    ranked = Ranked(scope, model.vocab_coverage(question), ranking)
    lengths = scope.spans[:, 1] - scope.spans[:, 0]
    value = length_adjusted_score(ranked.score, lengths, ranked.numbers.length_penalty)
    rows = np.argsort(-value, kind="stable")[:MOST]
    gains = np.zeros(len(scope.spans))
    names = [info.name for info in scope.documents]
    first, last = scope.document_offsets[names.index(row["document"]) :][:2]
    for start, end in row["spans"]:
        low = np.maximum(scope.spans[first:last, 0], start)
        gains[first:last] += (np.minimum(scope.spans[first:last, 1], end) - low).clip(0)
    gains /= sum(end - start for start, end in row["spans"])
    likenesses = {
        "vectors": by_vectors(index, scope, rows),
        "places": by_places(scope, rows),
    }
    told = {("as it is", 0.0): found(value[rows], lengths[rows], gains[rows], 0.0, np.zeros)}
    for kind, weights in WEIGHTS.items():
        for weight in weights:
            told[kind, weight] = found(
                value[rows], lengths[rows], gains[rows], weight, likenesses[kind]
            )
    return told


def main() -> None:
    parser = arguments(__doc__, documents=30, questions=12)
    options = parser.parse_args()
    model = milepost.load(options.model)
    ranking = Ranking.read(model.manifest.fusion, model.folder)
    told: dict[tuple[str, str], list[dict]] = {}
    for task in (*TASKS, "policies"):
        texts, asked = load(options.shared, task, "dev", options.documents)
        alone, pools = opened(texts, model)
        for number, text in enumerate(texts):
            rows = asked[text["id"]]
            fewer = rows[:: max(1, -(-len(rows) // options.questions))]
            # All of those whose evidence is scattered: they are what this is about.
            fewer += [row for row in rows if row.get("type") == "scattered" and row not in fewer]
            for row in fewer:
                indexes = {"document": alone[number], "collection": pools[number // TOGETHER]}
                for setting, index in indexes.items():
                    figures = measured(row, index, model, ranking)
                    for group in {task, row.get("type", "")} & {task, "scattered"}:
                        told.setdefault((setting, group), []).append(figures)
        print(task, len(texts), flush=True)
    report: dict[str, Any] = {"date": date.today().isoformat(), "budgets": BUDGETS, "rows": []}
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
