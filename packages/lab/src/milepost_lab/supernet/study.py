"""``milepost lab supernet``: rank placements of two halvings by supernets and by brute force."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
import numpy as np
import torch
from numpy.typing import NDArray

from milepost._optional import require
from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_eval.statistics import over_seeds
from milepost_lab.runner import Report, Run, study
from milepost_lab.supernet.model import (
    Assignment,
    ImageNet,
    Learner,
    Part,
    Task,
    TextNet,
    macs,
    placements,
    search,
)

LAYERS, POOLINGS = 6, 2
SIZES = {"train": 8192, "search": 1024, "choice": 1024, "test": 1024}
LENGTH, WIDTH, SYMBOLS = 32, 8, 4
MOTIFS = ((0, 2, 2, 2, 1), (1, 2, 2, 2, 0))
"""They differ in order alone: averages of pairs keep the symbols and lose their order."""
DECOYS = ((0, 2, 1), (1, 2, 0))
"""Mixed with the motifs in any order, so that end symbols do not reveal the class."""
SIDE, CHANNELS = 16, 8


@study(
    "supernet",
    "Where to halve: supernets against brute force.",
    "milepost lab supernet --task shapes --supernets 1,4 --steps 400 --budget 8 --seeds 8",
    seeds=2,
)
@click.option("--task", type=click.Choice(["planted", "shapes"]), default="planted", help="Data.")
@click.option("--supernets", default="1,2", metavar="N,...", help="Numbers of nets to compare.")
@click.option(
    "--assign",
    type=click.Choice(["learnt", "unbalanced", "fixed", "cost"]),
    multiple=True,
    default=("learnt", "fixed"),
    help="How placements are assigned to nets.",
)
@count_option("--steps", 250, "Training steps of one placement alone.")
@count_option("--budget", 4, "Steps of a search, as a multiple of --steps.")
def command(
    run: Run, task: str, supernets: str, assign: tuple[Assignment, ...], steps: int, budget: int
) -> Report:
    """Train every placement alone, rank them by mixtures of supernets, and compare the orders.

    Task planted: motifs that differ in order (text); shapes: textured discs (convolutions).
    """
    chosen = make_task(task)
    numbers = [int(part) for part in supernets.split(",") if part.strip().isdigit()]
    if not numbers or not all(1 <= nets <= len(chosen.placements) for nets in numbers):
        raise InputError(f"{supernets!r} supernets", f"1 to {len(chosen.placements)}, as in 1,2,4")
    alone = run.per_seed("alone", partial(_alone, chosen, steps))
    tested = np.array([each["test"] for each in alone])
    truth = tested.mean(0)
    rankings: dict[str, NDArray[np.float64]] = {}
    for nets in numbers:
        for way in assign if nets > 1 else assign[:1]:
            label = f"{nets} nets, {way}" if nets > 1 else "1 net"
            found = run.per_seed(
                label.replace(", ", "-").replace(" ", "-"),
                partial(_searched, chosen, nets, steps * budget, way),
            )
            rankings[label] = np.array(found, np.float64)
    free = np.array([chosen.macs] * len(tested), np.float64)
    taus = {
        name: [_tau(one, truth) for one in some]
        for name, some in {**rankings, "fewest MACs": -free, "most MACs": free}.items()
    }
    if len(tested) > 1:  # a seed is judged by the others: by itself it would be circular
        taus["brute force"] = [
            _tau(np.array(each["choice"]), np.delete(tested, n, 0).mean(0))
            for n, each in enumerate(alone)
        ]
    rows: list[dict[str, Any]] = [
        {
            "method": name,
            "tau": float(np.mean(some)),
            "over 1 net": over_seeds(some, taus["1 net"])
            if "1 net" in taus and name != "1 net" and name in rankings and len(some) > 1
            else None,
            "regret": float(np.mean([truth.max() - truth[one.argmax()] for one in rankings[name]]))
            if name in rankings
            else None,
        }
        for name, some in taus.items()
    ]
    record = {
        "placements": [
            {"placement": place, "macs": cost, "accuracy": float(mean)}
            for place, cost, mean in zip(chosen.placements, chosen.macs, truth, strict=True)
        ]
    }
    spread = f"{truth.min():.3f} to {truth.max():.3f}"
    return Report(rows, [f"Trained alone, placements have an accuracy of {spread}."], record)


def _alone(task: Task, steps: int, seed: int) -> dict[str, list[float]]:
    """Accuracy of every placement trained alone, on the test part and on the choice part."""
    found: dict[str, list[float]] = {"test": [], "choice": []}
    for placement in task.placements:
        learner = Learner(task, seed)
        for step in range(steps):
            learner.step(placement, step, steps)
        found["test"].append(learner.accuracy(placement, task.test))
        found["choice"].append(learner.accuracy(placement, task.choice))
    return found


def _searched(task: Task, nets: int, steps: int, way: Assignment, seed: int) -> list[float]:
    found: list[float] = np.maximum(search(task, nets, steps, way, seed), -1).tolist()
    return found


def _tau(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    found = require("scipy.stats", extra="lab").kendalltau(one, other).statistic
    return float(np.nan_to_num(found))


def make_task(name: str, seed: int = 0) -> Task:
    """The task ``planted`` or ``shapes``, with examples drawn by a seed."""
    rng = np.random.default_rng(seed)
    draw = motifs if name == "planted" else textures
    parts: dict[str, Part] = {}
    for part, size in SIZES.items():
        inputs, classes = draw(size, rng)
        parts[part] = torch.from_numpy(inputs), torch.from_numpy(classes)
    space = placements(LAYERS, POOLINGS)
    if name == "planted":
        layer, shrink = [LENGTH * WIDTH * (3 + 2 * 16)] * LAYERS, 2
        net = partial(TextNet, WIDTH, LAYERS, 2)
        return Task(space, [macs(p, layer, shrink) for p in space], **parts, net=net, rate=1e-2)
    layer = [SIDE**2 * 9 * CHANNELS] + [SIDE**2 * 9 * CHANNELS**2] * (LAYERS - 1)
    image = partial(ImageNet, CHANNELS, LAYERS, 4)
    return Task(space, [macs(p, layer, 4) for p in space], **parts, net=image, rate=4e-3)


def motifs(count: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows of symbols ``(count, 32, 8)`` that contain both motifs: class 1 if the second is first.

    The motifs must be told apart before the first halving; to compare their places needs blocks
    with a long range, as those after the last halving have.
    """
    symbols = rng.choice([2, 3], (count, LENGTH))
    classes = np.empty(count, np.int64)
    items = [*MOTIFS, *DECOYS]
    free = LENGTH - sum(map(len, items))
    for number, row in enumerate(symbols):
        order = rng.permutation(len(items))
        gaps = np.diff(np.sort(rng.integers(0, free + 1, len(items))), prepend=0)
        place = 0
        for item, gap in zip(order, gaps, strict=True):
            place += int(gap)
            row[place : place + len(items[item])] = items[item]
            place += len(items[item])
        classes[number] = list(order).index(1) < list(order).index(0)
    states = 0.2 * rng.standard_normal((count, LENGTH, WIDTH))
    states[..., :SYMBOLS] += np.eye(SYMBOLS)[symbols]
    return states.astype(np.float32), classes


def textures(count: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Images ``(count, 1, 16, 16)`` of two discs filled with checks or stripes.

    Classes are ``2 · above + stripes``: fine texture and coarse outline at once.
    """
    row, column = np.indices((SIDE, SIDE))
    classes = rng.integers(0, 4, count)
    images = 0.3 * rng.standard_normal((count, SIDE, SIDE))
    for image, kind in zip(images, classes, strict=True):
        radius, apart = rng.uniform(2.2, 3.2), rng.uniform(5.5, 8)
        along = rng.uniform(radius, SIDE - 1 - radius - apart)
        across = rng.uniform(radius, SIDE - 1 - radius)
        lines = row if rng.random() < 0.5 else column
        fill = 1 - 2 * (((lines if kind % 2 else row + column) + rng.integers(0, 2)) % 2)
        for start in (along, along + apart):
            y, x = (start, across) if kind >= 2 else (across, start)
            image += ((row - y) ** 2 + (column - x) ** 2 <= radius**2) * fill
    return images[:, None].astype(np.float32), classes
