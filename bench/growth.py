"""How far a hit should grow into a passage: F1 with the evidence, by threshold and length.

    python bench/growth.py --model FOLDER --report bench/results/growth.json

Development questions asked of their document; the first passage that ``index.search`` shows
without a budget and without a reranker, against the sentences that hold evidence.
``growth_threshold`` is in the model's manifest, the length is ``passages.LONG``.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np

import milepost
import milepost.search.passages
from fit_ranking import first_overlap, scores_of
from milepost.search.features import FEATURES
from milepost.search.fusion import Fusion
from milepost.search.trees import FILE, read_trees
from ranking_cases import arguments, cases, remembered

DROPS = (1.0, 2.0, 3.0, 4.0, 6.0, 10.0)
LENGTHS = (600, 800, 1200, 2000, 3000)


def main() -> None:
    parser = arguments(__doc__, documents=30, questions=8)
    parser.add_argument("--cache", type=Path, help="keep the measured questions here")
    options = parser.parse_args()
    model = milepost.load(options.model)
    fusion = Fusion.from_fields(model.manifest.fusion)
    sizes = options.documents, options.questions
    dev = remembered(options.cache, lambda: cases(options.shared, model, fusion, "dev", *sizes))
    trees = read_trees(model.folder / FILE, tuple(FEATURES))
    scores = [scores_of(case, trees, fusion.base_score_weight) for case in dev]
    rows = []
    for length in LENGTHS:
        milepost.search.passages.LONG = length
        for growth_threshold in DROPS:
            tasks = first_overlap(dev, scores, growth_threshold)
            rows.append({"length": length, "drop": growth_threshold, "tasks": tasks})
            rows[-1]["mean"] = float(np.mean(list(tasks.values())))
            print(length, growth_threshold, f"{100 * rows[-1]['mean']:.1f}", flush=True)
    if options.report:
        asked = sum(case.setting == "document" for case in dev)
        report = {"date": date.today().isoformat(), "model": model.manifest.name}
        report |= {
            "questions": asked,
            "ships": {"growth_threshold": fusion.growth_threshold},
            "rows": rows,
        }
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
