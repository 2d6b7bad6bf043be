"""``milepost lab multilayer``: five designs of pooling and attention on questions."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
import numpy as np
import torch
from torch import Tensor

from milepost.cli.console.options import count_option
from milepost_eval.statistics import corrected, difference, interval
from milepost_lab.data.network import TokenReader
from milepost_lab.data.pairs import Pairs, ndcg, read_pairs
from milepost_lab.multilayer.model import DESIGNS, PAIRS, Design, Reading, contrast
from milepost_lab.runner import Report, Run, study
from milepost_lab.training import best_rate, fit_best, parameters

RATES = (3e-4, 1e-3, 3e-3)


@study(
    "multilayer",
    "Train poolings over layers.",
    "milepost lab multilayer --seeds 3",
    "milepost lab multilayer --data pairs.jsonl --network FOLDER",
)
@click.option("--data", type=click.Path(exists=True), help="Pairs; else those that come along.")
@click.option("--network", metavar="NAME|FOLDER", default="minilm", help="A frozen BERT.")
@count_option("--pairs", 1000, "Most training pairs.")
@count_option("--steps", 1500, "Training steps at most, of 32 pairs.")
@count_option("--longest", 128, "Tokens of a passage.")
def command(
    run: Run, data: str | None, network: str, pairs: int, steps: int, longest: int
) -> Report:
    """Train each design at its best of three rates until the validation loss is flat.

    M1 to M3 see one side only, although the weights were trained with both.
    """
    found: dict[str, list[Any]] = {}
    made = read_pairs(data, pairs)
    states: dict[bool, dict[str, list[Tensor]]] = {}
    for name, design in DESIGNS.items():
        if design.both_sides not in states:
            config = {} if design.both_sides else {"is_decoder": True}
            reader = TokenReader.open(network, longest, attn_implementation="eager", **config)
            states[design.both_sides] = {
                side: reader.states(texts, every_layer=True) for side, texts in made.sides().items()
            }
        once = partial(train, design, states[design.both_sides], made, steps)
        first = run.seeds[0]
        rate = run.cached(f"rate-{name}", partial(_chosen, once, first))
        found[name] = run.per_seed(name, partial(once, rate))
    values = {n: np.array([each["ndcg"] for each in some]) for n, some in found.items()}
    clusters = [*made.test_documents] * len(run.seeds)
    apart = corrected(
        {f"{a} - {b}": difference(values[a].ravel(), values[b].ravel(), clusters) for a, b in PAIRS}
    )
    rows: list[dict[str, Any]] = [
        {"design": n, "nDCG@10": interval(v.ravel(), clusters), "weights": found[n][0]["weights"]}
        for n, v in values.items()
    ]
    rows += [{"design": n, "nDCG@10": one, "p, Holm": one.adjusted} for n, one in apart.items()]
    head = ("design", "nDCG@10", "p, Holm", "weights")
    return Report([{name: row.get(name) for name in head} for row in rows])


def _chosen(once: Any, seed: int) -> float:
    return best_rate(RATES, lambda rate: float(once(rate, seed)["loss"]))


def train(
    design: Design,
    states: dict[str, list[Tensor]],
    pairs: Pairs,
    steps: int,
    rate: float,
    seed: int,
) -> dict[str, Any]:
    """One training: the lowest validation loss, and nDCG@10 of each test question."""
    some = states["train queries"][0]
    reading = Reading(design, some.shape[1], some.shape[2], seed)
    random = np.random.default_rng(seed)
    queries, passages = states["train queries"], states["train passages"]
    cut = max(1, len(queries) - max(2, len(queries) // 6))

    def loss_of(numbers: Any) -> Tensor:
        return contrast(
            reading([queries[n] for n in numbers]), reading([passages[n] for n in numbers])
        )

    lowest, best = fit_best(
        reading,
        lambda _: loss_of(random.choice(cut, min(32, cut), replace=False)),
        lambda: float(loss_of(range(cut, len(queries)))),
        steps,
        rate,
        decay=0.01,
    )
    with torch.no_grad():
        sides = []
        for side in ("test queries", "test passages"):
            texts = states[side]
            parts = [reading(texts[at : at + 64]) for at in range(0, len(texts), 64)]
            sides.append(torch.cat(parts))
    return {
        "loss": min(lowest, 1e9),
        "steps": best,
        "weights": parameters(reading),
        "ndcg": ndcg((sides[0] @ sides[1].T).numpy(), pairs.test_answers),
    }
