"""Group windows into batches under a token budget, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches(
    items: Iterable[tuple[int, Item]], *, budget: int, look_ahead: int = 64
) -> Iterator[list[Item]]:
    """Group items of similar length.

    Items are taken ``look_ahead`` at a time and sorted by length inside that group only, so that
    padding is small and memory does not grow with the number of items.

    Args:
        items: pairs of length in tokens and item.
        budget: maximum tokens of a batch, padding included; a longer item gets its own batch.
        look_ahead: number of items held at once.

    >>> list(batches([(5, "a"), (9, "b"), (4, "c")], budget=10))
    [['c', 'a'], ['b']]
    """
    stream = iter(items)
    while group := sorted(islice(stream, look_ahead), key=lambda pair: pair[0]):
        batch: list[Item] = []
        for length, item in group:
            if batch and (len(batch) + 1) * length > budget:
                yield batch
                batch = []
            batch.append(item)
        yield batch
