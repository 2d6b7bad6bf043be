"""``milepost lab bilinear``: what a bilinear fusion is worth beside plain ones of equal size.

digits      do two pictures show the same digit? (small form of the study in 2012.10285)
product-k   the label is the sign of a sum of k products of hidden features
sum-k       the same features added: no product is needed
evidence    a question and landmarks of its document: which sentence answers it?
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_eval.statistics import corrected, difference, interval
from milepost_lab.bilinear.model import RATES, Rows, parted, right_of, sized, train
from milepost_lab.data.digits import TRAINED, digits
from milepost_lab.data.landmarked import Landmarked, read
from milepost_lab.pooling.fusion import FUSIONS
from milepost_lab.runner import Report, Run, study
from milepost_lab.training import best_rate

PLAIN = ("concat", "concat-mlp", "relu-sum", "hadamard")
STUDIED = ("mcb", "mlb", "mfb", "mfh", "mutan", "block")
BESIDE = ("concat-mlp", "hadamard")
"""An MLP and the simplest product: what a bilinear fusion must beat."""
FEATURES = 16
BUDGETS = {"digits": 16_000, "product": 1000, "sum": 1000, "evidence": 50_000}


@study(
    "bilinear",
    "Compare bilinear fusions with plain ones.",
    "milepost lab bilinear --task digits --seeds 5",
    "milepost lab bilinear --task product-3",
    "milepost lab bilinear tasks/written tasks/trials",
    seeds=3,
)
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--task", default="digits", help="digits, product-K or sum-K; FOLDERs are evidence.")
@click.option("--fusion", "fusions", multiple=True, type=click.Choice([*FUSIONS]), help="Of these.")
@count_option("--steps", 4000, "Training steps at most.")
@count_option("--candidates", 16, "Landmarks of each question.")
@click.option("--documents", type=click.IntRange(min=1), help="Training documents of a task.")
@click.option("--model", metavar="NAME|FOLDER", default="landmark-light", help="Gives landmarks.")
def command(
    run: Run,
    folders: tuple[Path, ...],
    task: str,
    fusions: tuple[str, ...],
    steps: int,
    candidates: int,
    documents: int | None,
    model: str,
) -> Report:
    """Train fusions of as many parameters on pairs, each at the rate with the best validation."""
    if folders:
        rows, test = evidence(run, folders, model, documents, candidates)
        task = "evidence"
    else:
        rows, test = pairs(task)
    budget = BUDGETS[task.partition("-")[0]]
    learning, validation = parted(rows)
    found: dict[str, list[dict[str, Any]]] = {}
    for name in dict.fromkeys([*BESIDE, *(fusions or (*PLAIN, *STUDIED))]):
        settings = sized(name, rows.x.shape[-1], rows.y.shape[-1], budget)
        once = train(name, settings, learning, validation, test, steps)
        first = run.seeds[0]
        rate = run.cached(f"rate-{name}", partial(best_rate, RATES, partial(_loss, once, first)))
        found[name] = run.per_seed(name, partial(once, rate))
    flat = {n: np.array([each["right"] for each in some], float) for n, some in found.items()}
    clusters = [*test.clusters] * len(run.seeds)
    over = {
        beside: corrected(
            {
                n: difference(some.ravel(), flat[beside].ravel(), clusters)
                for n, some in flat.items()
                if n != beside
            }
        )
        for beside in BESIDE
    }
    lines = [
        {
            "fusion": name,
            "right": interval(some.ravel(), clusters),
            **{f"over {beside}": over[beside].get(name) for beside in BESIDE},
            "steps": float(np.mean([each["steps"] for each in found[name]])),
        }
        for name, some in flat.items()
    ]
    notes = [f"{task}: {len(rows):,} training rows, {len(test):,} test rows, {budget:,} weights."]
    if test.base is not None:
        without = np.mean(right_of(test.base, test))
        notes.append(f"Without fusion {without:.3f} are right.")
    return Report(lines, notes)


def _loss(once: Any, seed: int, rate: float) -> float:
    loss: float = once(rate, seed)["loss"]
    return loss


def pairs(name: str) -> tuple[Rows, Rows]:
    """Training and test rows of ``digits``, ``product-K`` or ``sum-K``.

    Raises:
        InputError: an unknown name, or a K that is even or too large.
    """
    kind, _, number = name.partition("-")
    if name == "digits":
        return same_digit()
    if kind in ("product", "sum") and number.isdigit():
        return planted(kind, int(number))
    raise InputError(f"unknown task {name!r}", "digits, product-K or sum-K, as in product-3")


def same_digit(train_rows: int = 12_000, test_rows: int = 3000) -> tuple[Rows, Rows]:
    """Two pictures each, in half of the rows of the same digit."""
    images, kinds = digits()
    flat = images.flatten(1)
    generator = torch.Generator().manual_seed(0)

    def drawn(first: int, last: int, count: int) -> Rows:
        some, kind = flat[first:last], kinds[first:last]
        one = torch.arange(count) % len(some)  # every picture as often as the others
        alike = torch.rand(count, generator=generator) < 0.5
        fits = (kind[one][:, None] == kind[None]) == alike[:, None]
        fits[torch.arange(count), one] = False
        other = torch.multinomial(fits.float(), 1, generator=generator)[:, 0]
        clusters = tuple(map(str, one.tolist()))
        return Rows(some[one][:, None], some[other][:, None], alike[:, None], clusters)

    return drawn(0, TRAINED, train_rows), drawn(TRAINED, len(flat), test_rows)


def planted(
    kind: str, features: int, train_rows: int = 3000, test_rows: int = 2000
) -> tuple[Rows, Rows]:
    """A planted truth: signs ``s`` of x and ``t`` of y, hidden by a rotation each.

    ``product``: true where ``Σ_k s_k t_k > 0``; with one feature that is an exclusive or. ``sum``:
    true where ``Σ_k s_k + t_k > 0``, which needs no product.

    Raises:
        InputError: an even number of features, or too many.
    """
    if features % 2 == 0 or not 1 <= features <= FEATURES:
        raise InputError(f"{features} features", f"an odd number under {FEATURES}")
    generator = torch.Generator().manual_seed(features)
    turns = [torch.linalg.qr(torch.randn(FEATURES, FEATURES, generator=generator))[0] for _ in "xy"]

    def drawn(count: int) -> Rows:
        signs = torch.randint(2, (2, count, FEATURES), generator=generator) * 2.0 - 1
        s, t = signs[:, :, :features]
        true = ((s * t if kind == "product" else s + t).sum(1) > 0)[:, None]
        x, y = (side @ turn for side, turn in zip(signs, turns, strict=True))
        return Rows(x[:, None], y[:, None], true, tuple(map(str, range(count))))

    return drawn(train_rows), drawn(test_rows)


def evidence(
    run: Run, folders: tuple[Path, ...], model: str, documents: int | None, most: int
) -> tuple[Rows, Rows]:
    """Questions with the nearest landmarks of their document, of which some are evidence.

    A question whose evidence is not among its candidates is left out of training and counts as
    wrong in the test.
    """
    import milepost

    encoder = milepost.load(model)
    half = None if documents is None else -(-documents // 2)
    train_rows = _candidates(
        read(folders, "train", encoder, documents=documents, progress=run.progress), most
    )
    test = _candidates(read(folders, "dev", encoder, documents=half, progress=run.progress), most)
    return train_rows[train_rows.true.any(1).nonzero()[:, 0]], test


def _candidates(data: Landmarked, most: int) -> Rows:
    x, y, true, base, real = [], [], [], [], []
    for query, answer, places in zip(data.queries, data.answers, data.evidence, strict=True):
        states, asked = torch.from_numpy(data.document(int(answer))), torch.from_numpy(query)
        cosines = states @ asked
        best = cosines.topk(min(most, len(states))).indices
        real.append(torch.arange(most) < len(best))
        best = torch.cat([best, best[-1:].expand(most - len(best))])
        x.append(asked[None])
        y.append(states[best])
        true.append(torch.isin(best, torch.tensor(places, dtype=torch.long)) & real[-1])
        base.append(cosines[best])
    # Unit vectors have numbers of 1/√d; fusions begin with weights made for numbers of 1.
    scale = data.states.shape[1] ** 0.5
    return Rows(
        scale * torch.stack(x),
        scale * torch.stack(y),
        torch.stack(true),
        tuple(data.documents[answer] for answer in data.answers),
        torch.stack(base),
        torch.stack(real),
    )
