"""Segmenters trained on shapes, one for each way to mix a coarse map, of equal size.

``ARM@random`` is the untrained baseline of an arm: its random network, frozen but for the last
layer. The other baselines of ``lab/controls`` are for texts; there are none for images.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from milepost.errors import InputError
from milepost.lab.controls.kinds import parted
from milepost.lab.p2at.network.segmenter import Segmenter, segmenter, weights
from milepost.lab.p2at.shapes import CLASSES, SIZE, draw
from milepost.train.fit_steps import fit_steps
from milepost.train.schedule import warmed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRAIN, TEST = 500, 200

CONTROL = "corrected@random"
"""The untrained baseline below the table: a random network whose last layer alone is trained."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One arm trained once.

    Attributes:
        arm: its name.
        seed: of weights and of the order of images; the images are the same for all.
        weights: of the block.
        seconds: training, wall clock.
        milliseconds: one image through the network: the median of several, after some to warm up.
        overlap: intersection over union of each class; NaN for a class that is neither there nor
            guessed.
    """

    arm: str
    seed: int
    weights: int
    seconds: float
    milliseconds: float
    overlap: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the classes that there are."""
        there = [value for value in self.overlap if value == value]
        return sum(there) / len(there)


def overlap(counts: NDArray[np.int64]) -> tuple[float, ...]:
    """Intersection over union of each class, over the pixels of all images together.

    Args:
        counts: ``(classes, classes)``: pixels of a class (row) that were called one (column).

    Returns:
        One number a class; NaN where the class is neither there nor guessed.
    """
    import numpy as np

    both = np.diag(counts).astype(np.float64)
    either = counts.sum(0) + counts.sum(1) - both
    return tuple(np.divide(both, either, out=np.full(len(both), np.nan), where=either > 0).tolist())


def hardest(losses: Tensor, least: int, threshold: float = 0.9) -> Tensor:
    """Mean of the hardest pixels' losses (OHEM).

    Kept are those whose class has a probability of at most ``threshold``, and at least ``least``.
    As published the comparison is strict, and pixels that are all alike leave none: the mean of
    nothing, NaN.

    Args:
        losses: of each pixel, ``-ln p``, any shape.
        least: how many to keep, however easy they are.
        threshold: probability above which a pixel is easy.
    """
    losses = losses.flatten()
    least = min(max(least, 1), len(losses))
    bound = torch.exp(-losses.detach().topk(least).values[-1]).clamp(min=threshold)
    # The k-th hardest itself is kept, whatever exp and ln do to its last digit.
    hard = losses[torch.exp(-losses.detach()) <= bound * (1 + 1e-6)]
    return hard.mean()


def trained(
    name: str, seed: int, steps: int, *, budget: int | None = None, batch: int = 32
) -> Segmenter:
    """Train one arm on the shapes of seed 0.

    Args:
        name: see ``network.segmenter.ARMS``; with ``@random`` only its last layer is trained.
        seed: of weights and order.
        steps: of AdamW, its rate falling to 0 along half a cosine.
        budget: weights of the block, see ``segmenter``.
        batch: images a step.

    Raises:
        InputError: no such arm or control.
    """
    arm, control = parted(name)
    if control not in (None, "random"):
        raise InputError(f"{name}: {control} is text, not images", f"{arm}@random")
    images, classes = (torch.from_numpy(part) for part in draw(TRAIN, 0))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = segmenter(arm, len(CLASSES), SIZE, budget=budget)
        if control is not None:
            net.requires_grad_(False)
            net.classes.requires_grad_(True)
        learned = [weight for weight in net.parameters() if weight.requires_grad]

        def loss(_: int) -> Tensor:
            rows = torch.randint(len(images), (batch,))
            losses = F.cross_entropy(net(images[rows]), classes[rows], reduction="none")
            return hardest(losses, losses.numel() // 4)

        adam = torch.optim.AdamW(learned, lr=4e-3, weight_decay=0.01)
        fit_steps(adam, steps, loss, share=partial(warmed, warm_up=0), clipped=learned)
    net.eval()
    return net


@torch.no_grad()
def tested(net: Segmenter) -> tuple[float, ...]:
    """Overlap of each class on images never trained on."""
    import numpy as np

    images, classes = draw(TEST, 1)
    counts = np.zeros((len(CLASSES), len(CLASSES)), np.int64)
    for start in range(0, len(images), 50):
        called = net(torch.from_numpy(images[start : start + 50])).argmax(1).numpy()
        np.add.at(counts, (classes[start : start + 50], called), 1)
    return overlap(counts)


@torch.no_grad()
def milliseconds(net: Segmenter, runs: int = 15) -> float:
    """Milliseconds of one image: the median after three warm-up runs."""
    image = torch.zeros(1, 1, SIZE, SIZE)
    taken: list[float] = []
    for run in range(runs + 3):
        begun = time.perf_counter()
        net(image)
        if run >= 3:
            taken.append(time.perf_counter() - begun)
    return 1000 * sorted(taken)[runs // 2]


def study(
    arms: Sequence[str],
    seeds: int,
    steps: int,
    progress: Callable[[str, int, int], None] = lambda _, __, ___: None,
) -> list[Outcome]:
    """Train and test every arm with every seed; all blocks have as many weights as ``corrected``.

    Args:
        arms: names, see ``trained``.
        seeds: how many, from 0.
        steps: of training.
        progress: called with an arm's name, what is done and of how much.
    """
    budget = weights(segmenter("corrected", len(CLASSES), SIZE).block)
    outcomes: list[Outcome] = []
    for name in arms:
        for seed in range(seeds):
            progress(name, len(outcomes), len(arms) * seeds)
            begun = time.perf_counter()
            net = trained(name, seed, steps, budget=budget)
            seconds = time.perf_counter() - begun
            outcomes.append(
                Outcome(name, seed, weights(net.block), seconds, milliseconds(net), tested(net))
            )
    return outcomes
