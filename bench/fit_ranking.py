"""Learn the close look of a model: what is measured of a sentence → the chance that it is evidence.

    python bench/fit_ranking.py --model FOLDER [--twins FOLDER FOLDER] [--leave-out] [--write]

Learned on training questions of documents that the encoder has not seen (``held_out``) and on the
multilingual training questions, each asked of its document, of a collection that holds it, and of
a document that does not answer it; with ``--twins`` (``twins.py``) also on questions of documents
that one of them has not seen. The few numbers beside the trees are chosen on development
questions. ``--write`` puts ``ranking.npz`` and those numbers into the model folder. Needs the
bench extra.
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import milepost
from learned import keep
from milepost.search.features import FEATURES
from milepost.search.fusion import Fusion
from milepost.search.passages import expand_hits, length_adjusted_score
from milepost.search.ranking import closely
from milepost.search.trees import Trees
from ranking_cases import TASKS, Case, arguments, cases, remembered

SETTINGS = {"document": 1.0, "collection": 0.5, "elsewhere": 0.5}
TWINS = 0.5
"""What a question put to a twin counts: its landmarks are not those that ship."""
STEADY = Fusion().base_score_weight
BUDGETS = (800, 1600, 3200)
ZERO = float(np.float32(1e-35))
"""What LightGBM takes for 0, and so for more than a threshold of the same size below 0."""


def fit(train: list[tuple[Case, float]], threads: int, rounds: int, seed: int) -> Trees:
    """Boosted trees by log loss: every task and setting counts by its weight, whatever its size.

    Within these, a question counts by the number beside it.
    """
    import lightgbm  # only here: what becomes of its trees is tested without it

    sizes: dict[tuple[str, str], float] = {}
    for case, share in train:
        key = case.task, case.setting
        sizes[key] = sizes.get(key, 0.0) + share
    weights = np.concatenate(
        [
            np.full(
                len(case.rows),
                1e3
                * share
                * TASKS[case.task]
                * SETTINGS[case.setting]
                / sizes[case.task, case.setting],
            )
            for case, share in train
        ]
    )
    columns = np.concatenate([case.columns for case, _ in train])
    wanted = np.concatenate([case.gains[case.rows] > 0 for case, _ in train]).astype(float)
    names = [name.replace("±", "pm").replace(" ", "_") for name in FEATURES]
    booster = lightgbm.train(
        {
            "objective": "binary",
            "learning_rate": 0.05,
            "num_leaves": 8,
            "min_data_in_leaf": 500,
            "min_sum_hessian_in_leaf": 1e-3,
            "feature_fraction": 0.5,
            "bagging_fraction": 0.6,
            "bagging_freq": 1,
            "lambda_l2": 20.0,
            "num_threads": threads,
            "seed": seed,
            "deterministic": True,
            "verbose": -1,
        },
        lightgbm.Dataset(columns, wanted, weight=weights, feature_name=names),
        rounds,
    )
    return arrays_of(booster.dump_model())


def carried_over(
    train: list[tuple[Case, float]],
    of_all: Trees,
    dev: list[Case],
    threads: int,
    rounds: int,
    seed: int,
) -> list[np.ndarray]:
    """Scores of every case by trees that have not seen its task: what other documents may hope.

    ``of_all`` are those that learned from all of ``train``.
    """
    scores: dict[int, np.ndarray] = {}
    for task in sorted({case.task for case in dev}):
        others = [(case, share) for case, share in train if case.task != task]
        trees = fit(others, threads, rounds, seed) if len(others) < len(train) else of_all
        for number, case in enumerate(dev):
            if case.task == task:
                scores[number] = scores_of(case, trees)
    return [scores[number] for number in range(len(dev))]


def arrays_of(dumped: dict) -> Trees:
    """LightGBM's trees as plain arrays."""
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[float] = []
    deepest = 0

    def add(node: dict, depth: int) -> int:
        nonlocal deepest
        deepest = max(deepest, depth)
        at = len(feature)
        leaf = "leaf_value" in node
        feature.append(-1 if leaf else node["split_feature"])
        # float32 columns are compared with float32: rounding down keeps "at most".
        bound = np.float32(0.0 if leaf else node["threshold"])
        if not leaf and (float(bound) > node["threshold"] or float(bound) == -ZERO):
            bound = np.nextafter(bound, np.float32(-np.inf))
        threshold.append(float(bound))
        value.append(node["leaf_value"] if leaf else 0.0)
        left.append(at)
        right.append(at)
        if leaf:
            count[at] = node.get("leaf_count", 1)
            return at
        left[at] = add(node["left_child"], depth + 1)
        right[at] = add(node["right_child"], depth + 1)
        count[at] = count[left[at]] + count[right[at]]
        value[at] = (
            value[left[at]] * count[left[at]] + value[right[at]] * count[right[at]]
        ) / count[at]
        return at

    count: dict[int, int] = {}
    roots = [add(tree["tree_structure"], 0) for tree in dumped["tree_info"]]
    return Trees(
        tuple(FEATURES),
        np.array(roots, np.int32),
        np.array(feature, np.int16),
        np.array(threshold, np.float32),
        np.array(left, np.int32),
        np.array(right, np.int32),
        np.array(value, np.float32),
        deepest,
    )


def scores_of(
    case: Case, trees: Trees | None, base_score_weight: tuple[float, float] = STEADY
) -> np.ndarray:
    """Scores of all sentences of a case, as ``ranking.Ranked`` gives them; None for no trees."""
    if trees is None:
        names = list(FEATURES)
        fused, best = (case.columns[:, names.index(n)] for n in ("fused", "paragraph best"))
        close = base_score_weight[0] * fused + base_score_weight[1] * best
    else:
        close = closely(trees, base_score_weight, case.columns)
    below = 1.0 + case.fused.max() - case.fused
    score = (close.min() - 1e-3 * below).astype(np.float32)
    score[case.rows] = close
    return score


def spend(case: Case, score: np.ndarray, length_penalty: float) -> list[float]:
    """Evidence found within each budget."""
    lengths = case.spans[:, 1] - case.spans[:, 0]
    order = np.argsort(-length_adjusted_score(score, lengths, length_penalty), kind="stable")[:800]
    return within_budgets(lengths[order], case.gains[order])


def within_budgets(lengths: np.ndarray, gains: np.ndarray) -> list[float]:
    """Share of the evidence that each budget holds of sentences in this order, the last one cut."""
    ends, found = (np.concatenate([[0], np.cumsum(each)]) for each in (lengths, gains))
    return np.interp(BUDGETS, ends, found).tolist()


def judge(found: list[Case], scores: list[np.ndarray], length_penalty: float, setting: str) -> dict:
    """Evidence found by task, at each budget, in per cent."""
    by_task: dict[str, list[list[float]]] = {}
    for case, score in zip(found, scores, strict=True):
        if case.setting == setting:
            by_task.setdefault(case.task, []).append(spend(case, score, length_penalty))
    return {task: 100 * np.mean(values, axis=0) for task, values in by_task.items()}


def show(name: str, figures: dict) -> float:
    """Print one row; returns the mean of tasks and budgets."""
    mean = np.mean(list(figures.values()), axis=0)
    cells = [f"{t[:6]} {'/'.join(f'{v:.1f}' for v in f)}" for t, f in figures.items()]
    print(
        f"{name:<30}",
        *cells,
        "| mean",
        "/".join(f"{v:.1f}" for v in mean),
        f"{mean.mean():.2f}",
        flush=True,
    )
    return float(mean.mean())


def passages_of(case: Case, score: np.ndarray, growth_threshold: float) -> list[slice]:
    """The sentences of the five best passages of a case."""
    lengths = case.spans[:, 1] - case.spans[:, 0]
    return [
        slice(run.first, run.last)
        for run in expand_hits(
            score, case.document_offsets, lengths, k=5, growth_threshold=growth_threshold
        )
    ]


def logistic(values: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x)."""
    return 1.0 / (1.0 + np.exp(-np.clip(values, -60, 60)))


def chances(
    found: list[Case],
    scores: list[np.ndarray],
    growth_threshold: float,
    before: list[np.ndarray] | None = None,
) -> tuple:
    """What a chance follows from, see ``ranking.py``, of every passage; whether it holds evidence.

    Every task and setting weighs alike: the third array. With the scores ``before`` anything was
    read again, two columns more: what was added, and how little is known.
    """
    inputs, held, weights = [], [], []
    sizes: dict[tuple[str, str], int] = {}
    for case in found:
        sizes[case.task, case.setting] = sizes.get((case.task, case.setting), 0) + 1
    for case, score, first in zip(found, scores, before or scores, strict=True):
        for part in passages_of(case, score, growth_threshold):
            best = np.sort(first[part])[::-1]
            row = [1.0, best[0], np.log1p(logistic(best[1:]).sum())]
            if before is not None:
                row += [(score - first)[part].max(), case.unfamiliar]
            inputs.append(row)
            held.append(float(case.gains[part].sum() > 0))
            weights.append(1.0 / sizes[case.task, case.setting])
    return np.array(inputs), np.array(held), np.array(weights)


def calibrate(inputs: np.ndarray, held: np.ndarray, weights: np.ndarray) -> list[float]:
    """A number for each column, by weighted log loss."""

    def loss(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        chance = np.clip(logistic(inputs @ numbers), 1e-9, 1 - 1e-9)
        value = -(weights * (held * np.log(chance) + (1 - held) * np.log(1 - chance))).sum()
        return value / weights.sum(), inputs.T @ (weights * (chance - held)) / weights.sum()

    return [round(float(v), 4) for v in minimize(loss, np.zeros(inputs.shape[1]), jac=True).x]


def first_overlap(
    found: list[Case], scores: list[np.ndarray], growth_threshold: float
) -> dict[str, float]:
    """F1 in characters between the first passage and the sentences that hold evidence, by task."""
    by_task: dict[str, list[float]] = {}
    for case, score in zip(found, scores, strict=True):
        if case.setting != "document":
            continue
        lengths = case.spans[:, 1] - case.spans[:, 0]
        run = expand_hits(
            score, case.document_offsets, lengths, k=1, growth_threshold=growth_threshold
        )[0]
        inside = slice(run.first, run.last)
        shared = lengths[inside][case.gains[inside] > 0].sum()
        both = lengths[inside].sum() + lengths[case.gains > 0].sum()
        by_task.setdefault(case.task, []).append(2 * shared / max(1, both))
    return {task: float(np.mean(values)) for task, values in by_task.items()}


def measured_for(
    options: argparse.Namespace, model: milepost.Encoder, fusion: Fusion
) -> tuple[list[Case], list[Case], list[Case]]:
    """Training questions, those put to the twins, and development questions."""
    sizes = options.documents, options.questions
    dev, train = (cases(options.shared, model, fusion, split, *sizes) for split in ("dev", "train"))
    twins: list[Case] = []
    for number, folder in enumerate(options.twins or ()):
        sizes = options.documents, options.questions // 2
        twin = milepost.load(folder)
        twins += cases(options.shared, twin, fusion, "train", *sizes, number)
    return train, twins, dev


def main() -> None:
    parser = arguments(__doc__, documents=40, questions=24)
    parser.add_argument("--twins", type=Path, nargs=2, help="models of twins.py")
    parser.add_argument("--rounds", type=int, default=800)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leave-out", action="store_true", help="fit without each task, too")
    parser.add_argument("--cache", type=Path, help="keep the measured questions here")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    model = milepost.load(options.model)
    fusion = Fusion.from_fields(model.manifest.fusion)
    train, twins, dev = remembered(options.cache, lambda: measured_for(options, model, fusion))
    learned_from = [(case, 1.0) for case in train] + [(case, TWINS) for case in twins]
    trees = fit(learned_from, options.threads, options.rounds, options.seed)
    scores = [scores_of(case, trees) for case in dev]
    best = (0.0, -1.0)
    for length_penalty in (0.0, 0.2, 0.3, 0.4, 0.5, 0.7):
        value = show(
            f"length_penalty {length_penalty}", judge(dev, scores, length_penalty, "document")
        )
        best = max(best, (value, length_penalty))
    length_penalty = best[1]
    rows = {
        "fused": ([case.fused for case in dev], 0.0),
        "and the paragraph's best": ([scores_of(case, None) for case in dev], 0.0),
        "trees alone": ([scores_of(case, trees, (0.0, 0.0)) for case in dev], length_penalty),
        "trees and both": (scores, 0.0),
        "trees and both, length counted": (scores, length_penalty),
    }
    if options.leave_out:
        fitted = options.threads, options.rounds, options.seed
        rows["of a task not learned from"] = (
            carried_over(learned_from, trees, dev, *fitted),
            length_penalty,
        )
    table = {
        name: {
            setting: {t: v.tolist() for t, v in judge(dev, given, short, setting).items()}
            for setting in ("document", "collection")
        }
        for name, (given, short) in rows.items()
    }
    for name, of_settings in table.items():
        for setting, figures in of_settings.items():
            show(f"{name}, {setting}", figures)
    overlap = {}
    for growth_threshold in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0):
        overlap[growth_threshold] = float(
            np.mean(list(first_overlap(dev, scores, growth_threshold).values()))
        )
        print(f"growth {growth_threshold}: F1 of the first passage {overlap[growth_threshold]:.4f}")
    growth_threshold = max(overlap, key=overlap.__getitem__)
    # Not on the questions of the trees: they are surer of those than of others.
    numbers = calibrate(*chances(dev, scores, growth_threshold))
    print("calibration", numbers)
    learned = {
        "base_score_weight": STEADY,
        "calibration": numbers,
        "length_penalty": length_penalty,
        "growth_threshold": growth_threshold,
    }
    print(json.dumps(learned))
    if options.report:
        sizes = {"train": len(train), "twins": len(twins), "dev": len(dev)}
        sizes["trees"] = len(trees.roots)
        sizes["sentences"] = sum(len(case.rows) for case, _ in learned_from)
        report = {"date": date.today().isoformat(), "model": model.manifest.name, **sizes}
        report |= {"budgets": BUDGETS, "learned": learned, "table": table, "overlap": overlap}
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if options.write:
        trees.write(options.model)
        keep(options.model, learned)
        if (options.model / "reranker").is_dir():
            print("now fit_reranker.py: its numbers were learned for the trees before")


if __name__ == "__main__":
    main()
