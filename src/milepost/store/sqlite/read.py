"""What is read from the tables inside one snapshot; each function touches only what it returns."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.paragraphs import paragraph_starts
from milepost.store.base import DocumentInfo, Sentences, Statistics
from milepost.store.sqlite import tokens
from milepost.store.sqlite.write import PIECE, kept
from milepost.types import Document, Mark

_RECORD = "name, source, hash, size, mtime_ns, characters, sentences, first, notes"


def documents(connection: sqlite3.Connection) -> list[DocumentInfo]:
    """All documents in order of their first row."""
    found = connection.execute(f"SELECT {_RECORD} FROM documents ORDER BY first, id")
    return [_info(record) for record in found]


def info(connection: sqlite3.Connection, name: str) -> DocumentInfo | None:
    """One document's record, or None."""
    found = connection.execute(f"SELECT {_RECORD} FROM documents WHERE name = ?", (kept(name),))
    record = found.fetchone()
    return None if record is None else _info(record)


def document(connection: sqlite3.Connection, name: str) -> Document:
    """Return the whole document with its marks; KeyError where there is none."""
    number, _ = _find(connection, name)
    record = info(connection, name)
    if record is None:  # pragma: no cover - the line before has found it in this snapshot
        raise KeyError(name)
    return Document(
        name=record.name,
        text=text(connection, name, 0, record.characters),
        marks=_marks(connection, number),
        source=record.source,
        hash=record.hash,
        notes=record.notes,
    )


def marks(connection: sqlite3.Connection, name: str) -> tuple[Mark, ...]:
    """Return the marks of one document; KeyError where there is none."""
    return _marks(connection, _find(connection, name)[0])


def text(connection: sqlite3.Connection, name: str, start: int, end: int) -> str:
    """Return a slice of a document's text from the pieces that it touches; KeyError as above."""
    number, characters = _find(connection, name)
    start, end, _ = slice(start, end).indices(characters)
    if start >= end:
        return ""
    first = start // PIECE
    pieces = connection.execute(
        "SELECT text FROM pieces WHERE document = ? AND number BETWEEN ? AND ? ORDER BY number",
        (number, first, (end - 1) // PIECE),
    )
    whole = "".join(zlib.decompress(piece).decode("utf-8", "surrogatepass") for (piece,) in pieces)
    return whole[start - first * PIECE : end - first * PIECE]


def sentences(connection: sqlite3.Connection, name: str) -> Sentences:
    """What a store tells of one document's sentences; KeyError as above."""
    found = connection.execute(
        "SELECT id, first, bounds, lengths, familiar FROM documents JOIN bodies ON document = id "
        "WHERE name = ?",
        (kept(name),),
    ).fetchone()
    if found is None:
        raise KeyError(name)
    number, first, packed, lengths, vocab_coverage = found
    bounds = np.frombuffer(packed, "<u4").astype(np.int64)
    spans = (
        np.stack((bounds[:-1], bounds[1:]), axis=1) if len(bounds) else np.empty((0, 2), np.int64)
    )
    return Sentences(
        first,
        spans,
        np.frombuffer(lengths, "<i4").astype(np.int32),
        np.frombuffer(vocab_coverage, np.uint8).astype(np.float32) / np.float32(255),
        _paragraph_starts(connection, number, name, spans),
    )


def _paragraph_starts(
    connection: sqlite3.Connection, number: int, name: str, spans: NDArray[np.int64]
) -> NDArray[np.bool_]:
    try:
        found = connection.execute(
            "SELECT starts FROM paragraph_starts WHERE document = ?", (number,)
        ).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        found = None  # an index of schema 1 that nobody has written to since
    if found is None:
        end = int(spans[-1, 1]) if len(spans) else 0
        return paragraph_starts(text(connection, name, 0, end), spans)
    return np.unpackbits(np.frombuffer(found[0], np.uint8), count=len(spans)).astype(np.bool_)


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
            "SELECT group_concat(doc) FROM instances WHERE term = ?", (tokens.token(term),)
        ).fetchone()[0]
        every = np.fromstring(joined, np.int64, sep=",") if joined else np.empty(0, np.int64)
        rows, counts = np.unique(every, return_counts=True)
        out[term] = rows - 1, counts.astype(np.int32)
    return out


def matching(
    connection: sqlite3.Connection, terms: Sequence[str], n: int, names: Sequence[str] | None
) -> NDArray[np.int64]:
    """At most ``n`` rows that hold one of the terms, best by BM25."""
    if not terms or n <= 0:
        return np.empty(0, np.int64)
    if names is None:
        return _matches(connection, terms, (0, 2**62), n)
    chosen = ranges(connection, names)
    if not len(chosen):
        return np.empty(0, np.int64)
    # BM25 counts over the whole index whatever is asked for, so one query serves all names.
    within = int(chosen[0, 0]), int(chosen[-1, 1])
    together = np.array_equal(chosen[1:, 0], chosen[:-1, 1])
    rows = _matches(connection, terms, within, n if together else -1)
    owner = np.searchsorted(chosen[:, 0], rows, side="right") - 1
    kept_rows: NDArray[np.int64] = rows[rows < chosen[owner, 1]]
    return kept_rows[:n]


def ranges(connection: sqlite3.Connection, names: Sequence[str]) -> NDArray[np.int64]:
    """``(m, 2)`` int64: first row and end of each named document with sentences, ascending."""
    found = set()
    for name in names:
        record = connection.execute(
            "SELECT first, first + sentences FROM documents WHERE name = ? AND sentences > 0",
            (kept(name),),
        ).fetchone()
        if record:
            found.add(record)
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


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
        (tokens.query(terms), start + 1, end, n),
    ).fetchall()
    return np.array(found, dtype=np.int64).reshape(-1)


def _find(connection: sqlite3.Connection, name: str) -> tuple[int, int]:
    found = connection.execute(
        "SELECT id, characters FROM documents WHERE name = ?", (kept(name),)
    ).fetchone()
    if found is None:
        raise KeyError(name)
    return int(found[0]), int(found[1])


def _marks(connection: sqlite3.Connection, number: int) -> tuple[Mark, ...]:
    packed = connection.execute(
        "SELECT marks FROM bodies WHERE document = ?", (number,)
    ).fetchone()[0]
    return tuple(Mark(*values) for values in json.loads(zlib.decompress(packed)))


def _info(record: tuple[Any, ...]) -> DocumentInfo:
    name, source, digest, size, mtime, characters, count, first, notes = record
    return DocumentInfo(
        name=_given(name),
        source=None if source is None else _given(source),
        hash=_given(digest),
        signature=None if size is None else (size, mtime),
        characters=characters,
        sentences=count,
        first=first,
        notes=tuple(json.loads(notes)),
    )


def _given(value: str | bytes) -> str:
    """Turn back what ``kept`` has made."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
