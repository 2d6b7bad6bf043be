"""Placements of poolings among layers, their cost, and which are Pareto-optimal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

Placement = tuple[int, ...]
"""Number of layers at each resolution, from the finest."""


def placements(layers: int, poolings: int) -> list[Placement]:
    """List every way of putting poolings into the gaps between layers, in lexicographic order.

    >>> placements(4, 2)
    [(1, 1, 2), (1, 2, 1), (2, 1, 1)]

    Returns:
        ``C(layers - 1, poolings)`` placements; every resolution has at least one layer.
    """
    found: list[Placement] = []
    for cuts in combinations(range(1, layers), poolings):
        ends = (0, *cuts, layers)
        found.append(tuple(b - a for a, b in pairwise(ends)))
    return found


def even(layers: int, poolings: int) -> Placement:
    """The usual placement: as many layers at each resolution, the remainder at the first ones.

    >>> even(10, 2)
    (4, 3, 3)
    """
    least, more = divmod(layers, poolings + 1)
    return tuple(least + (level < more) for level in range(poolings + 1))


def macs(placement: Placement, layer: Sequence[int], shrink: int) -> int:
    """Count the multiplications of all layers.

    Args:
        placement: see ``Placement``.
        layer: multiplications of each layer at full resolution.
        shrink: positions that a pooling merges into one: 2 for text, 4 for images.
    """
    levels = [level for level, layers in enumerate(placement) for _ in range(layers)]
    return sum(cost // shrink**level for cost, level in zip(layer, levels, strict=True))


def resolution(placement: Placement, shrink: int) -> float:
    """Layers weighted by the share of positions they see: ``a + b/4 + c/16`` for images.

    >>> resolution((4, 3, 3), 4)
    4.9375
    """
    return float(sum(layers / shrink**level for level, layers in enumerate(placement)))


def pareto(costs: Sequence[float], values: Sequence[float]) -> list[bool]:
    """Mark what is Pareto-optimal: no other with at most its cost has a value at least as good.

    >>> pareto([1, 2, 3, 3], [5, 4, 6, 7])
    [True, False, False, True]
    """
    both = list(zip(costs, values, strict=True))
    return [
        not any(c <= cost and v >= value and (c, v) != (cost, value) for c, v in both)
        for cost, value in both
    ]
