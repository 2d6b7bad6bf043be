"""Segmenters trained on shapes, one for each way to mix a coarse map, of equal size.

``ARM@random`` is the untrained baseline of an arm: its random network, frozen but for the last
layer. The other baselines of ``lab/controls`` are for texts; there are none for images.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F

from milepost.errors import InputError
from milepost_eval.statistics import Difference, corrected
from milepost_lab.controls.kinds import parted
from milepost_lab.differences import over_trainings
from milepost_lab.p2at.network.segmenter import ARMS, Segmenter, segmenter, weights
from milepost_lab.p2at.shapes import CLASSES, SIZE, draw
from milepost_lab.pieces import Pieces
from milepost_train.fit_steps import fit_steps
from milepost_train.schedule import warmed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRAIN, TEST = 2000, 500
"""Images to learn from, drawn anew for each seed, and images to test, the same for all."""

BESIDE = ("identity", "identity-published", "flat")
"""Arms of the reported differences: no block, and a block without its pyramid."""

_VERSION = 1
"""Of what the figures depend on here; a new one does not go on with what an older one kept."""

CONTROL = "corrected@random"
"""The untrained baseline below the table: a random network whose last layer alone is trained."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One arm trained once.

    Attributes:
        arm: its name.
        seed: of weights, of the images to learn from and of their order.
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
    name: str,
    seed: int,
    steps: int,
    *,
    budget: int | None = None,
    batch: int = 32,
    images: int | None = None,
) -> Segmenter:
    """Train one arm on shapes.

    Args:
        name: see ``network.segmenter.ARMS``; with ``@random`` only its last layer is trained.
        seed: of weights, images and order; arms of one seed learn from the same images.
        steps: of AdamW, its rate falling to 0 along half a cosine.
        budget: weights of the block, see ``segmenter``.
        batch: images a step.
        images: to learn from; None for ``TRAIN``.

    Raises:
        InputError: no such arm or control.
    """
    arm, control = parted(name)
    if control not in (None, "random"):
        raise InputError(f"{name}: {control} is text, not images", f"{arm}@random")
    # Even seeds of images are for learning, the odd one of ``tested`` is for none of them.
    pixels, classes = (torch.from_numpy(part) for part in draw(images or TRAIN, 2 * seed))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = segmenter(arm, len(CLASSES), SIZE, budget=budget)
        if control is not None:
            net.requires_grad_(False)
            net.classes.requires_grad_(True)
        learned = [weight for weight in net.parameters() if weight.requires_grad]

        def loss(_: int) -> Tensor:
            rows = torch.randint(len(pixels), (batch,))
            losses = F.cross_entropy(net(pixels[rows]), classes[rows], reduction="none")
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
    *,
    images: int | None = None,
    folder: Path | None = None,
) -> list[Outcome]:
    """Train and test every arm with every seed; all blocks have as many weights as ``corrected``.

    Seeds are the outer loop, so that a study that was stopped has all arms with fewer seeds.

    Args:
        arms: names, see ``trained``.
        seeds: how many, from 0.
        steps: of training.
        progress: called with an arm's name, what is done and of how much.
        images: to learn from; None for ``TRAIN``.
        folder: keeps finished trainings; None keeps nothing.

    Raises:
        InputError: no such arm, or the folder holds a study with other settings.
    """
    budget = weights(segmenter("corrected", len(CLASSES), SIZE).block)
    settings = {
        "version": f"version {_VERSION} of the study",
        "steps": f"--steps {steps}",
        "images": f"--images {images or TRAIN}",
        "tested": f"{TEST} test images",
    }
    pieces = Pieces(folder, repr((_VERSION, steps, images or TRAIN, TEST)), settings)
    outcomes: list[Outcome] = []
    for seed in range(seeds):
        for name in arms:
            progress(name, len(outcomes), len(arms) * seeds)

            def made(name: str = name, seed: int = seed) -> dict[str, Any]:
                begun = time.perf_counter()
                net = trained(name, seed, steps, budget=budget, images=images)
                seconds = time.perf_counter() - begun
                found = tested(net)
                return asdict(
                    Outcome(name, seed, weights(net.block), seconds, milliseconds(net), found)
                )

            kept = pieces.kept(f"{name.replace(' ', '-')}-{seed}", (name, seed), made)
            outcomes.append(Outcome(**{**kept, "overlap": tuple(kept["overlap"])}))
    return sorted(outcomes, key=lambda each: arms.index(each.arm))


def gains(outcomes: Sequence[Outcome]) -> dict[str, Difference]:
    """Differences of the mean overlap from each of ``BESIDE``, by ``a - b``, over the trainings.

    Only arms whose networks are wired alike are compared. Corrected for all differences.
    """
    means: dict[str, list[float]] = {}
    for each in sorted(outcomes, key=lambda one: one.seed):
        means.setdefault(each.arm, []).append(each.mean)
    found = {}
    for beside in BESIDE:
        for arm in means if beside in means else ():
            if "@" in arm or arm == beside or f"{beside} - {arm}" in found:
                continue
            if ARMS[arm].wiring == ARMS[beside].wiring and len(means[arm]) > 1:
                found[f"{arm} - {beside}"] = over_trainings(means[arm], means[beside])
    return corrected(found)
