"""The tables of an index, made, checked and removed.

``documents`` is a log: what was put, touched and deleted, one row each, and nothing of it is ever
changed. It is made last and says of which version and model the index is. The others hold the
parts of documents, under the document's id.
"""

from __future__ import annotations

import uuid
from typing import Any

import lancedb
import pyarrow as pa

from milepost.errors import IndexDamaged, NotAnIndex
from milepost.store.check import Model, check_address, missing
from milepost.store.lance.address import Address
from milepost.store.lance.loop import together

VERSION = 5
"""Of the tables; it goes up with every change of them, and of what the model or the
words of an index read."""

INDEX_FROM = 60_000
"""Sentences from which indexes are made. A search reads all vectors of fewer: exact, and they stay
in memory."""

LOG = "documents"
PARTS, POSTINGS, VECTORS = HELD = ("parts", "postings", "vectors")
WRITERS = "writers"


def _fields(kind: pa.DataType, *columns: str) -> list[tuple[str, pa.DataType]]:
    return [(name, kind) for name in columns]


def columns(table: str, dimensions: int = 1) -> pa.Schema:
    """The columns of a table; a vector is 16-bit floats that are the whole numbers of int8."""
    small, large, text, data = pa.int32(), pa.int64(), pa.string(), pa.binary()
    own = _fields(large, "document", "written")
    return pa.schema(
        {
            # The version of a commit is the number of a writer: nobody else gets it.
            WRITERS: _fields(large, "started"),
            # number: -2 what is kept of the sentences, -1 the marks, 0 … the pieces of the text
            PARTS: [*own, ("number", small), ("data", data)],
            POSTINGS: [("token", text), *own, ("sentences", small), ("held", data)],
            VECTORS: [
                *own,
                ("number", small),
                ("scale", pa.float32()),
                ("vector", pa.list_(pa.float16(), dimensions)),
            ],
            # kind: see ``log``; sequence: the version of the log that the writer saw, and one
            LOG: [
                ("event", large),
                ("kind", pa.int8()),
                *_fields(large, "sequence", "id"),
                *_fields(text, "name", "source", "hash"),
                *_fields(large, "size", "mtime_ns", "characters", "sentences", "terms", "first"),
                *_fields(text, "notes", "options", "properties"),
            ],
        }[table]
    )


async def connect(address: Address) -> Any:
    """Connect to the folder or bucket."""
    return await lancedb.connect_async(address.uri, storage_options=address.options or None)


async def names(database: Any) -> set[str]:
    """Names of the tables."""
    return set((await database.list_tables(limit=1000)).tables)


async def opened(address: Address) -> tuple[Any, Any, pa.Schema]:
    """The database, its log, and the log's columns with what it says of the index."""
    if address.folder is not None and not (address.folder / f"{LOG}.lance").is_dir():
        raise missing(address.label)  # connecting would make the folder
    database = await connect(address)
    try:
        log = await database.open_table(LOG)
    except ValueError as error:
        if f"'{LOG}' was not found" not in str(error):
            raise
        raise missing(address.label) from None
    return database, log, await log.schema()


async def prepare(address: Address, model: Model) -> None:
    """Make the tables that are missing; ``documents`` is the last one."""
    fingerprint, dimensions = model
    _check_folder(address)
    database = await connect(address)
    there = await names(database)
    if LOG in there:
        return
    if there - {WRITERS, *HELD}:
        raise NotAnIndex(
            f"{address.label} holds other tables and no index", "an address with nothing there"
        )
    await together(
        *(
            _create(database, name, columns(name, dimensions))
            for name in (WRITERS, *HELD)
            if name not in there
        )
    )
    about = {
        "milepost": str(VERSION),
        "fingerprint": fingerprint,
        "dimensions": str(dimensions),
        "made": uuid.uuid4().hex,
    }
    await _create(database, LOG, columns(LOG).with_metadata(about))


async def _create(database: Any, name: str, schema: pa.Schema) -> None:
    try:
        await database.create_table(name, schema=schema)
    except (ValueError, RuntimeError):
        if name not in await names(database):
            raise
        # Another process has made it meanwhile.


def check(found: Any, address: Address, model: Model) -> str:
    """Make sure that the log is one of this version and model; returns its own mark."""
    held: dict[str, str] = {
        key.decode(): value.decode() for key, value in (found.metadata or {}).items()
    }
    if not held.get("milepost", "").isdecimal():
        raise NotAnIndex(f"{address.label} holds other tables", "an address with nothing there")
    check_address(int(held["milepost"]), VERSION, held, model, address.label)
    return held["made"]


async def erase(address: Address) -> None:
    """Remove the tables of an index of any version, and its folder where nothing else is in it."""
    if address.folder is not None and not address.folder.is_dir():
        raise missing(address.label)
    database = await connect(address)
    there = await names(database)
    try:
        log = await database.open_table(LOG) if LOG in there else None
        known = log is not None and b"milepost" in ((await log.schema()).metadata or {})
    except RuntimeError:
        said = f"{address.label} may not be an index: its table {LOG} cannot be read"
        raise IndexDamaged(said, "delete its folder yourself, or another address") from None
    if not known:
        raise missing(address.label)
    for name in (LOG, WRITERS, *HELD):
        if name in there:
            await database.drop_table(name)
    if address.folder is not None and not any(address.folder.iterdir()):
        address.folder.rmdir()


def _check_folder(address: Address) -> None:
    folder = address.folder
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise NotAnIndex(f"{address.label} is a file", "--db lance:///FOLDER")
    if folder.is_dir() and any(each.suffix != ".lance" for each in folder.iterdir()):
        if (folder / f"{LOG}.lance").exists():
            return
        raise NotAnIndex(
            f"{address.label} holds other files and no index", "an empty or new folder"
        )
