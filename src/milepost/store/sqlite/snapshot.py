"""One committed state of an index: its tables through one connection, its vectors mapped."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.store import packing
from milepost.store.base import ALL, DocumentInfo, DocumentSelection, Part, Sentences, Statistics
from milepost.store.check import check_vector
from milepost.store.conditions import HEAD, Dialect
from milepost.store.local import LocalSnapshot, Postings, count, inside, ranges_of
from milepost.store.records import COLUMNS, KEYS, document_info, in_order
from milepost.store.sqlite.faults import translated
from milepost.store.sqlite.vectors import View, numbers, runs
from milepost.store.tokens import token
from milepost.types import Mark


def _pattern(pattern: str) -> tuple[str, str]:
    """``fits`` is Python's own, see ``folder.connect``: SQLite asks it where ``GLOB`` differs."""
    return ("fits(facts.text, %s)" if "[" in pattern else "facts.text GLOB %s"), pattern


DIALECT = Dialect(
    value=":%s",
    having="id IN (SELECT document FROM facts WHERE %s)",
    head=f"substr(facts.text, 1, {HEAD})",
    position="instr(facts.text, %s) > 0",
    pattern=_pattern,
    named="name IN (SELECT value FROM json_each(:names))",
    names=json.dumps,
)


_MANY = 5_000  # runs from which all are read, once for all snapshots of a state

Values = tuple[Any, ...] | dict[str, Any]


class SqliteSnapshot(LocalSnapshot):
    """See ``store.base.Snapshot``; made by ``SqliteStore.snapshot`` alone."""

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, view: View, dimensions: int
    ) -> None:
        self._folder, self._connection = folder, connection
        self._view, self._dimensions = view, dimensions
        # Of the selections that were asked for.
        self._ranges: dict[DocumentSelection, NDArray[np.int64]] = {}

    def select(
        self, among: DocumentSelection, most: int | None = None
    ) -> list[DocumentInfo] | None:
        among.check_keys(self.keys)
        if most is not None and self._sentences(among) > most:
            return None
        held = self._view.documents if among == ALL else None
        if held is None:
            where, values = DIALECT.condition(among)
            held = self._infos(f"WHERE {where} ORDER BY first, id", values)
            if most is not None and among == ALL:  # for this search and for the next one
                self._view.documents = held
        return list(held)

    def owners(self, rows: NDArray[np.int64]) -> list[DocumentInfo]:
        infos = self._infos(
            "WHERE sentences > 0 AND first IN (SELECT (SELECT max(first) FROM runs "
            "WHERE first <= value) FROM json_each(?)) ORDER BY first",
            (json.dumps(rows.tolist()),),
        )
        return in_order(infos, rows)

    def keys(self) -> frozenset[str]:
        return frozenset(key for (key,) in self._rows(KEYS))

    def ranges(self, among: DocumentSelection) -> NDArray[np.int64]:
        if among not in self._ranges:
            where, values = DIALECT.condition(among)
            (found,) = self._rows(
                "SELECT group_concat(first), group_concat(first + sentences) FROM documents "
                f"WHERE sentences > 0 AND {where}",
                values,
            )
            # As they do not overlap, the columns sort alike.
            self._ranges[among] = np.sort(numbers(found), axis=0)
        return self._ranges[among]

    def _sentences(self, among: DocumentSelection) -> int:
        if among == ALL:
            return self.statistics().sentences
        return count(self.ranges(among))

    def statistics(self) -> Statistics:
        meta = self._view.meta
        return Statistics(meta.documents, meta.sentences, meta.terms, meta.dead)

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        found = self._rows(
            "SELECT bounds, lengths, vocab_coverage, paragraph_starts FROM documents "
            "JOIN bodies ON document = id WHERE id IN (SELECT value FROM json_each(?)) "
            "ORDER BY first, id",
            (_ids(documents),),
        )
        return packing.sentences(found, documents)

    def similarity(
        self, vector: NDArray[np.float32], documents: Sequence[DocumentInfo]
    ) -> NDArray[np.float32]:
        check_vector(vector, self._dimensions)
        return self._view.similarity(self._chosen(ranges_of(documents)), vector)

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        return self._view.vectors(self._chosen(ranges_of(documents)), self._dimensions)

    def texts(self, parts: Sequence[Part]) -> list[str]:
        slices = packing.slices(parts)
        found = self._rows(
            "SELECT document, number, text FROM pieces JOIN json_each(?) AS wanted ON "
            "document = json_extract(wanted.value, '$[0]') AND "
            "number = json_extract(wanted.value, '$[1]')",
            (json.dumps(packing.wanted(slices)),),
        )
        with translated(self._folder):
            return packing.joined(slices, found)

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        found = self._rows(
            "SELECT document, marks FROM bodies WHERE document IN (SELECT value FROM json_each(?))",
            (_ids(documents),),
        )
        with translated(self._folder):
            return packing.marks(found, documents)

    def postings(self, terms: Sequence[str], among: DocumentSelection = ALL) -> dict[str, Postings]:
        among.check_keys(self.keys)
        ranges = None if among == ALL else self.ranges(among)
        found = {}
        for term in terms:
            # One string, which NumPy reads three times faster than Python fetches rows.
            query = "SELECT group_concat(doc) FROM instances WHERE term = ?"
            (every,) = self._rows(query, (token(term),))
            rows, counts = np.unique(numbers(every)[:, 0] - 1, return_counts=True)
            there = inside(rows, ranges)
            found[term] = rows[there], counts[there].astype(np.int32)
        return found

    def candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        n: int,
        ranges: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        check_vector(vector, self._dimensions)
        chosen = self._all_runs() if ranges is None else self._chosen(ranges)
        nearest, _ = self._view.nearest(chosen, vector, n)
        return nearest, self._matching(terms, n, ranges)

    def _matching(
        self, terms: Sequence[str], n: int, ranges: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """At most ``n`` rows that hold one of the terms, best by BM25; in some ranges or in all."""
        if not terms or n <= 0 or (ranges is not None and not len(ranges)):
            return np.empty(0, np.int64)
        start, end = (0, 2**62) if ranges is None else (int(ranges[0, 0]), int(ranges[-1, 1]))
        together = ranges is None or np.array_equal(ranges[1:, 0], ranges[:-1, 1])
        asked = " OR ".join(f'"{token(term)}"' for term in dict.fromkeys(terms))
        left = [np.empty(0, np.int64)]
        with translated(self._folder):
            # BM25 counts over the whole index whatever is asked for: one query for all documents.
            found = self._connection.execute(
                "SELECT rowid - 1 FROM lexicon WHERE lexicon MATCH ? AND rowid BETWEEN ? AND ? "
                "ORDER BY bm25(lexicon), rowid LIMIT ?",
                (asked, start + 1, end, n if together else -1),
            )
            while sum(map(len, left)) < n and (some := found.fetchmany(max(n, 1000))):
                rows = np.array(some, np.int64).reshape(-1)
                left.append(rows[inside(rows, ranges)])
            found.close()
        return np.concatenate(left)[:n]

    def _infos(self, condition: str, values: Values) -> list[DocumentInfo]:
        query = f"SELECT {', '.join(COLUMNS)} FROM documents {condition}"
        return list(map(document_info, self._rows(query, values)))

    def _rows(self, query: str, values: Values = ()) -> list[Any]:
        with translated(self._folder):
            return self._connection.execute(query, values).fetchall()

    def _chosen(self, ranges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Runs of the documents with some ranges, ascending."""
        if len(ranges) > _MANY:
            self._all_runs()
        held = self._view.runs
        if held is None:
            with translated(self._folder):
                return runs(self._connection, ranges[:, 0])
        return held[np.searchsorted(held[:, 0], ranges[:, 0])]

    def _all_runs(self) -> NDArray[np.int64]:
        """They are read once for all snapshots of a state."""
        if self._view.runs is None:
            with translated(self._folder):
                self._view.runs = runs(self._connection)
        return self._view.runs


def _ids(documents: Sequence[DocumentInfo]) -> str:
    return json.dumps([info.id for info in documents])
