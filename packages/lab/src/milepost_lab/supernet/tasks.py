"""Tasks with a clear best architecture: max-magnitude pairs, ordered motifs, textured discs.

Each needs two kinds of information at once: one that a first halving can lose, and one that a few
layers at full length cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from milepost.errors import InputError, nearest
from milepost_lab.pooling.hierarchy import JOINS
from milepost_lab.supernet import max_magnitude as pairs
from milepost_lab.supernet.architectures import Architecture, architectures
from milepost_lab.supernet.nets import ImageNet, TextNet
from milepost_lab.supernet.placements import macs, placements, resolution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Part = tuple[Tensor, Tensor]
"""Inputs and classes."""


@dataclass(frozen=True, slots=True)
class Task:
    """The data and the nets that architectures are searched for.

    Attributes:
        name: see ``TASKS``.
        architectures: the search space.
        macs: multiplications of each, for one example.
        resolution: resolution of each, see ``placements.resolution``.
        train: examples that nets learn from.
        search: examples for the assignment of architectures to nets; they give no gradients.
        choice: examples for the choice of an architecture.
        test: examples for the measured accuracy.
        net: makes a net whose weights serve every architecture, drawn from torch's generator; the
            net maps inputs and an architecture to logits.
        rate: initial learning rate.
    """

    name: str
    architectures: list[Architecture]
    macs: list[int]
    resolution: list[float]
    train: Part
    search: Part
    choice: Part
    test: Part
    net: Callable[[], nn.Module]
    rate: float


LAYERS, POOLINGS = 6, 2
PAIR_LAYERS = 5
"""Layers of the task with all joins: six placements times nine ways to join, each trained alone."""
SIZES = {"train": 8192, "search": 1024, "choice": 1024, "test": 1024}
"""Examples of each part."""

LENGTH, WIDTH, CHANNELS = 32, 8, 16
SYMBOLS = 4
MOTIFS = ((0, 2, 2, 2, 1), (1, 2, 2, 2, 0))
"""They differ in order alone: averages of pairs keep the symbols and lose their order."""
DECOYS = ((0, 2, 1), (1, 2, 0))
"""They are mixed with the motifs in any order, so that end symbols do not reveal the class."""

SIDE = 16
IMAGE_CHANNELS = 8


def motifs(count: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Draw rows of symbols that contain both motifs: class 1 if the second comes first.

    Returns:
        ``(count, LENGTH, WIDTH)`` float32, channels of the symbols and empty channels, with noise;
        and ``(count,)`` classes.
    """
    import numpy as np

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
    """Draw images of two discs, side by side or one above the other, filled with checks or stripes.

    Returns:
        ``(count, 1, SIDE, SIDE)`` float32 and ``(count,)`` classes, ``2 · above + stripes``.
    """
    import numpy as np

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


def max_magnitude(seed: int = 0, joins: Sequence[str] = JOINS) -> Task:
    """Make the task of pairs that differ in magnitude alone, for the text hierarchy.

    The right join follows from what a block cannot see, see ``max_magnitude.py``. As for the right
    placement, one block at full length is too few before a mean, and comparing positions needs
    blocks with a long range, as those after the last halving have.
    """
    layer = [pairs.LENGTH * pairs.WIDTH * (3 + 2 * CHANNELS)] * PAIR_LAYERS
    return _task(
        "max-magnitude",
        pairs.max_magnitude_pairs,
        seed,
        layer,
        2,
        joins,
        lambda: TextNet(pairs.WIDTH, CHANNELS, PAIR_LAYERS, POOLINGS, 2),
        1e-2,
    )


def planted(seed: int = 0, joins: Sequence[str] = ("mean",)) -> Task:
    """Make the task of motifs in order, for the text hierarchy.

    The motifs must be distinguished before the first halving: the one block at full length that
    every placement has can distinguish their ends. Comparing their positions needs blocks with a
    long range, as those after the last halving have.
    """
    layer = [LENGTH * WIDTH * (3 + 2 * CHANNELS)] * LAYERS
    return _task(
        "planted",
        motifs,
        seed,
        layer,
        2,
        joins,
        lambda: TextNet(WIDTH, CHANNELS, LAYERS, POOLINGS, 2),
        1e-2,
    )


def shapes(seed: int = 0, joins: Sequence[str] = ("max",)) -> Task:
    """Make the task of textured discs, for the published form: convolutions and 2x2 max pools."""
    layer = [SIDE**2 * 9 * IMAGE_CHANNELS] + [SIDE**2 * 9 * IMAGE_CHANNELS**2] * (LAYERS - 1)
    return _task(
        "shapes",
        textures,
        seed,
        layer,
        4,
        joins,
        lambda: ImageNet(IMAGE_CHANNELS, LAYERS, POOLINGS, 4),
        4e-3,
    )


TASKS: dict[str, Callable[..., Task]] = {
    "max-magnitude": max_magnitude,
    "planted": planted,
    "shapes": shapes,
}
"""Functions that make each task, by name; called with a seed and, optionally, joins."""


def task(name: str, seed: int = 0, joins: Sequence[str] = ()) -> Task:
    """Make a task by its name.

    Args:
        name: see ``TASKS``.
        seed: seed of its examples.
        joins: operations that a halving may use; by default those of the task.

    Raises:
        InputError: an unknown task or join.
    """
    if name not in TASKS:
        raise InputError(
            f"unknown task {name!r}", f"{nearest(name, TASKS)}one of {', '.join(TASKS)}"
        )
    for join in joins:
        if join not in JOINS:
            raise InputError(
                f"unknown join {join!r}", f"{nearest(join, JOINS)}one of {', '.join(JOINS)}"
            )
    return TASKS[name](seed, joins) if joins else TASKS[name](seed)


def _task(
    name: str,
    make: Callable[[int, np.random.Generator], tuple[NDArray[np.float32], NDArray[np.int64]]],
    seed: int,
    layer: list[int],
    shrink: int,
    joins: Sequence[str],
    net: Callable[[], nn.Module],
    rate: float,
) -> Task:
    import numpy as np

    rng = np.random.default_rng(seed)
    parts: dict[str, Part] = {}
    for part, size in SIZES.items():
        inputs, classes = make(size, rng)
        parts[part] = torch.from_numpy(inputs), torch.from_numpy(classes)
    all_ = architectures(placements(len(layer), POOLINGS), joins)
    return Task(
        name,
        all_,
        [macs(each.placement, layer, shrink) for each in all_],
        [resolution(each.placement, shrink) for each in all_],
        **parts,
        net=net,
        rate=rate,
    )
