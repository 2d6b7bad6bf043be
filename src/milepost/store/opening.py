"""From a folder, an address, or neither to a store; the heavy imports wait for the call."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from milepost._optional import require
from milepost._paths import expanded
from milepost.store.address import TABLES, IndexPlace, index_place
from milepost.store.base import Store


def open_store(
    place: str | os.PathLike[str] | None,
    *,
    fingerprint: str,
    dimensions: int,
    create: bool = True,
    read_only: bool = False,
    patience_s: float = 5.0,
) -> Store:
    """Open the index in a folder or at an address, or an empty one in memory where it is None.

    An index that can be read but not written opens all the same; its first ``put`` says why not.
    With ``create`` the place may be missing or empty; ``read_only`` never makes one. A write waits
    ``patience_s`` for another writer before it is refused.

    Raises:
        NotAnIndex: the folder holds something else, or nothing and nothing may be created.
        WrongModel: the index was made with another fingerprint or width.
        NewerSchema, OldSchema: the index was made by another Milepost.
        IndexDamaged: the index is damaged.
        StoreError: the folder cannot be read or written, or the server or storage not be reached.
        MissingExtra: the package for such an address is not installed.
    """
    if place is None:
        from milepost.store.memory import MemoryStore

        return MemoryStore(fingerprint, dimensions)
    create = create and not read_only
    store, _, found = _implementation(place)
    return store(
        found, fingerprint, dimensions, create=create, read_only=read_only, patience_s=patience_s
    )


def erase_store(place: str | os.PathLike[str], *, patience_s: float = 5.0) -> None:
    """Remove the index at ``place`` (of any model, schema or state), and nothing else."""
    _, erase, found = _implementation(place)
    erase(found, patience_s=patience_s)


def _implementation(
    place: str | os.PathLike[str],
) -> tuple[Callable[..., Store], Callable[..., None], IndexPlace]:
    """The store for a place, what erases one, and the place as both take it."""
    found = index_place(place)
    if isinstance(found, Path):
        from milepost.store.sqlite import SqliteStore, erase

        return SqliteStore, erase, expanded(found)
    if found.startswith(TABLES):
        require("lancedb", extra="lance")
        from milepost.store.lance.store import LanceStore, erase_tables

        return LanceStore, erase_tables, found
    require("psycopg_pool", extra="postgres")
    from milepost.store.postgres.store import PostgresStore, erase_schema

    return PostgresStore, erase_schema, found
