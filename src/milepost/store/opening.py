"""From a folder, or none, to a store; the heavy imports wait for the call."""

from __future__ import annotations

from pathlib import Path

from milepost.store.address import index_folder
from milepost.store.base import Store


def open_store(
    folder: Path | None,
    *,
    fingerprint: str,
    dimensions: int,
    create: bool = True,
    read_only: bool = False,
    patience_s: float = 5.0,
) -> Store:
    """Open the index in ``folder``, or an empty one in memory where it is None.

    An index that can be read but not written opens all the same; its first ``put`` says why not.

    Args:
        folder: the index; with ``create`` it may be missing or empty.
        fingerprint: fingerprint of the model that makes the vectors.
        dimensions: width of its vectors.
        create: make an index where there is none.
        read_only: never write, nor create; ``put`` and ``delete`` are refused.
        patience_s: how long a write waits for another writer before it is refused.

    Raises:
        NotAnIndex: the folder holds something else, or nothing and nothing may be created.
        WrongModel: the index was made with another fingerprint or width.
        NewerSchema: the index was made by a newer Milepost.
        OldSchema: the index was made by an older Milepost.
        IndexDamaged: the index is damaged.
        StoreError: the folder cannot be read or written, or is the address of a server.
    """
    if folder is None:
        from milepost.store.memory import MemoryStore

        return MemoryStore(fingerprint, dimensions)
    from milepost.store.sqlite import SqliteStore

    return SqliteStore(
        index_folder(folder),
        fingerprint,
        dimensions,
        create=create and not read_only,
        read_only=read_only,
        patience_s=patience_s,
    )


def erase_store(folder: Path, *, patience_s: float = 5.0) -> None:
    """Remove the index in ``folder`` (of any model, schema or state), and no other file.

    Raises:
        NotAnIndex: the folder holds no index.
        IndexBusy: another process is writing.
        StoreError: the files cannot be removed.
    """
    from milepost.store.sqlite import erase

    erase(index_folder(folder), patience_s=patience_s)
