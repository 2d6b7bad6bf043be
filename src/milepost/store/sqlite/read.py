"""What is read of documents inside one snapshot; each function touches only what it returns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from milepost.store import packing
from milepost.store.base import DocumentInfo, Sentences
from milepost.store.local import inside
from milepost.store.tokens import token
from milepost.types import Mark


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
    ranges: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """At most ``n`` rows that hold one of the terms, best by BM25; in some ranges or in all."""
    if not terms or n <= 0 or (ranges is not None and not len(ranges)):
        return np.empty(0, np.int64)
    start, end = (0, 2**62) if ranges is None else (int(ranges[0, 0]), int(ranges[-1, 1]))
    together = ranges is None or np.array_equal(ranges[1:, 0], ranges[:-1, 1])
    # BM25 counts over the whole index whatever is asked for, so one query serves all documents.
    found = connection.execute(
        "SELECT rowid - 1 FROM lexicon WHERE lexicon MATCH ? AND rowid BETWEEN ? AND ? "
        "ORDER BY bm25(lexicon), rowid LIMIT ?",
        (_query(terms), start + 1, end, n if together else -1),
    )
    left = [np.empty(0, np.int64)]
    while sum(map(len, left)) < n and (some := found.fetchmany(max(n, 1000))):
        rows = np.array(some, np.int64).reshape(-1)
        left.append(rows if ranges is None else rows[inside(rows, ranges)])
    found.close()
    return np.concatenate(left)[:n]


def _ids(documents: Sequence[DocumentInfo]) -> str:
    return json.dumps([info.id for info in documents])


def _query(terms: Iterable[str]) -> str:
    """Spell an FTS5 query for sentences that hold one of the terms."""
    return " OR ".join(f'"{token(term)}"' for term in dict.fromkeys(terms))
