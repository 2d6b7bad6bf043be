"""Whether the names and the filter of a search leave any document, and what is said if not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.filters import Filter
    from milepost.store.base import Among, Snapshot

_LONGEST = 200
"""Characters of a filter that a note repeats."""


def leaves_nothing(snapshot: Snapshot, among: Among) -> bool:
    """Whether there are documents and a filter leaves none of them.

    Raises:
        InputError: a key of the filter is unknown, with the nearest that is known.
    """
    if among.where is None or not snapshot.statistics().documents:
        return False
    return snapshot.select(among, most=0) == []


def no_match(where: Filter) -> str:
    """What is said where a filter leaves no document."""
    written = str(where)
    return f"no document matches {written if len(written) <= _LONGEST else written[:199] + '…'}"
