"""Learn the close look of a model: what is measured of a sentence → the chance that it is evidence.

    python bench/fit_ranking.py --model FOLDER [--cache FILE] [--write]

Learned on training questions of documents that the encoder has not seen (``held_out``) and on the
multilingual training questions, each asked of its document, of a collection that holds it, and of
a document that does not answer it; chosen and printed on development questions. ``--write`` puts
``ranking.npz`` and the few numbers beside it into the model folder. Needs the bench extra.
"""

from __future__ import annotations

import argparse
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from scipy.optimize import minimize

import milepost
from milepost.evaluate.metrics import evidence_found
from milepost.search import question_terms
from milepost.search.features import FEATURES, features
from milepost.search.fusion import Fusion, fuse
from milepost.search.passages import grown, within, worth
from milepost.search.ranking import CLOSELY
from milepost.search.scope import gather
from milepost.search.trees import Trees
from milepost.train.data import NON_COMMERCIAL, held_out, read_lines

TASKS = {
    "written": 2.0,
    "squad_articles": 1.0,
    "covid_papers": 1.0,
    "trials": 1.0,
    "meetings": 1.0,
    "multilingual": 1.0,
}
"""Tasks that have training questions, with the weight of each."""
SETTINGS = {"document": 1.0, "collection": 0.5, "elsewhere": 0.5}
HOLD_OUT = 0.12
BUDGETS = (800, 1600, 3200)
TOGETHER = 12  # documents of a collection


@dataclass
class Case:
    """A question measured in one setting.

    ``rows`` are the sentences looked at closely, ``gains`` the share of the question's evidence in
    each sentence of the scope.
    """

    task: str
    kind: str
    setting: str
    rows: np.ndarray
    columns: np.ndarray
    fused: np.ndarray
    gains: np.ndarray
    spans: np.ndarray
    borders: np.ndarray
    evidence: list[tuple[int, int]]
    document: int  # of the evidence among the scope's, -1 where it is not there


def load(shared: Path, task: str, split: str, documents: int) -> tuple[list[dict], dict]:
    """Documents and their questions of a split; of training only what the encoder has not seen."""
    asked: dict[str, list[dict]] = {}
    for row in read_lines(shared / "tasks" / task / "questions.jsonl.gz"):
        free = split == "dev" or task == "multilingual" or held_out(row["document"], HOLD_OUT)
        if row["split"] == split and free:
            asked.setdefault(row["document"], []).append(row)
    chosen = sorted(asked)
    kept = set(chosen[:: max(1, -(-len(chosen) // documents))])
    texts = []
    for row in read_lines(shared / "tasks" / task / "documents.jsonl.gz"):
        licence = str(row.get("meta", {}).get("licence", ""))
        if row["id"] in kept and not (split == "train" and NON_COMMERCIAL.search(licence)):
            texts.append(row)
    return texts, asked


def cases(
    shared: Path, model: milepost.Encoder, split: str, documents: int, questions: int
) -> list[Case]:
    """All questions of a split in all settings."""
    fusion = Fusion.from_fields(model.manifest.fusion)
    found: list[Case] = []
    for task in (*TASKS, "policies") if split == "dev" else TASKS:
        texts, asked = load(shared, task, split, documents)
        alone, pools = [], []
        for number, text in enumerate(texts):
            alone.append(milepost.open(model=model))
            alone[-1].add(milepost.Document(text["id"], text["text"]))
            if number % TOGETHER == 0:
                pools.append(milepost.open(model=model))
            copy(alone[-1], pools[-1], text["id"])
        for number, text in enumerate(texts):
            rows = asked[text["id"]]
            for n, row in enumerate(rows[:: max(1, -(-len(rows) // questions))]):
                settings = {"document": alone[number]}
                if n % 2 == 0 and len(texts) > 1:
                    other = alone[(number + 1 + n) % len(texts)]
                    settings["collection"] = pools[number // TOGETHER]
                    if other is not alone[number]:
                        settings["elsewhere"] = other
                for setting, index in settings.items():
                    found.append(measured(row, task, setting, index, model, fusion))
        print(split, task, len(texts), len(found), flush=True)
    return found


def copy(source: Any, target: Any, name: str) -> None:
    """Put a document into another index without encoding it again."""
    from milepost.intake import entry

    document = source._store.document(name)
    kept = source._store.sentences(name)
    vectors = source._store.vectors(kept.first, len(kept.spans))
    target._store.put(entry(document, (kept.spans, vectors, kept.familiar), None))


def measured(
    row: dict, task: str, setting: str, index: Any, model: milepost.Encoder, fusion: Fusion
) -> Case:
    """One question in one setting."""
    vector, terms = model.encode_query(row["question"]), question_terms(row["question"])
    scope = gather(index._store, vector, terms)
    fused = fuse(scope, model.familiarity(row["question"]), fusion)
    names = [info.name for info in scope.documents]
    document = names.index(row["document"]) if row["document"] in names else -1
    gains = np.zeros(len(scope.spans), np.float32)
    spans = [tuple(span) for span in row["spans"]]
    if document >= 0:
        part = slice(scope.borders[document], scope.borders[document + 1])
        for start, end in spans:
            low = np.maximum(scope.spans[part, 0], start)
            gains[part] += np.clip(np.minimum(scope.spans[part, 1], end) - low, 0, None)
        gains /= sum(end - start for start, end in spans)
    rows = np.sort(np.argsort(-fused.score, kind="stable")[:CLOSELY])
    columns = features(scope, fused, rows)
    kind = row.get("type") or ""
    return Case(
        task,
        kind,
        setting,
        rows,
        columns,
        fused.score,
        gains,
        scope.spans,
        scope.borders,
        spans,
        document,
    )


def fit(train: list[Case], threads: int, rounds: int, seed: int) -> Trees:
    """Boosted trees by log loss: every task and setting counts by its weight, whatever its size."""
    sizes: dict[tuple[str, str], int] = {}
    for case in train:
        key = case.task, case.setting
        sizes[key] = sizes.get(key, 0) + 1
    weights = np.concatenate(
        [
            np.full(
                len(case.rows),
                1e3 * TASKS[case.task] * SETTINGS[case.setting] / sizes[case.task, case.setting],
            )
            for case in train
        ]
    )
    columns = np.concatenate([case.columns for case in train])
    wanted = np.concatenate([case.gains[case.rows] > 0 for case in train]).astype(float)
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
        if not leaf and float(bound) > node["threshold"]:
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


def scores_of(case: Case, trees: Trees | None) -> np.ndarray:
    """Scores of all sentences of a case, as ``ranking.Ranked`` gives them."""
    if trees is None:
        return case.fused
    close = trees.predict(case.columns)
    below = 1.0 + case.fused.max() - case.fused
    score = (close.min() - 1e-3 * below).astype(np.float32)
    score[case.rows] = close
    return score


def spend(case: Case, score: np.ndarray, shortness: float) -> list[float]:
    """Evidence found within each budget."""
    lengths = case.spans[:, 1] - case.spans[:, 0]
    order = np.argsort(-worth(score, lengths, shortness), kind="stable")[:800]
    spent, gained = np.cumsum(lengths[order]), np.cumsum(case.gains[order])
    found = []
    for budget in BUDGETS:
        full = int(np.searchsorted(spent, budget, side="right"))
        total = float(gained[full - 1]) if full else 0.0
        if full < len(order):
            left = budget - (int(spent[full - 1]) if full else 0)
            total += float(case.gains[order[full]]) * left / max(1, int(lengths[order[full]]))
        found.append(total)
    return found


def judge(found: list[Case], scores: list[np.ndarray], shortness: float, setting: str) -> dict:
    """Evidence found by task, at each budget, in per cent."""
    by_task: dict[str, list[list[float]]] = {}
    for case, score in zip(found, scores, strict=True):
        if case.setting == setting:
            by_task.setdefault(case.task, []).append(spend(case, score, shortness))
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


def passages_of(case: Case, score: np.ndarray, shortness: float, drop: float) -> list[tuple]:
    """Passages as users get them: within 1,600 characters and as the five best."""
    lengths = case.spans[:, 1] - case.spans[:, 0]
    runs = within(
        worth(score, lengths, shortness),
        case.borders,
        k=None,
        left=1600,
        cost=lambda number: int(lengths[number]),
    ) + grown(score, case.borders, lengths, k=5, drop=drop)
    return [
        (score[run.first : run.last], case.gains[run.first : run.last].sum() > 0) for run in runs
    ]


def logistic(values: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x)."""
    return 1.0 / (1.0 + np.exp(-np.clip(values, -60, 60)))


def chances(found: list[Case], scores: list[np.ndarray], shortness: float, drop: float) -> tuple:
    """Of every passage: (1, best, ln(1 + rest)), whether it holds evidence, and its weight."""
    inputs, held, weights = [], [], []
    sizes: dict[tuple[str, str], int] = {}
    for case in found:
        sizes[case.task, case.setting] = sizes.get((case.task, case.setting), 0) + 1
    for case, score in zip(found, scores, strict=True):
        for part, good in passages_of(case, score, shortness, drop):
            best = np.sort(part)[::-1]
            inputs.append((1.0, best[0], np.log1p(logistic(best[1:]).sum())))
            held.append(float(good))
            weight = TASKS.get(case.task, 0.0) * SETTINGS[case.setting]
            weights.append(weight / sizes[case.task, case.setting])
    return np.array(inputs), np.array(held), np.array(weights)


def calibrate(inputs: np.ndarray, held: np.ndarray, weights: np.ndarray) -> list[float]:
    """Three numbers by weighted log loss."""

    def loss(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        chance = np.clip(logistic(inputs @ numbers), 1e-9, 1 - 1e-9)
        value = -(weights * (held * np.log(chance) + (1 - held) * np.log(1 - chance))).sum()
        return value / weights.sum(), inputs.T @ (weights * (chance - held)) / weights.sum()

    return [round(float(v), 4) for v in minimize(loss, np.array([0.0, 1.0, 0.0]), jac=True).x]


def reliability(inputs: np.ndarray, held: np.ndarray, weights: np.ndarray, numbers: list) -> None:
    """Print how often passages of a chance hold evidence."""
    chance = logistic(inputs @ np.array(numbers))
    used = weights > 0
    chance, held, weights = chance[used], held[used], weights[used]
    error = 0.0
    for low in np.arange(0, 1, 0.1):
        inside = (chance >= low) & (chance < low + 0.1 + (low > 0.85))
        if inside.any():
            said = np.average(chance[inside], weights=weights[inside])
            true = np.average(held[inside], weights=weights[inside])
            error += abs(said - true) * weights[inside].sum() / weights.sum()
            print(f"  said {said:.3f} true {true:.3f} of {inside.sum()}")
    print(f"  expected calibration error {error:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=40, help="documents of one task")
    parser.add_argument("--questions", type=int, default=24, help="questions of one document")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="keep the measured questions here")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    model = milepost.load(options.model)
    if options.cache and options.cache.exists():
        with options.cache.open("rb") as file:
            train, dev = pickle.load(file)
    else:
        split = {
            name: cases(options.shared, model, name, options.documents, options.questions)
            for name in ("dev", "train")
        }
        train, dev = split["train"], split["dev"]
        if options.cache:
            with options.cache.open("wb") as file:
                pickle.dump((train, dev), file)
    trees = fit(train, options.threads, options.rounds, options.seed)
    for setting in ("document", "collection"):
        show(f"fused, {setting}", judge(dev, [case.fused for case in dev], 0.0, setting))
    scores = [scores_of(case, trees) for case in dev]
    best = (0.0, -1.0)
    for shortness in (0.0, 0.2, 0.3, 0.4, 0.5, 0.7):
        value = show(f"trees, shortness {shortness}", judge(dev, scores, shortness, "document"))
        show("  collection", judge(dev, scores, shortness, "collection"))
        best = max(best, (value, shortness))
    shortness = best[1]
    overlap = {}
    for drop in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0):
        overlap[drop] = float(np.mean(list(first_overlap(dev, scores, drop).values())))
        print(f"drop {drop}: F1 of the first passage {overlap[drop]:.4f}")
    drop = max(overlap, key=overlap.__getitem__)
    close = [scores_of(case, trees) for case in train]
    numbers = calibrate(*chances(train, close, shortness, drop))
    print("chance", numbers)
    reliability(*chances(dev, scores, shortness, drop), numbers)
    fields = {**model.manifest.fusion, "chance": numbers, "shortness": shortness, "drop": drop}
    print(json.dumps({name: fields[name] for name in ("chance", "shortness", "drop")}))
    if options.write:
        trees.write(options.model)
        path = options.model / "milepost.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        manifest["fusion"] = fields
        path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def first_overlap(found: list[Case], scores: list[np.ndarray], drop: float) -> dict[str, float]:
    """F1 in characters between the first passage and the evidence, by task."""
    by_task: dict[str, list[float]] = {}
    for case, score in zip(found, scores, strict=True):
        if case.setting != "document":
            continue
        lengths = case.spans[:, 1] - case.spans[:, 0]
        run = grown(score, case.borders, lengths, k=1, drop=drop)[0]
        place = int(case.spans[run.first, 0]), int(case.spans[run.last - 1, 1])
        recall = evidence_found([place], case.evidence, place[1] - place[0])
        # Whole sentences that hold evidence count as evidence: nothing less is ever shown.
        held = lengths[case.gains > 0].sum()
        shown = lengths[run.first : run.last][case.gains[run.first : run.last] > 0].sum()
        precision = shown / max(1, place[1] - place[0])
        recall = shown / max(1, held)
        total = precision + recall
        by_task.setdefault(case.task, []).append(2 * precision * recall / total if total else 0.0)
    return {task: float(np.mean(values)) for task, values in by_task.items()}


if __name__ == "__main__":
    main()
