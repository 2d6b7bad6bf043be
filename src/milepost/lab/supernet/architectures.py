"""Architectures: where to halve, and what each halving makes of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from milepost.lab.supernet.placements import Placement


@dataclass(frozen=True, slots=True)
class Architecture:
    """A placement and its joins.

    Attributes:
        placement: layers at each resolution.
        joins: of each halving, in order; none where any will do.
    """

    placement: Placement
    joins: tuple[str, ...] = ()


def architectures(placements: Sequence[Placement], joins: Sequence[str]) -> list[Architecture]:
    """Every placement with every join at each of its halvings.

    >>> [each.joins for each in architectures([(1, 2)], ("mean", "max"))]
    [('mean',), ('max',)]

    Returns:
        ``placements · joins^halvings``; with one join, the placements in their order.
    """
    return [
        Architecture(placement, how)
        for placement in placements
        for how in product(joins, repeat=len(placement) - 1)
    ]
