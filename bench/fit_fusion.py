"""Learn the fusion weights of a model: signals of a question → share of landmarks, reach.

    python bench/fit_fusion.py --model FOLDER [--write]

Fitted on training questions of documents the encoder has not seen (``held_out``) and on the
multilingual training questions (languages the model does not know); looked at on development
questions. The objective is the metric itself: evidence found is measured on a grid of (gate,
reach) for every question, and the grid is interpolated, so that gradients reach the weights of the
signals. ``--write`` puts the numbers into the manifest and leaves the others there as they are;
``fit_ranking.py`` must then be run anew, for its trees and chances were learned for the numbers
before. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import milepost
from learned import keep
from milepost.evaluate.metrics import evidence_found
from milepost.evaluate.tasks.reading import objects
from milepost.search import question_terms
from milepost.search.fusion import SIGNALS, Fusion, curves, fuse, measure, standard
from milepost.search.passages import select_within_budget
from milepost.search.scope import Scope, gather
from milepost.train.data import NON_COMMERCIAL, held_out

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings")
HOLD_OUT = 0.12
BUDGETS = (800, 1600, 3200)
GATES = np.array([-2.0, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2.0, 3.0, 5.0])
HARM = 3.0
REACHES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])


@dataclass
class Case:
    """A question measured against its document."""

    task: str
    document: str
    scope: Scope
    vocab_coverage: float
    evidence: list[tuple[int, int]]


def cases(shared: Path, model: milepost.Encoder, split: str, documents: int) -> list[Case]:
    """Questions of a split; of training only the documents kept from the encoder."""
    found: list[Case] = []
    for task in (*TASKS, "multilingual"):
        asked: dict[str, list[dict]] = {}
        for row in objects(shared / "tasks" / task / "questions.jsonl.gz"):
            kept = split == "dev" or task == "multilingual" or held_out(row["document"], HOLD_OUT)
            if row["split"] == split and kept:
                asked.setdefault(row["document"], []).append(row)
        chosen = sorted(asked)
        chosen = set(chosen[:: -(-len(chosen) // documents)])
        for document in objects(shared / "tasks" / task / "documents.jsonl.gz"):
            licence = str(document.get("meta", {}).get("licence", ""))
            closed = split == "train" and NON_COMMERCIAL.search(licence)
            if document["id"] not in chosen or closed:
                continue
            index = milepost.open(model=model)
            index.add(milepost.Document(name="d", text=document["text"]))
            questions = asked[document["id"]]
            for row in questions[:: -(-len(questions) // 40)]:
                scope = gather(
                    index._store,
                    model.encode_query(row["question"]),
                    question_terms(row["question"]),
                )
                spans = [tuple(span) for span in row["spans"]]
                known = model.vocab_coverage(row["question"])
                found.append(Case(task, document["id"], scope, known, spans))
        print(split, task, len(found), flush=True)
    return found


def spend(case: Case, score: np.ndarray) -> float:
    """Evidence found by the best sentences of a score, mean of the budgets."""
    spans = case.scope.spans
    inside = np.zeros(len(spans))
    for start, end in case.evidence:
        low, high = np.maximum(spans[:, 0], start), np.minimum(spans[:, 1], end)
        inside += np.clip(high - low, 0, None)
    order = np.argsort(-score, kind="stable")[:400]
    lengths = (spans[:, 1] - spans[:, 0])[order]
    spent, gained = np.cumsum(lengths), np.cumsum(inside[order])
    total = 0.0
    for budget in BUDGETS:
        full = int(np.searchsorted(spent, budget, side="right"))
        total += gained[full - 1] if full else 0.0
        if full < len(order):
            left = budget - (spent[full - 1] if full else 0)
            total += inside[order[full]] * left / max(1, lengths[full])
    return total / sum(end - start for start, end in case.evidence) / len(BUDGETS)


def plain(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Landmarks alone and words at several scales alone."""
    return case.scope.similarity, sum(map(standard, case.scope.lexical))


def grid(case: Case, table: Fusion) -> np.ndarray:
    """Evidence found for every gate and reach, ``(len(GATES), len(REACHES))``."""
    landmarks, words = curves(case.scope)
    result = np.zeros((len(GATES), len(REACHES)))
    for column, reach in enumerate(REACHES):
        sides = []
        for curve, scales in ((landmarks, table.landmark), (words, table.words)):
            mass = np.exp([base + tilt * reach for base, tilt in scales])
            sides.append(sum(c * m for c, m in zip(curve, mass / mass.sum(), strict=True)))
        for row, gate in enumerate(GATES):
            share = 1.0 / (1.0 + np.exp(-gate))
            result[row, column] = spend(case, share * sides[0] + (1 - share) * sides[1])
    return result


def between(values: torch.Tensor, places: np.ndarray) -> torch.Tensor:
    """Weights of linear interpolation, ``(n, len(places))``."""
    knots = torch.tensor(places, dtype=torch.float32)
    values = values.clamp(float(knots[0]), float(knots[-1]) - 1e-5)
    at = (torch.searchsorted(knots, values.detach(), right=True) - 1).clamp(0, len(knots) - 2)
    part = (values - knots[at]) / (knots[at + 1] - knots[at])
    result = torch.zeros(len(values), len(knots))
    result = result.scatter(1, at[:, None], (1 - part)[:, None])
    return result.scatter(1, at[:, None] + 1, part[:, None])


def fit(
    found: list[Case], grids: np.ndarray, alone: np.ndarray, signals: np.ndarray, l2: float
) -> tuple[dict[str, float], dict[str, float], float]:
    """Gate and reach by gradient ascent on the interpolated metric.

    Every task counts alike, and a task on which fusion loses to landmarks or words alone counts
    ``HARM`` times that loss more.

    Args:
        found: the questions.
        grids: ``(q, gates, reaches)`` evidence found.
        alone: ``(q, 2)`` evidence found by landmarks alone and words alone.
        signals: ``(q, signals)``.
        l2: weight of the mean square of the coefficients.
    """
    tasks = sorted({case.task for case in found})
    member = torch.tensor([[float(case.task == task) for case in found] for task in tasks])
    member = member / member.sum(dim=1, keepdim=True)
    table = torch.tensor(grids, dtype=torch.float32)
    rival = (member @ torch.tensor(alone, dtype=torch.float32)).max(dim=1).values
    x = torch.tensor(signals, dtype=torch.float32)
    gate = torch.zeros(x.shape[1], requires_grad=True)
    reach = torch.zeros(x.shape[1], requires_grad=True)
    optimizer = torch.optim.Adam([gate, reach], lr=0.05)
    for _ in range(500):
        gates = between(x @ gate, GATES)
        reaches = between(torch.tanh(x @ reach), REACHES)
        by_task = member @ torch.einsum("qs,qsr,qr->q", gates, table, reaches)
        harm = torch.relu(rival - by_task).sum()
        penalty = l2 * ((gate[1:] ** 2).mean() + (reach[1:] ** 2).mean())
        loss = -by_task.mean() + HARM / len(tasks) * harm + penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for task, value, best in zip(tasks, by_task.tolist(), rival.tolist(), strict=True):
        print(f"  fit {task}: {100 * value:.1f}, best alone {100 * best:.1f}")
    told = [
        {name: round(float(v), 3) for name, v in zip(SIGNALS, part.detach(), strict=True)}
        for part in (gate, reach)
    ]
    return told[0], told[1], float(by_task.mean().detach())


def judge(found: list[Case], settings: Fusion) -> dict[str, np.ndarray]:
    """Evidence found per task by the product's own choice of sentences."""
    sums: dict[str, list[list[float]]] = {}
    for case in found:
        scope = case.scope
        score = fuse(scope, case.vocab_coverage, settings).score
        lengths = scope.spans[:, 1] - scope.spans[:, 0]
        figures = []
        for budget in BUDGETS:
            runs = select_within_budget(
                score,
                scope.document_offsets,
                k=None,
                left=budget,
                cost=lambda n, ls=lengths: int(ls[n]),
            )
            spans = [(int(scope.spans[r.first, 0]), int(scope.spans[r.last - 1, 1])) for r in runs]
            figures.append(evidence_found(spans, case.evidence, budget))
        sums.setdefault(case.task, []).append(figures)
    return {task: np.mean(values, axis=0) for task, values in sums.items()}


def show(name: str, figures: dict[str, np.ndarray]) -> None:
    mean = np.mean([figures[task] for task in TASKS], axis=0)
    cells = [
        f"{task[:6]} {' '.join(f'{100 * v:.1f}' for v in f)} ({100 * f.mean():.1f})"
        for task, f in figures.items()
    ]
    print(
        f"{name:<26} {' | '.join(cells)} || {' '.join(f'{100 * v:.1f}' for v in mean)}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=45, help="documents of one task")
    parser.add_argument("--l2", type=float, default=0.01)
    parser.add_argument("--cache", type=Path, help="keep the measured questions here")
    parser.add_argument("--tables", type=json.loads, help="scale tables, fields of Fusion")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(2)
    if options.cache and options.cache.exists():
        with options.cache.open("rb") as file:
            train, dev = pickle.load(file)
    else:
        model = milepost.load(options.model)
        train = cases(options.shared, model, "train", options.documents)
        dev = cases(options.shared, model, "dev", 25)
        if options.cache:
            with options.cache.open("wb") as file:
                pickle.dump((train, dev), file)
    tables = Fusion.from_fields(options.tables or {})
    grids = np.stack([grid(case, tables) for case in train])
    alone = np.array([[spend(case, c) for c in plain(case)] for case in train])
    signals = np.array([list(measure(case.scope, case.vocab_coverage).values()) for case in train])
    gate, reach, value = fit(train, grids, alone, signals, options.l2)
    print("objective", round(value, 4), "oracle", round(float(grids.max(axis=(1, 2)).mean()), 4))
    fields = {
        "gate": gate,
        "scale_shift": reach,
        "landmark": [list(pair) for pair in tables.landmark],
        "words": [list(pair) for pair in tables.words],
    }
    print(json.dumps(fields))
    learned = Fusion.from_fields(fields)
    show("train (held out)", judge(train, learned))
    show("dev", judge(dev, learned))
    for number, name in enumerate(("landmarks alone", "words alone")):
        found: dict[str, list[float]] = {}
        for case in dev:
            found.setdefault(case.task, []).append(spend(case, plain(case)[number]))
        cells = " | ".join(f"{task[:6]} {100 * np.mean(v):.1f}" for task, v in found.items())
        print(f"{'dev, ' + name:<26} {cells}")
    if options.write:
        keep(options.model, fields)
        print("now fit_ranking.py, then fit_reranker.py: they learned from the numbers before")


if __name__ == "__main__":
    main()
