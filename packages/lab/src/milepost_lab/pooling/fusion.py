"""Fusions of two vectors: a row of the table, and the building blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.operator import Parameter
from milepost_lab.pooling.sketch import DRAWN, drawn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

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
        name: name of the fusion.
        title: what it does, in a few words.
        paper: an arXiv number, or "" for common knowledge.
        equation: the core, one line.
        shapes: settings and the widths of x and y → the shape of each weight of the core, and the
            width of its output. A bias follows its map.
        core: combines x ``(…, m)`` and y ``(…, n)``, which broadcast, to ``(…, k)``.
        parameters: settings by name.
        active: whether a ReLU follows; without it a sum of two sides has no interaction.
    """

    name: str
    title: str
    paper: str
    equation: str
    shapes: Callable[[Mapping[str, Any], int, int], tuple[Shapes, int]]
    core: Callable[[Array, Array, Mapping[str, Any], Weights], Array]
    parameters: Mapping[str, Parameter]
    active: bool = False

    def weights(self, settings: Mapping[str, Any], m: int, n: int) -> Shapes:
        """Compute the shape of each weight, including those drawn once.

        Raises:
            InputError: the settings do not fit each other or these widths.
        """
        shapes, wide = self.shapes(settings, m, n)
        return {**shapes, **mapped("out", settings["out"], wide, settings)}

    def parameter_count(self, settings: Mapping[str, Any], m: int, n: int) -> int:
        """Number of trained weights, without those drawn once."""
        shapes = self.weights(settings, m, n)
        return sum(math.prod(shape) for name, shape in shapes.items() if name not in DRAWN)

    def start(
        self, settings: Mapping[str, Any], m: int, n: int, random: np.random.Generator
    ) -> dict[str, NDArray[np.float32]]:
        """Draw initial weights: uniform within ±1/√(input width of a map)."""
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
        """``out(core(x, y))``, ``(…, out)``; see ``active``."""
        fused = linear(self.core(x, y, settings, weights), "out", weights)
        return fused.clip(min=0) if self.active else fused


def signed_root(z: Array, eps: float = ROOT) -> Array:
    """``sign(z)(√(|z| + eps) - √eps)``: odd, 0 at 0, and of finite slope there.

    The slope of ``sign(z)√|z|`` is unbounded, and its gradient at 0 is NaN.
    """
    import numpy as np

    return z / (np.sqrt(np.abs(z) + eps) + math.sqrt(eps))


def normal(z: Array) -> Array:
    """Signed root, then unit length along the last axis; 0 stays 0."""
    import numpy as np

    rooted = signed_root(z)
    result: Array = rooted / np.sqrt((rooted**2).sum(-1, keepdims=True) + NORM)
    return result


def linear(v: Array, name: str, weights: Weights) -> Array:
    """Apply the linear map ``name``, with its bias if it has one."""
    return v @ weights[f"{name}_map"].T + weights.get(f"{name}_bias", 0.0)


def chunk_sizes(width: int, chunks: int) -> list[int]:
    """Split a width into chunks whose sizes differ by 1 at most: 10 into 4 gives 3, 3, 2, 2.

    Rounding up all sizes but the last would split 6 into 4 as 2, 2, 2, 0.

    Raises:
        InputError: there are more chunks than numbers.

    >>> chunk_sizes(10, 4), chunk_sizes(6, 4)
    ([3, 3, 2, 2], [2, 2, 1, 1])
    """
    if chunks > width:
        raise InputError(f"{width} numbers cannot be cut into {chunks} chunks", "give fewer chunks")
    return [width // chunks + (n < width % chunks) for n in range(chunks)]


def mapped(name: str, out: int, wide: int, settings: Mapping[str, Any]) -> Shapes:
    """Shapes of a map, and of its bias if the setting ``bias`` is on."""
    bias = {f"{name}_bias": (out,)} if settings["bias"] else {}
    return {f"{name}_map": (out, wide), **bias}
