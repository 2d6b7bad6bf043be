"""Tasks whose best architecture is worth finding: loud pairs, motifs in order, textured discs.

Each asks for two things at once, one that a first halving can lose and one that only few layers at
full length cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from milepost.errors import InputError, nearest
from milepost.lab.supernet import max_magnitude as loud_pairs
from milepost.lab.supernet.architectures import Architecture, architectures
from milepost.lab.supernet.nets import ImageNet, TextNet
from milepost.lab.supernet.placements import macs, placements, resolution
from milepost.pooling.hierarchy import JOINS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Part = tuple[Tensor, Tensor]
"""Inputs and classes."""


@dataclass(frozen=True, slots=True)
class Task:
    """What architectures are searched for.

    Attributes:
        name: see ``TASKS``.
        architectures: all there are.
        macs: of each, for one example.
        resolution: of each, see ``placements.resolution``.
        train: examples that nets learn from.
        search: examples that say which net should train what; no gradient comes from them.
        choice: fresh ones, that architectures are chosen on.
        test: fresh ones, that the truth is measured on.
        net: makes a net whose weights serve every architecture, from torch's random numbers; called
            with inputs and an architecture it gives logits.
        rate: of learning, at the beginning.
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
LOUD_LAYERS = 5
"""Of the task with all joins: six placements times nine ways to join, each trained alone."""
SIZES = {"train": 8192, "search": 1024, "choice": 1024, "test": 1024}
"""Examples of each part."""

LENGTH, WIDTH, CHANNELS = 32, 8, 16
SYMBOLS = 4
MOTIFS = ((0, 2, 2, 2, 1), (1, 2, 2, 2, 0))
"""Alike but for their order; averages of pairs hold what is in them and not in which order."""
DECOYS = ((0, 2, 1), (1, 2, 0))
"""Stand among the motifs in any order, so that the first and last symbols tell nothing."""

SIDE = 16
IMAGE_CHANNELS = 8


def motifs(count: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows of symbols that hold both motifs: class 1 where the second comes first.

    Returns:
        ``(count, LENGTH, WIDTH)`` float32, the symbols' channels and room beside them, with noise;
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
    """Images of two discs, side by side or one above the other, filled with checks or stripes.

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


def loud(seed: int = 0, joins: Sequence[str] = JOINS) -> Task:
    """Pairs that only their loudness tells apart, in order, for the text hierarchy.

    How to halve is planted by what a block cannot read, see ``loud_pairs``. Where: one block at
    full length is too few before a mean; and to compare places blocks must see far, as those after
    the last halving do.
    """
    layer = [loud_pairs.LENGTH * loud_pairs.WIDTH * (3 + 2 * CHANNELS)] * LOUD_LAYERS
    return _task(
        "loud",
        loud_pairs.said,
        seed,
        layer,
        2,
        joins,
        lambda: TextNet(loud_pairs.WIDTH, CHANNELS, LOUD_LAYERS, POOLINGS, 2),
        1e-2,
    )


def planted(seed: int = 0, joins: Sequence[str] = ("mean",)) -> Task:
    """Motifs in order, for the text hierarchy.

    To tell the motifs apart something must be done before the first halving: the one block at full
    length, which every placement has, can set their ends apart. To compare their places blocks
    must see far, as those after the last halving do.
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
    """Textured discs, for the published form: convolutions and 2x2 max pools."""
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


TASKS: dict[str, Callable[..., Task]] = {"loud": loud, "planted": planted, "shapes": shapes}
"""Every task by its name; called with a seed and joins, or with neither."""


def task(name: str, seed: int = 0, joins: Sequence[str] = ()) -> Task:
    """A task by its name.

    Args:
        name: see ``TASKS``.
        seed: of its examples.
        joins: what a halving may make of a pair; where none are given, those of the task.

    Raises:
        InputError: there is no such task, or no such join.
    """
    if name not in TASKS:
        raise InputError(
            f"there is no task {name!r}", f"{nearest(name, TASKS)}one of {', '.join(TASKS)}"
        )
    for join in joins:
        if join not in JOINS:
            raise InputError(
                f"there is no join {join!r}", f"{nearest(join, JOINS)}one of {', '.join(JOINS)}"
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
