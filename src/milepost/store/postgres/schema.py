"""The tables of an index, made, checked and removed."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import errors as pg
from psycopg import sql

from milepost.errors import NotAnIndex, StoreError
from milepost.store.check import Model, check_address, missing
from milepost.store.conditions import HEAD
from milepost.store.postgres.address import Address
from milepost.store.postgres.connecting import Connection, extension_schema, scalar, search_path

VERSION = 6
"""Of the tables; it goes up with every change of them, and of what the model or the
words of an index read."""

OLDEST_VECTOR = (0, 8)
"""pgvector from which an index goes on past the rows that a filter rejects (iterative scans)."""

INDEX_FROM = 60_000
"""Sentences from which an approximate index is made. A search reads all of fewer: exact, and
faster than an index is worth."""

_SINGLE = """
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE counter (next_row bigint NOT NULL);
CREATE TABLE totals (
    documents bigint NOT NULL, sentences bigint NOT NULL, terms bigint NOT NULL,
    dead bigint NOT NULL
);
CREATE TABLE documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    source text,
    hash text NOT NULL,
    size bigint,
    mtime_ns bigint,
    characters bigint NOT NULL,
    sentences integer NOT NULL,
    terms bigint NOT NULL,
    first bigint NOT NULL,
    notes text NOT NULL,
    options text NOT NULL,
    properties jsonb NOT NULL
);
CREATE INDEX documents_first ON documents (first, id)
"""

PARTED = {
    "bodies": (
        "document bigint PRIMARY KEY, bounds bytea NOT NULL, lengths bytea NOT NULL, "
        "vocab_coverage bytea NOT NULL, paragraph_starts bytea NOT NULL, marks bytea NOT NULL"
    ),
    "pieces": (
        "document bigint, number integer, text bytea STORAGE EXTERNAL NOT NULL, "
        "PRIMARY KEY (document, number)"
    ),
    "vectors": (
        "document bigint, number integer, scale real NOT NULL, "
        "vector halfvec({dimensions}) NOT NULL, PRIMARY KEY (document, number)"
    ),
    "facts": (
        'document bigint NOT NULL, key text COLLATE "C" NOT NULL, text text COLLATE "C", '
        'number float8, flag boolean, dated text COLLATE "C"'
    ),
    "postings": (
        'term text COLLATE "C", document bigint, sentences integer NOT NULL, held bytea NOT NULL, '
        "PRIMARY KEY (term, document) INCLUDE (sentences)"
    ),
}
"""Tables whose rows belong to one document; partitions by hash of it."""

_INDEXES = {
    "postings": "CREATE INDEX ON postings (document)",
    "facts": f"""
CREATE INDEX ON facts (document, key);
CREATE INDEX ON facts (key, left(text, {HEAD}));
CREATE INDEX ON facts (key, number, dated) INCLUDE (document) WHERE number IS NOT NULL;
CREATE INDEX ON facts (key, dated) INCLUDE (document) WHERE dated IS NOT NULL
""",
}


_TRIES = 5

_RACES = (
    pg.UniqueViolation,
    pg.DuplicateObject,
    pg.DuplicateTable,
    pg.DuplicateSchema,
    pg.UndefinedTable,
    pg.InvalidSchemaName,
)
"""Errors of a process while another one, not always Milepost, makes or erases the same."""


def ready(connection: Connection, address: Address, model: Model, *, create: bool) -> str:
    """Make and check the tables, in one transaction; give pgvector's schema."""
    for left in reversed(range(_TRIES)):
        try:
            with connection.transaction():
                meta = _meta(connection, address)
                if meta is None and create:
                    _alone(connection)
                    if _meta(connection, address) is None:
                        _create(connection, address, model)
                    meta = _meta(connection, address)
                if meta is None:
                    raise missing(address.label)
                check_address(int(meta["version"]), VERSION, meta, model, address.label)
                check_server(connection, address)
                return extension_schema(connection)
        except _RACES:
            if not left:
                raise
        time.sleep(0.1)
    raise AssertionError


def _alone(connection: psycopg.Connection[Any]) -> None:
    """Wait until no other process makes or erases tables in this database, of any schema.

    The extension belongs to all schemas: with a lock of each, two processes that open a new
    database would both create it.
    """
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('milepost', 0))")


def _create(connection: psycopg.Connection[Any], address: Address, model: Model) -> None:
    fingerprint, dimensions = model
    check_server(connection, address, create=True)
    path = search_path(address, extension_schema(connection))
    connection.execute("SELECT set_config('search_path', %s, true)", (path,))
    connection.execute(
        sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(address.schema))
    )
    if connection.execute(
        "SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(%s) LIMIT 1", (address.schema,)
    ).fetchone():
        raise NotAnIndex(f"{address.label}: the schema holds other tables", "?schema=NAME")
    connection.execute(_SINGLE)
    for name in PARTED:
        _create_parted(connection, name, address.partitions, dimensions)
    meta = {"version": VERSION, "fingerprint": fingerprint, "dimensions": dimensions}
    for key, value in meta.items():
        connection.execute("INSERT INTO meta VALUES (%s, %s)", (key, str(value)))
    connection.execute("INSERT INTO counter VALUES (0)")
    connection.execute("INSERT INTO totals VALUES (0, 0, 0, 0)")


def _create_parted(
    connection: psycopg.Connection[Any], name: str, partitions: int, dimensions: int
) -> None:
    columns = PARTED[name].format(dimensions=dimensions)
    statements = [f"CREATE TABLE {name} ({columns}) PARTITION BY HASH (document)"]
    statements += (
        f"CREATE TABLE {name}_{number} PARTITION OF {name} "
        f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
        for number in range(partitions)
    )
    connection.execute(";".join([*statements, _INDEXES.get(name, "")]).encode())


def check_server(
    connection: psycopg.Connection[Any], address: Address, *, create: bool = False
) -> None:
    """Make sure that the server has pgvector, and a version that can do what is asked of it."""
    row = connection.execute(
        "SELECT default_version, installed_version FROM pg_available_extensions "
        "WHERE name = 'vector'"
    ).fetchone()
    if row is None:
        raise StoreError(
            f"{address.label}: the server has no pgvector", "apt install postgresql-18-pgvector"
        )
    available, installed = row
    if installed is None and create:
        _create_extension(connection, address)
        installed = available
    version = tuple(int(part) for part in str(installed or "0.0").split(".")[:2])
    if version < OLDEST_VECTOR:
        raise StoreError(
            f"{address.label}: pgvector {installed or 'is not installed'}, 0.8 or newer is needed",
            "ALTER EXTENSION vector UPDATE",
        )


def _create_extension(connection: psycopg.Connection[Any], address: Address) -> None:
    # Without a name it would be in the index's own schema where an administrator has made that, and
    # no other index would find it.
    has_public = scalar(connection, "SELECT to_regnamespace('public') IS NOT NULL")
    into = "public" if has_public else "extensions"
    try:
        if into == "extensions":
            connection.execute("CREATE SCHEMA IF NOT EXISTS extensions")
        connection.execute(f"CREATE EXTENSION IF NOT EXISTS vector SCHEMA {into}".encode())
    except pg.InsufficientPrivilege:
        raise StoreError(
            f"{address.label}: the extension vector is not in the database, and the user may not "
            "create it",
            "CREATE EXTENSION vector, as an administrator",
        ) from None


def erase(connection: psycopg.Connection[Any], address: Address) -> None:
    """Remove the tables of an index of any version, and the schema where nothing else is in it."""
    with connection.transaction():
        _alone(connection)
        if _meta(connection, address) is None:
            raise missing(address.label)
        for table in ("documents", "totals", "counter", "meta", *PARTED):
            connection.execute(
                sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(address.schema, table))
            )
        with suppress(pg.DependentObjectsStillExist), connection.transaction():
            connection.execute(sql.SQL("DROP SCHEMA {}").format(sql.Identifier(address.schema)))


def _meta(connection: psycopg.Connection[Any], address: Address) -> dict[str, str] | None:
    """What the tables say of their version and model; None where there are none."""
    asked = sql.SQL(
        "SELECT key, value FROM {} WHERE key IN ('version', 'fingerprint', 'dimensions')"
    ).format(sql.Identifier(address.schema, "meta"))
    try:
        # Asking first whether the table is there would leave time to erase it.
        with connection.transaction():
            found = dict(connection.execute(asked).fetchall())
    except (pg.UndefinedTable, pg.UndefinedColumn, pg.InvalidSchemaName):
        return None
    return found if str(found.get("version")).isdecimal() else None
