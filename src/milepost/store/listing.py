"""All documents of one state in memory: by name, by row, by filter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from milepost.filters import Filter, facts
from milepost.store.base import ALL, DocumentInfo, DocumentSelection
from milepost.store.local import LocalSnapshot, count

Ranges = NDArray[np.int64]
"""``(m, 2)`` int64: the first row of each of some documents and the row behind its last,
ascending."""


class Listing:
    """The documents of a state by their first row, which never change; its snapshots share them."""

    def __init__(self, documents: Sequence[DocumentInfo]) -> None:
        self.documents = list(documents)
        self._passing = lru_cache(maxsize=16)(self._pass)  # the same few are asked for again

    @cached_property
    def place_of(self) -> dict[str, int]:
        return {info.name: place for place, info in enumerate(self.documents)}

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys that documents have of their own."""
        return frozenset().union(*(info.properties.keys() for info in self.documents))

    def _pass(self, where: Filter, _written: str) -> NDArray[np.bool_]:
        """Which documents a filter leaves, ``(documents,)``; as written 1 differs from true."""
        passing = (where.matches(facts(info, where.keys)) for info in self.documents)
        return np.fromiter(passing, np.bool_, len(self.documents))

    @cached_property
    def ranges(self) -> Ranges:
        """Those of the documents, of which some are empty."""
        runs = [(info.first, info.first + info.sentences) for info in self.documents]
        return np.array(runs, np.int64).reshape(-1, 2)

    def get(self, name: str) -> DocumentInfo | None:
        place = self.place_of.get(name)
        return None if place is None else self.documents[place]

    def places(self, among: DocumentSelection) -> NDArray[np.int64]:
        """Places of the documents of ``among``, ascending."""
        if among.names is None:
            left = np.arange(len(self.documents))
        else:
            held = [self.place_of[name] for name in among.names if name in self.place_of]
            left = np.sort(np.array(held, np.int64))
        if among.where is None:
            return left
        matching: NDArray[np.int64] = left[self._passing(among.where, str(among.where))[left]]
        return matching

    def owning(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of the document that owns each of some rows."""
        # A document without rows has the first row of the next one, and stands before it.
        return np.searchsorted(self.ranges[:, 0], rows, side="right") - 1

    @cached_property
    def ids(self) -> NDArray[np.int64]:
        return np.array([info.id for info in self.documents], np.int64)

    @cached_property
    def _by_id(self) -> NDArray[np.int64]:
        return np.argsort(self.ids)

    def alive(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which ids are documents', and the first row of each of those that are."""
        if not self.documents:
            return np.zeros(len(ids), np.bool_), np.empty(0, np.int64)
        known = self.ids[self._by_id]
        at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        there = known[at] == ids
        return there, self.ranges[self._by_id[at[there]], 0]


class ListedSnapshot(LocalSnapshot):
    """The calls about documents of a store that has the list of them in memory."""

    listing: Listing

    def select(
        self, among: DocumentSelection, most: int | None = None
    ) -> list[DocumentInfo] | None:
        among.check_keys(self.keys)
        if among == ALL:
            beyond = most is not None and self.statistics().sentences > most
            return None if beyond else list(self.listing.documents)
        places = self.listing.places(among)
        if most is not None and count(self.listing.ranges[places]) > most:
            return None
        return [self.listing.documents[place] for place in places]

    def owners(self, rows: NDArray[np.int64]) -> list[DocumentInfo]:
        places = self.listing.owning(rows).tolist()
        return [self.listing.documents[place] for place in dict.fromkeys(places)]

    def keys(self) -> frozenset[str]:
        return self.listing.keys | {"document"} if self.listing.documents else frozenset()

    def ranges(self, among: DocumentSelection) -> NDArray[np.int64]:
        runs = self.listing.ranges[self.listing.places(among)]
        return runs[runs[:, 0] < runs[:, 1]]
