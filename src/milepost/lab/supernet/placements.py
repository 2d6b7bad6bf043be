"""Placements of poolings among layers, what they cost, and which are worth their cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

Placement = tuple[int, ...]
"""Layers at each resolution, from the finest on."""


def placements(layers: int, poolings: int) -> list[Placement]:
    """Every way of putting poolings into the gaps between layers, in lexicographic order.

    >>> placements(4, 2)
    [(1, 1, 2), (1, 2, 1), (2, 1, 1)]

    Returns:
        ``C(layers - 1, poolings)`` placements; no resolution is without a layer.
    """
    found: list[Placement] = []
    for cuts in combinations(range(1, layers), poolings):
        ends = (0, *cuts, layers)
        found.append(tuple(b - a for a, b in pairwise(ends)))
    return found


def even(layers: int, poolings: int) -> Placement:
    """The placement that everybody takes: as many layers everywhere, the first ones first.

    >>> even(10, 2)
    (4, 3, 3)
    """
    least, more = divmod(layers, poolings + 1)
    return tuple(least + (level < more) for level in range(poolings + 1))


def macs(placement: Placement, layer: Sequence[int], shrink: int) -> int:
    """Multiplications of all layers.

    Args:
        placement: see ``Placement``.
        layer: multiplications of each layer at full resolution.
        shrink: places that become one at a pooling: 2 for text, 4 for images.
    """
    levels = [level for level, layers in enumerate(placement) for _ in range(layers)]
    return sum(cost // shrink**level for cost, level in zip(layer, levels, strict=True))


def resolution(placement: Placement, shrink: int) -> float:
    """Layers counted by the share of places they see: ``a + b/4 + c/16`` for images.

    >>> resolution((4, 3, 3), 4)
    4.9375
    """
    return sum(layers / shrink**level for level, layers in enumerate(placement))


def pareto(costs: Sequence[float], values: Sequence[float]) -> list[bool]:
    """Which are worth their cost: nothing cheaper or as cheap has a value as good or better.

    >>> pareto([1, 2, 3, 3], [5, 4, 6, 7])
    [True, False, False, True]
    """
    both = list(zip(costs, values, strict=True))
    return [
        not any(c <= cost and v >= value and (c, v) != (cost, value) for c, v in both)
        for cost, value in both
    ]
