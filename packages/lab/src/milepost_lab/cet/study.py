"""``milepost lab cet``: hard negatives that may be unmarked answers.

Without FOLDERs a generated world with known truth: every item has features of its text and a score
of the retriever that selected what annotators saw, correlated with the text by rho. With FOLDERs
small rankers over frozen vectors, trained on questions with several known answers of which all but
one are hidden.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import numpy as np
import torch
from scipy.special import expit  # type: ignore[import-untyped,unused-ignore]
from torch import Tensor

from milepost._optional import require
from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_eval.statistics import corrected, difference, interval, over_seeds
from milepost_lab.cet.model import WEIGHINGS, fit_product, logistic, published, train_ranker
from milepost_lab.data.landmarked import Landmarked, read
from milepost_lab.runner import Report, Run, study

TASTE = np.array([1.5, 1.0, 0.5, 0.0, 0.0])
ARMS = ("naive", "published", "coupled", "oracle")
"""What is not labelled is irrelevant; the paper's weights on the same features; EM on the product
with a selection model of its own features; fitted to the truth."""


@study(
    "cet",
    "How many hard negatives are unmarked answers.",
    "milepost lab cet --seeds 10",
    "milepost lab cet tasks/written --hide random --seeds 10",
    seeds=3,
)
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--hide",
    type=click.Choice(["random", "pooled"]),
    default="random",
    help="Answer that stays marked: any, or the one that shares most words with the question.",
)
@click.option(
    "--rho",
    type=click.FloatRange(0, 1),
    multiple=True,
    default=(0.0, 0.6),
    help="Correlation of judging and relevance.",
)
@count_option("--items", 4000, "Items of the generated world.")
@count_option("--steps", 300, "Training steps of a ranker.")
@click.option("--model", metavar="NAME|FOLDER", default="landmark-light", help="Gives vectors.")
def command(
    run: Run,
    folders: tuple[Path, ...],
    hide: str,
    rho: tuple[float, ...],
    items: int,
    steps: int,
    model: str,
) -> Report:
    """Compare weights of unlabelled negatives: none, as published, of the product model, oracle."""
    if folders:
        import milepost

        encoder = milepost.load(model)
        sides = [read(folders, split, encoder, progress=run.progress) for split in ("train", "dev")]
        return rankers(run, sides[0], sides[1], hide, steps)
    rows: list[dict[str, Any]] = []
    for each in rho:
        found = run.per_seed(f"rho-{each}", partial(generated, each, items))
        base = [one["naive"]["area"] for one in found]
        for arm in ARMS:
            areas = [one[arm]["area"] for one in found]
            rows.append(
                {
                    "arm": arm,
                    "rho": each,
                    "AUC": interval(areas),
                    "over naive": over_seeds(areas, base) if arm != "naive" else None,
                    "mean bias": fmean(one[arm]["bias"] for one in found),
                }
            )
    return Report(rows)


def generated(rho: float, items: int, seed: int) -> dict[str, dict[str, float]]:
    """Area under the ROC curve against the truth, and bias of the mean probability, of each arm."""
    text, score, _, relevant, labels = world(rho, seed, items)
    models = {
        "naive": logistic(text, labels),
        "published": published(text, labels, seed)[0],
        "coupled": fit_product(text, score, labels)[0],
        "oracle": logistic(text, relevant),
    }
    fresh, _, truth, hits, _ = world(rho, 1000 + seed, 20_000)
    metrics = require("sklearn.metrics", extra="lab")
    return {
        name: {
            "area": float(metrics.roc_auc_score(hits, model(fresh))),
            "bias": float((model(fresh) - truth).mean()),
        }
        for name, model in models.items()
    }


def world(rho: float, seed: int, count: int) -> tuple[Any, Any, Any, Any, Any]:
    """``r = sigmoid(1.5 x1 + x2 + .5 x3 - 1)``, ``z = rho x1 + noise``, ``s = sigmoid(3 z - 1)``.

    Returns:
        Features ``(n, 5)``, score z ``(n, 1)``, r, whether relevant, whether labelled, ``(n,)``.
    """
    random = np.random.default_rng(seed)
    text = random.normal(size=(count, len(TASTE)))
    score = rho * text[:, 0] + np.sqrt(1 - rho**2) * random.normal(size=count)
    chances = expit(text @ TASTE - 1.0)
    relevant = random.random(count) < chances
    shown = random.random(count) < expit(3.0 * score - 1.0)
    return text, score[:, None], chances, relevant.astype(float), (relevant & shown).astype(float)


def rankers(run: Run, taught: Landmarked, asked: Landmarked, hide: str, steps: int) -> Report:
    """Train a ranker under every weighing on one marked answer a question; rank all sentences."""
    usable = [n for n, places in enumerate(taught.evidence) if len(places) > 1]
    if len(usable) < 2:
        raise InputError("no question has several answers", "tasks with more evidence")
    values: dict[str, list[list[float]]] = {}
    for weighing in WEIGHINGS:

        def once(seed: int, weighing: str = weighing) -> list[float]:
            draw = partial(pairs, taught, usable, hide, np.random.default_rng(seed))
            made = train_ranker(draw, taught.states.shape[1], weighing, steps, seed)
            found: list[float] = measured(made, asked)
            return found

        values[weighing] = run.per_seed(f"{hide}-{weighing}", once)
    clusters = [asked.documents[answer] for answer in asked.answers] * len(run.seeds)
    flat = {name: np.array(some).ravel() for name, some in values.items()}
    over = corrected(
        {n: difference(v, flat["none"], clusters) for n, v in flat.items() if n != "none"}
    )
    rows = [
        {
            "weights": name,
            "nDCG@10": interval(some, clusters),
            "over none": over.get(name),
            "p, Holm": over[name].adjusted if name in over else None,
            "detectable": over[name].detectable if name in over else None,
        }
        for name, some in flat.items()
    ]
    return Report(rows, [f"{len(usable)} training questions with hidden answers ({hide})."])


def pairs(
    data: Landmarked, usable: list[int], hide: str, random: np.random.Generator, count: int = 64
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Questions, marked answers, hard negatives, and whether a negative is a hidden answer."""
    queries, positives, negatives, hidden = [], [], [], []
    for number in random.choice(usable, count):
        states, query = data.document(int(data.answers[number])), data.queries[number]
        answers = list(data.evidence[number])
        cosines = states @ query
        # Which answer is marked belongs to the question, not to the step.
        own = np.random.default_rng(int(number))
        marked = (
            int(own.choice(answers)) if hide == "random" else max(answers, key=lambda n: cosines[n])
        )
        best = [n for n in np.argsort(-cosines)[:10].tolist() if n != marked]
        if not best:
            continue
        drawn = int(random.choice(best))
        queries.append(query)
        positives.append(states[marked])
        negatives.append(states[drawn])
        hidden.append(drawn in answers)
    parts = [torch.from_numpy(np.stack(part)) for part in (queries, positives, negatives)]
    return parts[0], parts[1], parts[2], torch.tensor(hidden)


@torch.no_grad()
def measured(made: Any, data: Landmarked) -> list[float]:
    """nDCG@10 of each question over the sentences of its document; all answers are relevant."""
    found = []
    for query, answer, places in zip(data.queries, data.answers, data.evidence, strict=True):
        states = torch.from_numpy(data.document(int(answer)))
        scores = made(torch.from_numpy(query).expand(len(states), -1), states)
        order = scores.argsort(descending=True)[:10].tolist()
        gains = sum(1 / np.log2(2 + rank) for rank, n in enumerate(order) if n in places)
        ideal = sum(1 / np.log2(2 + rank) for rank in range(min(10, len(places))))
        found.append(float(gains / ideal) if ideal else 0.0)
    return found
