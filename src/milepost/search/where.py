"""Which documents a filter leaves, and what is said where it leaves none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from milepost.filters.facts import BUILT_IN, facts, known_keys

if TYPE_CHECKING:
    from milepost.filters import Filter
    from milepost.store.base import DocumentInfo

_LONGEST = 200
"""Characters of a filter that a note repeats."""


def matching(
    documents: Sequence[DocumentInfo], where: Filter, names: Collection[str] | None = None
) -> list[DocumentInfo]:
    """The documents that a filter leaves, in order.

    Args:
        documents: all documents of a state: a key that none of them has is unknown.
        where: the filter.
        names: of documents that may be searched; None for all.

    Raises:
        InputError: a key of the filter is unknown, with the nearest that is known.
    """
    if documents and not where.keys <= BUILT_IN:
        where.check_keys(known_keys(documents))
    return [
        info
        for info in documents
        if (names is None or info.name in names) and where.matches(facts(info, where.keys))
    ]


def no_match(where: Filter) -> str:
    """What is said where a filter leaves no document."""
    written = str(where)
    return f"no document matches {written if len(written) <= _LONGEST else written[:199] + '…'}"
