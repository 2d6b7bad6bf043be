"""Filters over a list of documents in memory: each value of a key is tested once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from milepost.filters import facts
from milepost.filters.evaluate import holds
from milepost.filters.nodes import And, Compare, Exists, In, Missing, Node, Not, Or
from milepost.store.base import DocumentInfo
from milepost.types import Value

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of a key, each with the places of the documents that have it."""

    values: list[tuple[Value, NDArray[np.int64]]]
    there: Mask


class Columns:
    """The facts of some documents by key; a key is read when a filter first asks for it."""

    def __init__(self, documents: Sequence[DocumentInfo]) -> None:
        self._documents = documents
        self._columns: dict[str, _Column] = {}

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys that documents have of their own."""
        return frozenset().union(*(each.properties.keys() for each in self._documents))

    def matching(self, node: Node) -> Mask:
        """``(documents,)`` bool: which ones a filter leaves."""
        if isinstance(node, And):
            return reduce(np.logical_and, map(self.matching, node.nodes))
        if isinstance(node, Or):
            return reduce(np.logical_or, map(self.matching, node.nodes))
        if isinstance(node, Not):
            return ~self.matching(node.node)
        column = self._column(node.key)
        if isinstance(node, Exists):
            return column.there.copy()
        if isinstance(node, Missing):
            return ~column.there
        if isinstance(node, Compare) and node.operator == "!=":
            return column.there & ~self.matching(replace(node, operator="="))
        if isinstance(node, In) and node.negated:
            return column.there & ~self.matching(replace(node, negated=False))
        found = np.zeros(len(self._documents), np.bool_)
        for value, places in column.values:
            if holds(node, {node.key: value}):  # of several values one is enough
                found[places] = True
        return found

    def _column(self, key: str) -> _Column:
        if key not in self._columns:
            places: dict[tuple[type, Value], list[int]] = defaultdict(list)
            for place, info in enumerate(self._documents):
                held = facts(info, (key,)).get(key, ())
                for value in held if isinstance(held, tuple) else (held,):
                    places[type(value), value].append(place)  # 1.0 is not true
            there = np.zeros(len(self._documents), np.bool_)
            values: list[tuple[Value, NDArray[np.int64]]] = []
            for (_, single), some in places.items():
                at = np.array(some, np.int64)
                there[at] = True
                values.append((single, at))
            self._columns[key] = _Column(values, there)
        return self._columns[key]
