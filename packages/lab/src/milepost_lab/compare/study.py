"""``milepost lab compare``: poolings on the same states, data, steps and choice of rate."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_eval.cli.terminal import code_option
from milepost_eval.statistics import corrected, difference, interval
from milepost_lab.compare.model import Arm, Retriever, Texts, read_arm
from milepost_lab.data.network import TokenReader
from milepost_lab.data.pairs import Pairs, ndcg, read_pairs
from milepost_lab.pooling import names
from milepost_lab.pooling.registry import run_code
from milepost_lab.runner import Report, Run, study
from milepost_lab.training import best_rate, fit_best, parameters

RATES = (3e-4, 1e-3, 3e-3)
USUAL = "mean,max,cls,lmk,attention,ggem,query-top-k"


@study(
    "compare",
    "Compare poolings on the same states.",
    "milepost lab compare --pool mean,lmk,ggem",
    "milepost lab compare --pool all --seeds 3 --out results/compare",
    "milepost lab compare --pool mean,mean@random,ggem:groups=4 --data pairs.jsonl.gz",
)
@click.option(
    "--pool",
    "pools",
    default=USUAL,
    metavar="NAME,...",
    help="Poolings, or all.",
    show_default=True,
)
@click.option("--against", default="mean", metavar="NAME", help="The row to compare others with.")
@click.option("--data", type=click.Path(exists=True), help="Pairs; else those that come along.")
@click.option("--network", metavar="NAME|FOLDER", default="minilm", help="A frozen encoder.")
@count_option("--train", 600, "Most training pairs.")
@count_option("--test", 300, "Most test questions.")
@count_option("--longest", 128, "Tokens of a text.")
@count_option("--steps", 300, "Training steps at most, of 32 pairs.")
@code_option
def command(
    run: Run,
    pools: str,
    against: str,
    data: str | None,
    network: str,
    train: int,
    test: int,
    longest: int,
    steps: int,
    code: tuple[Path, ...],
) -> Report:
    """Train each pooling, with a linear map behind it, on pairs, and search unseen passages.

    Each has its best of three rates, by the loss on held-out pairs, with the first seed. A row
    NAME@random reads the same network with random weights: what words and length alone give.
    """
    for file in code:
        run_code(file)
    chosen = [*names()] if pools == "all" else [word for word in pools.split(",") if word]
    arms = [read_arm(text) for text in dict.fromkeys([against, *chosen])]
    pairs = read_pairs(data, train, test)
    sources: dict[tuple[bool, bool], dict[str, Texts]] = {}
    found: dict[str, list[dict[str, Any]]] = {}
    for arm in arms:
        key = arm.random, "layers" in arm.row.needs
        if key not in sources:
            sources[key] = read_states(run, pairs, network, longest, *key)
        once = partial(learn, arm, sources[key], pairs, steps)
        name = arm.name.replace(":", "-").replace("=", "-").replace("@", "-at-")
        rate = run.cached(f"rate-{name}", partial(_chosen, once, run.seeds[0]))
        found[arm.name] = run.per_seed(name, partial(once, rate))
    values = {n: np.array([each["ndcg"] for each in some]) for n, some in found.items()}
    clusters = [*pairs.test_documents] * len(run.seeds)
    over = corrected(
        {
            n: difference(v.ravel(), values[against].ravel(), clusters)
            for n, v in values.items()
            if n != against
        }
    )
    rows = [
        {
            "pooling": name,
            "nDCG@10": interval(some.ravel(), clusters),
            f"over {against}": over.get(name),
            "p, Holm": over[name].adjusted if name in over else None,
            "detectable": over[name].detectable if name in over else None,
            "weights": found[name][0]["weights"],
        }
        for name, some in sorted(values.items(), key=lambda each: -each[1].mean())
    ]
    return Report(
        rows,
        [
            f"{len(pairs.test_queries)} questions about {len(set(pairs.test_documents))} documents "
            f"search {len(pairs.test_passages)} passages; {len(pairs.train)} training pairs."
        ],
    )


def read_states(
    run: Run, pairs: Pairs, network: str, longest: int, random: bool, layers: bool
) -> dict[str, Texts]:
    """States of all four sides under the network, or under one with random weights."""
    reader = TokenReader.open(network, longest)
    if random:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            for name, weight in reader.model.named_parameters():
                fill = torch.zeros if name.endswith("bias") else torch.ones
                drawn = 0.02 * torch.randn_like(weight)
                weight.copy_(drawn if weight.dim() > 1 else fill(weight.shape))
    found = {}
    for done, (side, texts) in enumerate(pairs.sides().items()):
        run.progress(f"reading {side}", done, 4)
        _, segments = reader.tokens(texts)
        found[side] = Texts(reader.states(texts, every_layer=layers), segments)
    return found


def learn(
    arm: Arm, texts: dict[str, Texts], pairs: Pairs, steps: int, rate: float, seed: int
) -> dict[str, Any]:
    """One training: the lowest loss on held-out pairs, and nDCG@10 of each test question.

    Raises:
        InputError: too few pairs to hold some out.
    """
    queries, passages = texts["train queries"], texts["train passages"]
    some = queries.states[0]
    made = Retriever(arm, some.shape[-1], some.shape[1] if some.ndim == 3 else 1, seed)
    random = np.random.default_rng(seed)
    cut = len(queries) - max(2, min(64, len(queries) // 6))
    if cut < 2:
        raise InputError(f"{len(queries)} training pairs are too few", "more pairs")
    held = range(cut, len(queries))
    lowest, best = 0.0, 0
    if any(weight.requires_grad for weight in made.parameters()):

        def loss(_: int) -> torch.Tensor:
            numbers = random.choice(cut, min(32, cut), replace=False).tolist()
            return made.loss(queries.some(numbers), passages.some(numbers))

        def validate() -> float:
            return float(made.loss(queries.some(held), passages.some(held)))

        lowest, best = fit_best(made, loss, validate, steps, rate, every=25, decay=0.01)
    scores = made.eval().ranking(texts["test queries"], texts["test passages"])
    return {
        "loss": min(lowest, 1e9),
        "steps": best,
        "weights": parameters(made.pooling),
        "ndcg": ndcg(scores, pairs.test_answers),
    }


def _chosen(once: Any, seed: int) -> float:
    return best_rate(RATES, lambda rate: float(once(rate, seed)["loss"]))
