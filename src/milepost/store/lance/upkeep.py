"""What keeps tables small and fast: dead rows out, small files joined, indexes made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from lancedb.index import BTree, HnswSq

from milepost.store.lance import schema
from milepost.store.lance.log import folded
from milepost.store.lance.loop import together
from milepost.store.lance.state import GRACE_S

_KEPT = timedelta(seconds=GRACE_S)
_INSTANT = timedelta(milliseconds=1)

_AT_ONCE = 5_000  # numbers in one condition

_MANY_FILES = 8
"""Files of a table from which they are joined: each put makes one, and each is a request."""


async def vacuum(tables: dict[str, Any]) -> None:
    """Take out the rows of documents that are gone, and of writers that were killed."""
    await together(*(table.checkout_latest() for table in tables.values()))
    log = tables[schema.LOG]
    records = folded(await log.query().to_arrow())
    await together(
        *(_sweep(tables[name], records.listing.ids, records.gone) for name in schema.HELD)
    )
    # The log forgets them last: a vacuum that is killed is done again.
    await _delete(log, "event", records.idle)
    await together(*(_joined(table, 1) for table in tables.values()))


async def rewrite(tables: dict[str, Any], sentences: int) -> None:
    """Write all rows into new files, and remove all older files and indexes."""
    ours = [tables[name] for name in (schema.LOG, *schema.HELD)]
    for table in ours:
        for index in await table.list_indices():
            await table.drop_index(index.name)
        first = (await table.schema()).names[0]
        await table.update(updates_sql={first: first})
    await optimize(tables, sentences)
    await asyncio.sleep(10 * _INSTANT.total_seconds())  # all of these versions are older then
    for table in ours:
        await table.optimize(cleanup_older_than=_INSTANT)


async def _sweep(table: Any, alive: Any, gone: Sequence[int]) -> None:
    long_ago = int(time.time()) - GRACE_S
    rows = await table.query().select(["document"]).where(f"written < {long_ago}").to_arrow()
    left = np.setdiff1d(rows["document"].to_numpy(), alive)
    await _delete(table, "document", sorted({*left.tolist(), *gone}))


async def _delete(table: Any, column: str, numbers: Sequence[int]) -> None:
    for at in range(0, len(numbers), _AT_ONCE):
        some = ", ".join(map(str, numbers[at : at + _AT_ONCE]))
        await table.delete(f"{column} IN ({some})")


async def optimize(tables: dict[str, Any], sentences: int) -> None:
    """Join small files; make indexes once they are worth it, and bring them up to date."""
    await together(*(table.checkout_latest() for table in tables.values()))
    await together(*(_joined(table, _MANY_FILES) for table in tables.values()))
    if sentences >= schema.INDEX_FROM:
        await _indexed(tables[schema.POSTINGS], "token", "document")
        await _indexed(tables[schema.PARTS], "document")
        await _indexed(tables[schema.VECTORS], "document", "vector")


async def _joined(table: Any, files: int) -> None:
    statistics = await table.stats()
    if statistics["fragment_stats"]["num_fragments"] >= files:
        await table.optimize(cleanup_older_than=_KEPT)


async def _indexed(table: Any, *columns: str) -> None:
    """Make the indexes that are missing; those that are there take in the new rows."""
    made = {each.columns[0] for each in await table.list_indices()}
    if made:
        await table.optimize(cleanup_older_than=_KEPT)
    for column in columns:
        if column not in made:
            hnsw = HnswSq(distance_type="cosine", m=20, ef_construction=200)
            await table.create_index(column, config=hnsw if column == "vector" else BTree())
