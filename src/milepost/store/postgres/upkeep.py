"""What keeps tables small and fast: totals in one row, statistics, the index of vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from milepost.errors import StoreError
from milepost.store.postgres import schema
from milepost.store.postgres.connecting import Connection, scalar

_TABLES = ("documents", *schema.PARTED)

_GROWN = 10
"""The part of the sentences, one in so many, from which the planner's statistics are made anew.
Without any a search takes half as long again at most (100,000 sentences); they take seconds."""

_COUNT = re.compile(r"\d+")

_PATIENCE = "10min"  # how long the index waits for transactions that began before it


def vacuum(connection: Connection, *, now: bool = False) -> bool:
    """Give back the space of deleted rows; behind a pooler that is left to autovacuum.

    With ``now`` the tables are written anew, since a page keeps the bytes of rows until others take
    their place; searches wait meanwhile, and a pooler is refused. Returns whether deleted rows had
    to stay then: an older transaction, of any table of the database, may read them.
    """
    if now:
        refuse_pooler(connection)
    join_totals(connection, dead=0)
    if connection.pooled:
        return False
    kept: list[str] = []

    def note(said: psycopg.errors.Diagnostic) -> None:
        if said.source_function == "copy_table_data":  # "3 dead row versions cannot be removed"
            kept.extend(_COUNT.findall(said.message_detail or "")[:1])

    connection.add_notice_handler(note)
    try:
        for table in _TABLES:
            full = ", FULL, VERBOSE" if now else ""
            connection.execute(f"VACUUM (ANALYZE{full}) {table}".encode())
    finally:
        connection.remove_notice_handler(note)
    _note(connection, _sentences(connection))
    return any(map(int, kept))


def refuse_pooler(connection: Connection) -> None:
    """Raise an error where tables cannot be written anew."""
    if connection.pooled:
        raise StoreError(
            "a pooler is between, through which tables cannot be written anew",
            "--now with the address of the server itself",
        )


def optimize(connection: Connection) -> None:
    """Bring the statistics up to date; make the approximate index once it is worth it.

    Behind a pooler neither is done: it takes statements that no transaction may hold, and a lock
    that lasts longer than one.
    """
    join_totals(connection)
    if connection.pooled:
        return
    sentences = _sentences(connection)
    noted = int(scalar(connection, "SELECT value FROM meta WHERE key = 'analyzed'") or 0)
    if abs(sentences - noted) * _GROWN >= max(sentences, 1):
        for table in _TABLES:
            connection.execute(f"ANALYZE {table}".encode())
        _note(connection, sentences)
    if sentences >= schema.INDEX_FROM:
        _index_vectors(connection)


def join_totals(connection: Connection, dead: int | None = None) -> None:
    """Add the rows of totals up to one: every search adds up those that are there.

    Writers, which only add rows, do not wait. ``dead`` rows are counted anew if that is not None.
    """
    with connection.transaction():
        connection.execute(
            "WITH old AS (DELETE FROM totals RETURNING *) INSERT INTO totals "
            "SELECT sum(documents), sum(sentences), sum(terms), coalesce(%s::int8, sum(dead)) "
            "FROM old HAVING count(*) > 0",
            (dead,),
        )
    if not connection.pooled:
        connection.execute("VACUUM totals")


def _sentences(connection: psycopg.Connection[Any]) -> int:
    return int(scalar(connection, "SELECT sum(sentences) FROM totals"))


def _note(connection: psycopg.Connection[Any], sentences: int) -> None:
    connection.execute(
        "INSERT INTO meta VALUES ('analyzed', %s) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (str(sentences),),
    )


def _index_vectors(connection: psycopg.Connection[Any]) -> None:
    """Make the index of vectors part by part, while others search and write.

    What a process that was killed has left of it is made anew.
    """
    with _alone(connection) as alone:
        if not alone or _is_valid(connection, "vectors_near"):
            return
        form = "USING hnsw (vector halfvec_cosine_ops) WITH (m = 16, ef_construction = 128)"
        connection.execute(
            f"CREATE INDEX IF NOT EXISTS vectors_near ON ONLY vectors {form}".encode()
        )
        connection.execute(f"SET lock_timeout = '{_PATIENCE}'; SET maintenance_work_mem = '1GB'")
        try:
            for part in _parts(connection):
                name = part.replace("vectors", "vectors_near")
                if not _is_valid(connection, name):
                    connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}".encode())
                    connection.execute(
                        f"CREATE INDEX CONCURRENTLY {name} ON {part} {form}".encode()
                    )
                connection.execute(f"ALTER INDEX vectors_near ATTACH PARTITION {name}".encode())
        finally:
            connection.execute("RESET lock_timeout; RESET maintenance_work_mem")


@contextmanager
def _alone(connection: psycopg.Connection[Any]) -> Iterator[bool]:
    """Whether no other process makes the index; none begins in the block."""
    key = "hashtextextended('milepost vectors_near ' || current_schema, 0)"
    alone: bool = scalar(connection, f"SELECT pg_try_advisory_lock({key})".encode())
    try:
        yield alone
    finally:
        if alone and not connection.broken:
            connection.execute(f"SELECT pg_advisory_unlock({key})".encode())


def _is_valid(connection: psycopg.Connection[Any], name: str) -> bool:
    query = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    return bool(scalar(connection, query, (name,)))


def _parts(connection: psycopg.Connection[Any]) -> list[str]:
    found = connection.execute(
        "SELECT relname::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
        "WHERE inhparent = 'vectors'::regclass ORDER BY relname"
    ).fetchall()
    return [name for (name,) in found]
