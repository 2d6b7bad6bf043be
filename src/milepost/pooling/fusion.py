"""What a fusion of two vectors is: a row of the table, and the parts that rows are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost.pooling.operator import Parameter
from milepost.pooling.sketch import DRAWN, drawn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.pooling.operator import Weights

    Array = NDArray[np.floating]

Shapes = dict[str, tuple[int, ...]]

ROOT = 1e-4
"""``signed_root`` has the slope 1 / (2 √ROOT) = 50 at 0."""

NORM = 1e-12
"""Added to the squares of a norm."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """A row of the table.

    Attributes:
        name: what it is called.
        title: what it does, a few words.
        paper: an arXiv number, or "" for what everybody knows.
        equation: the core, one line.
        shapes: settings and the widths of x and y → the shape of each weight of the core, and the
            width of what comes out of it. A bias stands behind its map.
        core: brings x ``(…, m)`` and y ``(…, n)`` together, ``(…, k)``; they broadcast.
        parameters: settings by name.
    """

    name: str
    title: str
    paper: str
    equation: str
    shapes: Callable[[Mapping[str, Any], int, int], tuple[Shapes, int]]
    core: Callable[[Array, Array, Mapping[str, Any], Weights], Array]
    parameters: Mapping[str, Parameter]

    def weights(self, settings: Mapping[str, Any], m: int, n: int) -> Shapes:
        """The shape of each weight, those drawn once with them.

        Raises:
            InputError: the settings do not go together, or not with these widths.
        """
        shapes, wide = self.shapes(settings, m, n)
        return {**shapes, **mapped("out", settings["out"], wide, settings)}

    def parameter_count(self, settings: Mapping[str, Any], m: int, n: int) -> int:
        """Numbers that are trained; what is drawn once does not count."""
        shapes = self.weights(settings, m, n)
        return sum(math.prod(shape) for name, shape in shapes.items() if name not in DRAWN)

    def start(
        self, settings: Mapping[str, Any], m: int, n: int, random: np.random.Generator
    ) -> dict[str, NDArray[np.float32]]:
        """Weights that training begins with: uniform within ±1/√(width of what a map reads)."""
        import numpy as np

        shapes = self.weights(settings, m, n)
        made = drawn(self.name, m, n, settings["hidden"], random) if DRAWN & {*shapes} else {}
        bound = 0.0
        for name, shape in shapes.items():
            if name in DRAWN:
                continue
            if len(shape) > 1:
                bound = 1 / math.sqrt(shape[-1])
            made[name] = random.uniform(-bound, bound, shape).astype(np.float32)
        return made

    def fuse(self, x: Array, y: Array, settings: Mapping[str, Any], weights: Weights) -> Array:
        """``out(core(x, y))``, ``(…, out)``."""
        return linear(self.core(x, y, settings, weights), "out", weights)


def signed_root(z: Array, eps: float = ROOT) -> Array:
    """``sign(z)(√(|z| + eps) - √eps)``: odd, 0 at 0, and of finite slope there.

    ``sign(z)√|z|`` has no end to its slope, and its gradient at 0 is NaN.
    """
    import numpy as np

    return z / (np.sqrt(np.abs(z) + eps) + math.sqrt(eps))


def normal(z: Array) -> Array:
    """Signed root, then unit length along the last axis; what is 0 stays 0."""
    import numpy as np

    rooted = signed_root(z)
    result: Array = rooted / np.sqrt((rooted**2).sum(-1, keepdims=True) + NORM)
    return result


def linear(v: Array, name: str, weights: Weights) -> Array:
    """The map ``name`` of weights, with its bias where it has one."""
    return v @ weights[f"{name}_map"].T + weights.get(f"{name}_bias", 0.0)


def chunk_sizes(width: int, chunks: int) -> list[int]:
    """Sizes that differ by 1 at most: 10 in 4 are 3, 3, 2, 2.

    A rounded-up size for all but the last leaves 6 in 4 as 2, 2, 2 and nothing.

    Raises:
        InputError: there are more chunks than numbers.

    >>> chunk_sizes(10, 4), chunk_sizes(6, 4)
    ([3, 3, 2, 2], [2, 2, 1, 1])
    """
    if chunks > width:
        raise InputError(f"{width} numbers cannot be cut into {chunks} chunks", "give fewer chunks")
    return [width // chunks + (n < width % chunks) for n in range(chunks)]


def mapped(name: str, out: int, wide: int, settings: Mapping[str, Any]) -> Shapes:
    """Shapes of a map, and of its bias where the settings want one."""
    bias = {f"{name}_bias": (out,)} if settings["bias"] else {}
    return {f"{name}_map": (out, wide), **bias}
