"""Choose what a model's reranker counts for, beside the scores that it is added to.

    python bench/fit_reranker.py --model FOLDER [--write]

The reranker (``FOLDER/reranker``) was trained on training questions; its weight, the cosine above
which it counts, the neighbours' and the length's share and the numbers of the chances are chosen
on development questions, as those of ``fit_ranking.py`` are. ``--write`` puts them into the
model's manifest. Needs the bench extra.
"""

from __future__ import annotations

import json
from datetime import date
from itertools import product, starmap
from pathlib import Path

import numpy as np

import milepost
from fit_ranking import BUDGETS, calibrate, chances, first_overlap, judge, scores_of, show
from learned import keep
from milepost.reranker import Reranker
from milepost.search.features import FEATURES
from milepost.search.fusion import Fusion, Reranking
from milepost.search.ranking import reranked
from milepost.search.trees import FILE, read_trees
from ranking_cases import Case, arguments, cases, remembered

WEIGHTS = (0.0, 8.0, 12.0, 16.0, 20.0, 25.0, 32.0, 40.0)
LEASTS = (0.0, 0.2, 0.4)
NEARS = (0.0, 0.2, 0.4, 0.6)
SETTINGS = ("document", "collection")


def added(case: Case, score: np.ndarray, numbers: Reranking) -> np.ndarray:
    """Scores as ``ranking.Ranked`` gives them."""
    return score + reranked(case.again, case.document_offsets, numbers, 1.0 - case.unfamiliar)


def main() -> None:
    parser = arguments(__doc__, documents=40, questions=12)
    parser.add_argument("--cache", type=Path, help="keep the measured questions here")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    model = milepost.load(options.model)
    if Reranker.of(model) is None or not (model.folder / FILE).is_file():
        parser.error(f"{options.model} has no reranker, or no {FILE} that it is added to")
    fusion = Fusion.from_fields(model.manifest.fusion)
    sizes = options.documents, options.questions
    dev = remembered(
        options.cache, lambda: cases(options.shared, model, fusion, "dev", *sizes, again=True)
    )
    trees = read_trees(model.folder / FILE, tuple(FEATURES))
    before = [scores_of(case, trees, fusion.base_score_weight) for case in dev]
    tried = {}
    for numbers in starmap(Reranking, product(WEIGHTS, LEASTS, NEARS)):
        if not numbers.weight and (numbers.least or numbers.near):
            continue
        scores = [added(c, s, numbers) for c, s in zip(dev, before, strict=True)]
        figures = [judge(dev, scores, fusion.length_penalty, setting) for setting in SETTINGS]
        means = [
            show(f"{numbers.weight:g} {numbers.least:g} {numbers.near:g}", each) for each in figures
        ]
        tried[numbers] = float(np.mean(means))
    chosen = max(tried, key=tried.__getitem__)
    scores = [added(c, s, chosen) for c, s in zip(dev, before, strict=True)]
    lengths = {}
    for length_penalty in (0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0):
        figures = [judge(dev, scores, length_penalty, setting) for setting in SETTINGS]
        lengths[length_penalty] = float(
            np.mean([show(f"length_penalty {length_penalty:g}", each) for each in figures])
        )
    length_penalty = max(lengths, key=lengths.__getitem__)
    overlap = {
        growth_threshold: float(
            np.mean(list(first_overlap(dev, scores, growth_threshold).values()))
        )
        for growth_threshold in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
    }
    growth_threshold = max(overlap, key=overlap.__getitem__)
    chance = calibrate(*chances(dev, scores, growth_threshold, before))
    learned = {
        "weight": chosen.weight,
        "least": chosen.least,
        "near": chosen.near,
        "calibration": chance,
        "length_penalty": length_penalty,
        "growth_threshold": growth_threshold,
    }
    print(json.dumps(learned))
    rows = {"before": (before, fusion.length_penalty), "read again": (scores, length_penalty)}
    table = {
        name: {
            setting: {t: v.tolist() for t, v in judge(dev, given, short, setting).items()}
            for setting in SETTINGS
        }
        for name, (given, short) in rows.items()
    }
    if options.report:
        report = {"date": date.today().isoformat(), "model": model.manifest.name, "dev": len(dev)}
        report |= {"budgets": BUDGETS, "learned": learned, "table": table, "overlap": overlap}
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if options.write:
        keep(options.model, {"rerank": learned})


if __name__ == "__main__":
    main()
