"""Architectures: where to halve, and how each halving joins a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from milepost_lab.supernet.placements import Placement


@dataclass(frozen=True, slots=True)
class Architecture:
    """A placement and its joins.

    Attributes:
        placement: layers at each resolution.
        joins: the join of each halving, in order; empty if any will do.
    """

    placement: Placement
    joins: tuple[str, ...] = ()


def architectures(placements: Sequence[Placement], joins: Sequence[str]) -> list[Architecture]:
    """Combine every placement with every join at each of its halvings.

    >>> [each.joins for each in architectures([(1, 2)], ("mean", "max"))]
    [('mean',), ('max',)]

    Returns:
        ``placements · joins^halvings`` architectures; with one join, in the placements' order.
    """
    return [
        Architecture(placement, how)
        for placement in placements
        for how in product(joins, repeat=len(placement) - 1)
    ]
