"""Generated images of shapes on noise, with a class for each pixel; two classes need long range.

    0 ground   1 disc   2 square   3 bar with a bright end   4 bar with a dark end

A bar is nearly as long as the image. Both classes of bars differ in a few pixels at one end
only, so a network with a short range can only guess at the other end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLASSES = ("ground", "disc", "square", "bright bar", "dark bar")
SIZE = 32
NOISE = 0.25


def draw(count: int, seed: int, size: int = SIZE) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Draw images.

    Args:
        count: how many.
        seed: same seed, same images.
        size: pixels a side, from 16 on.

    Returns:
        ``(count, 1, size, size)`` float32 and the classes of their pixels, ``(count, size, size)``.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    images = np.zeros((count, size, size))
    classes = np.zeros((count, size, size), np.int64)
    for image, labels in zip(images, classes, strict=True):
        _round_and_square(image, labels, rng)
        _bar(image, labels, rng)
    images += NOISE * rng.standard_normal(images.shape)
    return images[:, None].astype(np.float32), classes


def _round_and_square(
    image: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator
) -> None:
    import numpy as np

    size = len(image)
    row, column = np.indices(image.shape)
    for kind in (1, 2):
        radius = rng.integers(size // 10, size // 6 + 1)
        y, x = rng.integers(radius, size - radius, 2)
        if kind == 1:
            inside = (row - y) ** 2 + (column - x) ** 2 <= radius**2
        else:
            inside = (abs(row - y) < radius) & (abs(column - x) < radius)
        image[inside], labels[inside] = rng.uniform(0.7, 1.3), kind


def _bar(image: NDArray[np.float64], labels: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Lie a bar over the rest, along rows or columns, its telling end on either side."""
    size = len(image)
    kind = int(rng.integers(3, 5))
    length, thick, end = size - size // 8, size // 10, size // 8
    aside = int(rng.integers(0, size - thick + 1))
    start = int(rng.integers(0, size - length + 1))
    if rng.random() < 0.5:
        image, labels = image.T, labels.T
    body = slice(aside, aside + thick), slice(start, start + length)
    image[body], labels[body] = 1.0, kind
    first = start if rng.random() < 0.5 else start + length - end
    image[body[0], first : first + end] = 2.2 if kind == 3 else -1.2
