"""What was read of documents, kept in memory: a document never changes under its id."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, TypeVar

V = TypeVar("V")


class Cache(Generic[V]):
    """Values by id, the least lately used ones given up; safe to use from several threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._held: OrderedDict[int, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, ids: Iterable[int]) -> dict[int, V]:
        """The values that are held of these."""
        found = {}
        with self._lock:
            for each in ids:
                if each in self._held:
                    self._held.move_to_end(each)
                    found[each] = self._held[each][0]
        return found

    def put(self, number: int, value: V, size: int) -> None:
        """Hold a value of so many bytes."""
        with self._lock:
            if number in self._held:
                return
            self._held[number] = value, size
            self._bytes += size
            while self._bytes > self._most:
                _, (_, freed) = self._held.popitem(last=False)
                self._bytes -= freed
