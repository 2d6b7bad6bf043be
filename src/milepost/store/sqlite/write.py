"""What one transaction writes: a document in, a document out, the segment made anew.

What costs time (rounding, compressing, spelling tokens) happens before the transaction, so that
the lock is held for little more than the disk needs. Vectors reach the disk before the commit
that makes them count; after a kill, what lies beyond ``next_place`` is garbage that the next
write goes over.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from milepost.filters.fact_rows import Fact, kept_facts
from milepost.store import packing
from milepost.store.base import DocumentInfo, Entry
from milepost.store.records import record, touched
from milepost.store.sqlite import schema, segment
from milepost.store.sqlite.vectors import View, mapped, runs
from milepost.store.strings import escape
from milepost.store.tokens import token


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entry in the form in which it is kept."""

    record: dict[str, Any]
    facts: list[Fact]
    body: tuple[bytes, ...]  # bounds … tokens of table ``bodies``
    pieces: tuple[bytes, ...]
    lines: list[str]
    vectors: bytes
    crc: int


def prepare(entry: Entry) -> Prepared:
    """Round, compress and spell; touches no file."""
    lines = [" ".join(map(token, terms)) for terms in entry.terms]
    vectors = segment.pack(entry.vectors)
    return Prepared(
        record=record(entry),
        facts=kept_facts(entry.document),
        body=(*packing.body(entry), zlib.compress("\n".join(lines).encode())),
        pieces=packing.pieces(entry.document.text),
        lines=lines,
        vectors=vectors,
        crc=zlib.crc32(vectors),
    )


def put(connection: sqlite3.Connection, meta: schema.Meta, folder: Path, entry: Prepared) -> None:
    """Write an entry and take out the one of its name, inside the caller's transaction."""
    first, count = meta.next_row, len(entry.lines)
    meta = delete(connection, meta, entry.record["name"]) or meta
    if count:
        path = folder / segment.file_name(meta.generation)
        segment.write(path, meta.next_place, meta.dimensions, entry.vectors)
        connection.execute(
            "INSERT INTO runs VALUES (?, ?, ?, ?, 1)", (first, count, meta.next_place, entry.crc)
        )
    document = connection.execute(
        "INSERT INTO documents VALUES (NULL, :name, :source, :hash, :size, :mtime_ns, :characters, "
        ":sentences, :terms, :first, :notes, :options, :properties)",
        entry.record | {"first": first},
    ).lastrowid
    connection.execute("INSERT INTO bodies VALUES (?, ?, ?, ?, ?, ?, ?)", (document, *entry.body))
    _write_facts(connection, document, entry.facts)
    connection.executemany(
        "INSERT INTO pieces VALUES (?, ?, ?)",
        ((document, number, piece) for number, piece in enumerate(entry.pieces)),
    )
    connection.executemany(
        "INSERT INTO lexicon (rowid, tokens) VALUES (?, ?)", enumerate(entry.lines, first + 1)
    )
    schema.write_meta(
        connection,
        replace(
            meta,
            next_row=first + count,
            next_place=meta.next_place + count,
            change=meta.change + 1,
            documents=meta.documents + 1,
            sentences=meta.sentences + count,
            terms=meta.terms + entry.record["terms"],
        ),
    )


def touch(connection: sqlite3.Connection, meta: schema.Meta, info: DocumentInfo) -> bool:
    """Note what is new of a document, inside the caller's transaction."""
    name = escape(info.name)
    found = connection.execute("SELECT id FROM documents WHERE name = ?", (name,)).fetchone()
    if found is None:
        return False
    connection.execute(
        "UPDATE documents SET size = :size, mtime_ns = :mtime_ns, options = :options, "
        "properties = :properties WHERE name = :name",
        touched(info.signature, info.options, info.properties) | {"name": name},
    )
    connection.execute("DELETE FROM facts WHERE document = ?", found)
    _write_facts(connection, found[0], kept_facts(info))
    schema.write_meta(connection, replace(meta, change=meta.change + 1))
    return True


def _write_facts(
    connection: sqlite3.Connection, document: int | None, facts: Iterable[Fact]
) -> None:
    connection.executemany(
        "INSERT INTO facts (document, place, key, text, number, flag, dated) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((document, place, *fact) for place, fact in enumerate(facts)),
    )


def delete(connection: sqlite3.Connection, meta: schema.Meta, name: str) -> schema.Meta | None:
    """Take a document out, by its name as it is kept; its rows stay until vacuum.

    Returns what the index says of itself then; None where there is no such document.
    """
    found = connection.execute(
        "SELECT id, first, sentences, terms, tokens FROM documents JOIN bodies ON document = id "
        "WHERE name = ?",
        (name,),
    ).fetchone()
    if found is None:
        return None
    document, first, sentences, terms, packed = found
    if sentences:
        # FTS5 without content forgets a row only when it is told what the row held.
        lines = zlib.decompress(packed).decode().split("\n")
        connection.executemany(
            "INSERT INTO lexicon (lexicon, rowid, tokens) VALUES ('delete', ?, ?)",
            enumerate(lines, first + 1),
        )
        connection.execute("UPDATE runs SET live = 0 WHERE first = ?", (first,))
    for table in ("facts", "pieces", "bodies"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (document,))
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))
    left = replace(
        meta,
        change=meta.change + 1,
        documents=meta.documents - 1,
        sentences=meta.sentences - sentences,
        terms=meta.terms - terms,
        dead=meta.dead + sentences,
    )
    schema.write_meta(connection, left)
    return left


def vacuum(connection: sqlite3.Connection, meta: schema.Meta, folder: Path) -> int:
    """Copy the live rows to a segment file of the next generation, inside the caller's transaction.

    Rows keep their numbers and get new places, so a reader is never given another row's vector;
    one that has the old file mapped reads on in it. Returns the new generation.
    """
    old, live = View(folder, meta, mapped(folder, meta), set()), runs(connection)
    generation, place = meta.generation + 1, 0
    path = folder / segment.file_name(generation)
    segment.create(path)
    connection.execute("DELETE FROM runs WHERE NOT live")
    with path.open("ab") as file:  # nobody reads it yet
        for run in live:
            old.verify(run[None])
            first, count, start, _ = run.tolist()
            file.write(old.segment.packed(start, start + count))
            connection.execute("UPDATE runs SET place = ? WHERE first = ?", (place, first))
            place += count
        file.flush()
        os.fsync(file.fileno())
    connection.execute("INSERT INTO lexicon (lexicon) VALUES ('optimize')")
    schema.write_meta(
        connection,
        replace(meta, generation=generation, next_place=place, change=meta.change + 1, dead=0),
    )
    return generation


def sweep(folder: Path, generation: int) -> None:
    """Remove segment files of earlier generations; one that a reader holds may stay a while."""
    for path, number in segment.files(folder).items():
        if number < generation:
            with suppress(OSError):  # Windows keeps a mapped file; the next vacuum tries again
                path.unlink()
