"""What one transaction writes: a document in, a document out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from milepost.filters.fact_rows import Fact, kept_facts
from milepost.store.base import DocumentInfo
from milepost.store.postgres.connecting import scalar
from milepost.store.records import Prepared, touched
from milepost.store.strings import escape

_FACTS = (
    "INSERT INTO facts SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::float8[], "
    "%s::boolean[], %s::text[])"
)

_HEADER, _TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"


def reserved(connection: psycopg.Connection[Any], rows: int) -> int:
    """Take row numbers that nobody else gets; a transaction of its own, so that nobody waits."""
    with connection.transaction():
        query = "UPDATE counter SET next_row = next_row + %s RETURNING next_row - %s"
        return int(scalar(connection, query, (rows, rows)))


def put(connection: psycopg.Connection[Any], first: int, entry: Prepared) -> None:
    """Write an entry and take out the one of its name, inside the caller's transaction."""
    # Two writers of one document come one after the other.
    connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(current_schema || ' ' || %s, 1))",
        (entry.record["name"],),
    )
    delete(connection, entry.record["name"])
    document = scalar(
        connection,
        "INSERT INTO documents (name, source, hash, size, mtime_ns, characters, sentences, terms, "
        "first, notes, options, properties) VALUES (%(name)s, %(source)s, %(hash)s, %(size)s, "
        "%(mtime_ns)s, %(characters)s, %(sentences)s, %(terms)s, %(first)s, %(notes)s, "
        "%(options)s, %(properties)s::jsonb) RETURNING id",
        entry.record | {"first": first},
    )
    _write_facts(connection, document, entry.facts)
    connection.execute(
        "INSERT INTO bodies VALUES (%s, %s, %s, %s, %s, %s)", (document, *entry.body)
    )
    pieces = ((document, number, piece) for number, piece in enumerate(entry.pieces))
    _copy(connection, "pieces", ("int8", "int4", "bytea"), pieces)
    terms = ((term, document, sentences, held) for term, sentences, held in entry.terms)
    _copy(connection, "postings", ("text", "int8", "int4", "bytea"), terms)
    with connection.cursor().copy("COPY vectors FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(_HEADER)
        copy.write(_vector_rows(document, entry.scales, entry.values))
        copy.write(_TRAILER)
    _count(connection, 1, entry.record["sentences"], entry.record["terms"], 0)


def _copy(
    connection: psycopg.Connection[Any],
    table: str,
    types: tuple[str, ...],
    rows: Iterable[tuple[object, ...]],
) -> None:
    with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT BINARY)".encode()) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def _vector_rows(document: int, scales: NDArray[np.float32], values: NDArray[np.int8]) -> bytes:
    """Rows of the table ``vectors``, made by NumPy, as all are of one size.

    See "Binary Format" in PostgreSQL's documentation of COPY, and pgvector's ``halfvec_send``.
    """
    n, width = values.shape
    form = np.dtype(
        [
            ("fields", ">i2"),
            ("document_size", ">i4"),
            ("document", ">i8"),
            ("number_size", ">i4"),
            ("number", ">i4"),
            ("scale_size", ">i4"),
            ("scale", ">f4"),
            ("vector_size", ">i4"),
            ("width", ">i2"),
            ("unused", ">i2"),
            ("values", ">f2", (width,)),
        ]
    )
    rows = np.zeros(n, form)
    rows["fields"] = 4
    rows["document_size"], rows["document"] = 8, document
    rows["number_size"], rows["number"] = 4, np.arange(n)
    rows["scale_size"], rows["scale"] = 4, scales
    rows["vector_size"], rows["width"] = 4 + 2 * width, width
    rows["values"] = values
    return rows.tobytes()


def _write_facts(connection: psycopg.Connection[Any], document: int, facts: Sequence[Fact]) -> None:
    columns = [list(column) for column in zip(*facts, strict=True)]
    if columns:
        connection.execute(_FACTS, (document, *columns))


def touch(connection: psycopg.Connection[Any], info: DocumentInfo) -> bool:
    """Note what is new of a document, inside the caller's transaction."""
    changed = touched(info.signature, info.options, info.properties)
    number = scalar(
        connection,
        "UPDATE documents SET size = %(size)s, mtime_ns = %(mtime_ns)s, options = %(options)s, "
        "properties = %(properties)s::jsonb WHERE name = %(name)s RETURNING id",
        changed | {"name": escape(info.name)},
    )
    if number is None:
        return False
    connection.execute("DELETE FROM facts WHERE document = %s", (number,))
    _write_facts(connection, number, kept_facts(info))
    return True


def delete(connection: psycopg.Connection[Any], name: str) -> bool:
    """Take a document out, inside the caller's transaction; ``name`` as it is kept."""
    found = connection.execute(
        "DELETE FROM documents WHERE name = %s RETURNING id, sentences, terms", (name,)
    ).fetchone()
    if found is None:
        return False
    document, sentences, terms = found
    for table in ("facts", "bodies", "pieces", "vectors", "postings"):
        connection.execute(f"DELETE FROM {table} WHERE document = %s".encode(), (document,))
    _count(connection, -1, -sentences, -terms, sentences)
    return True


def _count(connection: psycopg.Connection[Any], *counts: int) -> None:
    """Add to the totals: a row of its own, so that writers do not wait; vacuum joins the rows."""
    connection.execute("INSERT INTO totals VALUES (%s, %s, %s, %s)", counts)
