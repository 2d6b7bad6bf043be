"""``milepost lab p2at``: segment discs, squares and bars whose class is visible at one end only.

    0 ground   1 disc   2 square   3 bar with a bright end   4 bar with a dark end

A bar is nearly as long as the image. Both classes of bars differ in a few pixels at one end only,
so a network with a short range can only guess at the other end.
"""

from __future__ import annotations

import time
from functools import partial
from statistics import fmean
from typing import Any

import click
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from milepost.cli.console.options import count_option
from milepost_eval.statistics import corrected, over_seeds
from milepost_lab.p2at.segmenter import ARMS, Segmenter, segmenter, weights
from milepost_lab.runner import Report, Run, study
from milepost_lab.training import fit

CLASSES = ("ground", "disc", "square", "bright bar", "dark bar")
SIZE, NOISE, TEST = 32, 0.25, 500
BESIDE = ("identity", "identity-published", "flat")
"""Arms of the reported differences: no block, and a block without its pyramid."""


@study(
    "p2at",
    "P2AT on images: published, corrected, rivals.",
    "milepost lab p2at --arm published --arm identity-published --seeds 12 --out results/p2at",
    seeds=4,
)
@click.option("--arm", "arms", multiple=True, type=click.Choice([*ARMS]), help="Of these.")
@count_option("--steps", 600, "Training steps.")
@count_option("--images", 2000, "Images to learn from.")
def command(run: Run, arms: tuple[str, ...], steps: int, images: int) -> Report:
    """Train a small segmenter with each mixer of its coarse map, of as many weights."""
    chosen = list(dict.fromkeys(arms or ARMS))
    found = {
        arm: run.per_seed(arm, partial(_trained_and_tested, arm, steps, images)) for arm in chosen
    }
    means = {arm: [each["mean"] for each in some] for arm, some in found.items()}
    apart = corrected(
        {
            f"{arm} - {beside}": over_seeds(means[arm], means[beside])
            for beside in BESIDE
            for arm in chosen
            if beside in chosen and arm != beside and ARMS[arm].wiring == ARMS[beside].wiring
        }
    )
    rows: list[dict[str, Any]] = [
        {
            "arm": arm,
            "mean overlap": fmean(means[arm]),
            "p, Holm": None,
            **{
                kind: float(np.nanmean([each["overlap"][n] for each in some]))
                for n, kind in enumerate(CLASSES)
            },
            "weights": some[0]["weights"],
            "ms": fmean(each["ms"] for each in some),
        }
        for arm, some in found.items()
    ]
    rows += [
        {"arm": name, "mean overlap": one, "p, Holm": one.adjusted} for name, one in apart.items()
    ]
    return Report(rows)


def _trained_and_tested(arm: str, steps: int, images: int, seed: int) -> dict[str, Any]:
    net = trained(arm, seed, steps, images)
    found = tested(net)
    image, times = torch.zeros(1, 1, SIZE, SIZE), []
    with torch.no_grad():
        for _ in range(15):
            begun = time.perf_counter()
            net(image)
            times.append(1000 * (time.perf_counter() - begun))
    there = [value for value in found if value == value]
    return {
        "overlap": [value if value == value else None for value in found],
        "mean": fmean(there),
        "weights": weights(net.block),
        "ms": sorted(times)[7],
    }


def trained(arm: str, seed: int, steps: int, images: int = 2000) -> Segmenter:
    """Train one arm; arms of one seed learn from the same images, all blocks have one budget."""
    budget = weights(segmenter("corrected", len(CLASSES), SIZE).block)
    # Even seeds of images are for learning, the odd one of ``tested`` is for none of them.
    pixels, classes = (torch.from_numpy(part) for part in draw(images, 2 * seed))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = segmenter(arm, len(CLASSES), SIZE, budget=budget)

        def loss(_: int) -> Tensor:
            rows = torch.randint(len(pixels), (32,))
            losses = F.cross_entropy(net(pixels[rows]), classes[rows], reduction="none")
            return hardest(losses, losses.numel() // 4)

        fit(list(net.parameters()), loss, steps, 4e-3, decay=0.01)
    net.eval()
    return net


@torch.no_grad()
def tested(net: Segmenter) -> list[float]:
    """Overlap of each class on images never trained on."""
    images, classes = draw(TEST, 1)
    counts = np.zeros((len(CLASSES), len(CLASSES)), np.int64)
    for start in range(0, len(images), 50):
        called = net(torch.from_numpy(images[start : start + 50])).argmax(1).numpy()
        np.add.at(counts, (classes[start : start + 50], called), 1)
    return overlap(counts)


def overlap(counts: NDArray[np.int64]) -> list[float]:
    """Intersection over union of each class, over the pixels of all images together.

    Args:
        counts: ``(classes, classes)``: pixels of a class (row) that were called one (column).

    Returns:
        One number a class; NaN where the class is neither there nor guessed.
    """
    both = np.diag(counts).astype(np.float64)
    either = counts.sum(0) + counts.sum(1) - both
    found: list[float] = np.divide(
        both, either, out=np.full(len(both), np.nan), where=either > 0
    ).tolist()
    return found


def hardest(losses: Tensor, least: int, threshold: float = 0.9) -> Tensor:
    """Mean of the hardest pixels' losses (OHEM).

    Kept are those whose class has a probability of at most ``threshold``, and at least ``least``.
    As published the comparison is strict, and pixels that are all alike leave none: NaN.

    Args:
        losses: of each pixel, ``-ln p``, any shape.
        least: how many to keep, however easy they are.
        threshold: probability above which a pixel is easy.
    """
    losses = losses.flatten()
    least = min(max(least, 1), len(losses))
    bound = torch.exp(-losses.detach().topk(least).values[-1]).clamp(min=threshold)
    # The k-th hardest itself is kept, whatever exp and ln do to its last digit.
    return losses[torch.exp(-losses.detach()) <= bound * (1 + 1e-6)].mean()


def draw(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Draw images ``(count, 1, 32, 32)`` and the classes of their pixels ``(count, 32, 32)``."""
    rng = np.random.default_rng(seed)
    images, classes = np.zeros((count, SIZE, SIZE)), np.zeros((count, SIZE, SIZE), np.int64)
    row, column = np.indices((SIZE, SIZE))
    for image, labels in zip(images, classes, strict=True):
        for kind in (1, 2):
            radius = rng.integers(SIZE // 10, SIZE // 6 + 1)
            y, x = rng.integers(radius, SIZE - radius, 2)
            if kind == 1:
                inside = (row - y) ** 2 + (column - x) ** 2 <= radius**2
            else:
                inside = (abs(row - y) < radius) & (abs(column - x) < radius)
            image[inside], labels[inside] = rng.uniform(0.7, 1.3), kind
        _bar(image, labels, rng)
    images += NOISE * rng.standard_normal(images.shape)
    return images[:, None].astype(np.float32), classes


def _bar(image: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Lie a bar over the rest, along rows or columns, its telling end on either side."""
    kind = int(rng.integers(3, 5))
    length, thick, end = SIZE - SIZE // 8, SIZE // 10, SIZE // 8
    aside, start = int(rng.integers(0, SIZE - thick + 1)), int(rng.integers(0, SIZE - length + 1))
    if rng.random() < 0.5:
        image, labels = image.T, labels.T
    image[aside : aside + thick, start : start + length] = 1.0
    labels[aside : aside + thick, start : start + length] = kind
    first = start if rng.random() < 0.5 else start + length - end
    image[aside : aside + thick, first : first + end] = 2.2 if kind == 3 else -1.2
