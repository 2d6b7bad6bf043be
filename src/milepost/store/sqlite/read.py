"""What is read from the tables inside one snapshot; each function touches only what it returns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.properties import Properties
from milepost.store import packing
from milepost.store.base import DocumentInfo, Sentences, Statistics
from milepost.store.sqlite.tokens import query
from milepost.store.sqlite.write import kept
from milepost.store.tokens import token
from milepost.types import Mark

_RECORD = (
    "id, name, source, hash, size, mtime_ns, characters, sentences, first, notes, options, "
    "properties"
)


def documents(connection: sqlite3.Connection) -> list[DocumentInfo]:
    """All documents in order of their first row."""
    found = connection.execute(f"SELECT {_RECORD} FROM documents ORDER BY first, id")
    return [_info(record) for record in found]


def info(connection: sqlite3.Connection, name: str) -> DocumentInfo | None:
    """One document's record, or None."""
    found = connection.execute(f"SELECT {_RECORD} FROM documents WHERE name = ?", (kept(name),))
    record = found.fetchone()
    return None if record is None else _info(record)


def sentences(connection: sqlite3.Connection, documents: Sequence[DocumentInfo]) -> Sentences:
    """Everything but the vectors of the sentences of some documents, ascending by first row."""
    records = connection.execute(
        "SELECT bounds, lengths, vocab_coverage, paragraph_starts FROM documents "
        "JOIN bodies ON document = id WHERE id IN (SELECT value FROM json_each(?)) "
        "ORDER BY first, id",
        (_ids(documents),),
    ).fetchall()
    return packing.sentences(records, documents)


def texts(
    connection: sqlite3.Connection, parts: Sequence[tuple[DocumentInfo, int, int]]
) -> list[str]:
    """Slices of documents, from the pieces that they touch."""
    slices = packing.slices(parts)
    records = connection.execute(
        "SELECT document, number, text FROM pieces JOIN json_each(?) AS wanted ON "
        "document = json_extract(wanted.value, '$[0]') AND "
        "number = json_extract(wanted.value, '$[1]')",
        (json.dumps(packing.wanted(slices)),),
    )
    found = {(document, number): packed for document, number, packed in records}
    return packing.joined(slices, found)


def marks(
    connection: sqlite3.Connection, documents: Sequence[DocumentInfo]
) -> list[tuple[Mark, ...]]:
    """Pages and headings of each document."""
    records = connection.execute(
        "SELECT document, marks FROM bodies WHERE document IN (SELECT value FROM json_each(?))",
        (_ids(documents),),
    )
    found = {document: packing.marks(packed) for document, packed in records}
    return [found[info.id] for info in documents]


def postings(
    connection: sqlite3.Connection, terms: Sequence[str]
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
    """For each term: the rows that hold it, ascending, and how often each does.

    SQLite joins the rows to one string, which NumPy reads three times faster than Python fetches
    them one by one.
    """
    out = {}
    for term in terms:
        joined = connection.execute(
            "SELECT group_concat(doc) FROM instances WHERE term = ?", (token(term),)
        ).fetchone()[0]
        every = np.fromstring(joined, np.int64, sep=",") if joined else np.empty(0, np.int64)
        rows, counts = np.unique(every, return_counts=True)
        out[term] = rows - 1, counts.astype(np.int32)
    return out


def matching(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    n: int,
    documents: Sequence[DocumentInfo] | None,
) -> NDArray[np.int64]:
    """At most ``n`` rows that hold one of the terms, best by BM25."""
    if not terms or n <= 0:
        return np.empty(0, np.int64)
    if documents is None:
        return _matches(connection, terms, (0, 2**62), n)
    chosen = sorted((info.first, info.first + info.sentences) for info in documents)
    ranges = np.array([each for each in chosen if each[0] < each[1]], np.int64).reshape(-1, 2)
    if not len(ranges):
        return np.empty(0, np.int64)
    # BM25 counts over the whole index whatever is asked for, so one query serves all documents.
    span = int(ranges[0, 0]), int(ranges[-1, 1])
    together = np.array_equal(ranges[1:, 0], ranges[:-1, 1])
    rows = _matches(connection, terms, span, n if together else -1)
    owner = np.searchsorted(ranges[:, 0], rows, side="right") - 1
    inside: NDArray[np.int64] = rows[rows < ranges[owner, 1]]
    return inside[:n]


def statistics(connection: sqlite3.Connection) -> Statistics:
    """Count over all documents."""
    counts = connection.execute(
        "SELECT count(*), ifnull(sum(sentences), 0), ifnull(sum(terms), 0) FROM documents"
    ).fetchone()
    dead = connection.execute("SELECT ifnull(sum(count), 0) FROM runs WHERE NOT live").fetchone()
    return Statistics(*counts, *dead)


def _matches(
    connection: sqlite3.Connection, terms: Sequence[str], within: tuple[int, int], n: int
) -> NDArray[np.int64]:
    start, end = within
    found = connection.execute(
        "SELECT rowid - 1 FROM lexicon WHERE lexicon MATCH ? AND rowid BETWEEN ? AND ? "
        "ORDER BY bm25(lexicon), rowid LIMIT ?",
        (query(terms), start + 1, end, n),
    ).fetchall()
    return np.array(found, dtype=np.int64).reshape(-1)


def _ids(documents: Sequence[DocumentInfo]) -> str:
    """Numbers of documents as JSON: SQL takes any number of them as one value."""
    return json.dumps([info.id for info in documents])


def _info(record: tuple[Any, ...]) -> DocumentInfo:
    number, name, source, digest, size, mtime, characters, count, first = record[:9]
    notes, options, properties = record[9:]
    return DocumentInfo(
        name=_given(name),
        source=None if source is None else _given(source),
        hash=_given(digest),
        signature=None if size is None else (size, mtime),
        characters=characters,
        sentences=count,
        first=first,
        notes=tuple(json.loads(notes)) if notes != "[]" else (),
        id=number,
        options=options,
        properties=Properties.stored(properties),
    )


def _given(value: str | bytes) -> str:
    """Turn back what ``kept`` has made."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
