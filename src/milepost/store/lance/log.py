"""The log of documents, and what it comes to: which documents there are.

Each deed appends one row, and an append conflicts with nothing: so writers need no lock, and a
document is there, or replaced, or gone with that one row. Of a name the last ``PUT`` or ``DELETE``
counts; of a document, the last ``TOUCH``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from milepost.store.base import DocumentInfo, Statistics
from milepost.store.listing import Listing
from milepost.store.records import COLUMNS, TOUCHED, document_info

PUT, TOUCH, DELETE = range(3)


@dataclass(frozen=True)
class Records:
    """The documents of one version of the log, and counts over them.

    ``gone`` are ids of documents that were replaced or deleted, ``idle`` events that count no more.
    """

    listing: Listing
    statistics: Statistics
    gone: list[int]
    idle: list[int]


def folded(log: pa.Table) -> Records:
    """What a log comes to."""
    last: dict[str, dict[str, Any]] = {}
    touches: dict[int, dict[str, Any]] = {}
    puts: list[dict[str, Any]] = []
    for row in log.sort_by([("sequence", "ascending"), ("event", "ascending")]).to_pylist():
        if row["kind"] == TOUCH:
            touches[row["id"]] = row
            continue
        if row["kind"] == PUT:
            puts.append(row)
        last[row["name"]] = row
    live = {row["id"]: row for row in last.values() if row["kind"] == PUT}
    counting = {row["event"] for row in live.values()}
    counting |= {row["event"] for id_, row in touches.items() if id_ in live}
    idle = [event for event in log["event"].to_pylist() if event not in counting]
    gone = [row for row in puts if row["id"] not in live]
    documents = [_info(row, touches.get(id_)) for id_, row in live.items()]
    documents.sort(key=lambda info: (info.first, info.id))
    return Records(
        Listing(documents),
        Statistics(
            len(documents),
            sum(info.sentences for info in documents),
            sum(row["terms"] for row in live.values()),
            sum(row["sentences"] for row in gone),
        ),
        [row["id"] for row in gone],
        idle,
    )


def _info(row: dict[str, Any], touch: dict[str, Any] | None) -> DocumentInfo:
    if touch is not None:
        row = row | {name: touch[name] for name in TOUCHED}
    return document_info([row[name] for name in COLUMNS])
