"""What one transaction writes: a document in, a document out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from milepost.properties import checked
from milepost.store import packing, postings
from milepost.store.base import Entry
from milepost.store.postgres import copying
from milepost.store.records import Fact, facts_of, record
from milepost.store.strings import escape, unescape
from milepost.types import Document, Value

_FACTS = (
    "INSERT INTO facts SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::float8[], "
    "%s::boolean[], %s::text[])"
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entry in the form in which it is kept; made before the transaction begins."""

    record: dict[str, Any]
    facts: list[Fact]
    body: packing.Body
    pieces: tuple[bytes, ...]
    terms: list[tuple[str, int, bytes]]
    scales: Any
    values: Any

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return len(self.scales)


def prepare(entry: Entry) -> Prepared:
    """Round, compress and invert; asks the server nothing."""
    scales, values = packing.rounded(entry.vectors)
    return Prepared(
        record=record(entry, escape),
        facts=facts_of(entry.document),
        body=packing.body(entry),
        pieces=packing.pieces(entry.document.text),
        terms=list(postings.packed(entry.terms)),
        scales=scales,
        values=values,
    )


def reserved(connection: psycopg.Connection[Any], rows: int) -> int:
    """Take row numbers that nobody else gets; a transaction of its own, so that nobody waits."""
    with connection.transaction():
        found = connection.execute(
            "UPDATE counter SET next_row = next_row + %s RETURNING next_row - %s", (rows, rows)
        ).fetchone()
    assert found is not None
    return int(found[0])


def put(connection: psycopg.Connection[Any], first: int, entry: Prepared) -> None:
    """Write an entry and take out the one of its name, inside the caller's transaction."""
    # Two writers of one document come one after the other.
    connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(current_schema || ' ' || %s, 1))",
        (entry.record["name"],),
    )
    delete(connection, entry.record["name"])
    found = connection.execute(
        "INSERT INTO documents (name, source, hash, size, mtime_ns, characters, sentences, terms, "
        "first, notes, options, properties) VALUES (%(name)s, %(source)s, %(hash)s, %(size)s, "
        "%(mtime_ns)s, %(characters)s, %(sentences)s, %(terms)s, %(first)s, %(notes)s, "
        "%(options)s, %(properties)s::jsonb) RETURNING id",
        entry.record | {"first": first},
    ).fetchone()
    assert found is not None
    document = int(found[0])
    _write_facts(connection, document, entry.facts)
    body = entry.body
    connection.execute(
        "INSERT INTO bodies VALUES (%s, %s, %s, %s, %s, %s)",
        (
            document,
            body.bounds,
            body.lengths,
            body.vocab_coverage,
            body.paragraph_starts,
            body.marks,
        ),
    )
    pieces = ((document, number, piece) for number, piece in enumerate(entry.pieces))
    _copy(connection, "pieces", ("int8", "int4", "bytea"), pieces)
    terms = ((term, document, sentences, held) for term, sentences, held in entry.terms)
    _copy(connection, "postings", ("text", "int8", "int4", "bytea"), terms)
    with connection.cursor().copy("COPY vectors FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(copying.HEADER)
        copy.write(copying.vector_rows(document, entry.scales, entry.values))
        copy.write(copying.TRAILER)
    _count(connection, 1, entry.sentences, entry.record["terms"], 0)


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


def _write_facts(connection: psycopg.Connection[Any], document: int, facts: Sequence[Fact]) -> None:
    """Write the facts of a document, in one statement."""
    columns = [list(column) for column in zip(*facts, strict=True)]
    if columns:
        connection.execute(_FACTS, (document, *columns))


def touch(
    connection: psycopg.Connection[Any],
    name: str,
    signature: tuple[int, int] | None,
    options: str,
    properties: Mapping[str, Value] | None,
) -> bool:
    """Note a new size, time of change and options, and properties if they are given.

    Inside the caller's transaction.
    """
    size, mtime = signature or (None, None)
    found = connection.execute(
        "UPDATE documents SET size = %s, mtime_ns = %s, options = %s WHERE name = %s "
        "RETURNING id, source",
        (size, mtime, options, escape(name)),
    ).fetchone()
    if found is None:
        return False
    if properties is not None:
        number, source = found
        held = checked(properties)
        connection.execute(
            "UPDATE documents SET properties = %s::jsonb WHERE id = %s", (held.as_json(), number)
        )
        connection.execute("DELETE FROM facts WHERE document = %s", (number,))
        path = None if source is None else unescape(source)
        rows = facts_of(Document(name, "", source=path, properties=held))
        _write_facts(connection, number, rows)
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
