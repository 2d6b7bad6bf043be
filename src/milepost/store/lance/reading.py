"""Reads of the parts of documents from the tables of one state, several at a time.

Sentences and vectors are kept in memory once read, by the document's id.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from milepost.errors import StoreError
from milepost.store import packing
from milepost.store.base import DocumentInfo
from milepost.store.lance import schema
from milepost.store.lance.loop import together
from milepost.store.lance.state import State
from milepost.store.lance.write import COLUMNS, MARKS, unpacked

Body = tuple[bytes, bytes, bytes, bytes]
Rounded = tuple[NDArray[np.float32], NDArray[np.int8]]
"""Scales ``(n,)`` and values ``(n, d)`` of a document's vectors."""

_MANY = 2_000  # ids up to which a query names them; with more of them the table is read as it is

V = TypeVar("V")


class Cache(Generic[V]):
    """Values by a document's id, under which it never changes; safe to use from several threads.

    The least lately used ones are given up.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._held: OrderedDict[int, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, ids: Iterable[int]) -> dict[int, V]:
        """The values that are held of these."""
        found = {}
        with self._lock:
            for each in ids:
                if each in self._held:
                    self._held.move_to_end(each)
                    found[each] = self._held[each][0]
        return found

    def put(self, number: int, value: V, size: int) -> None:
        """Hold a value of so many bytes."""
        with self._lock:
            if number in self._held:
                return
            self._held[number] = value, size
            self._bytes += size
            while self._bytes > self._most:
                _, (_, freed) = self._held.popitem(last=False)
                self._bytes -= freed


@dataclass(frozen=True)
class Caches:
    """What a store keeps of what it has read."""

    bodies: Cache[Body] = field(default_factory=lambda: Cache(64 << 20))
    vectors: Cache[Rounded] = field(default_factory=lambda: Cache(256 << 20))


class Reading:
    """Reads of one state."""

    def __init__(self, state: State, caches: Caches, dimensions: int) -> None:
        self._state, self._caches, self._dimensions = state, caches, dimensions

    async def bodies(self, documents: Sequence[DocumentInfo]) -> list[Body]:
        """The columns of the sentences of each document."""
        held = self._caches.bodies.get(info.id for info in documents)
        missing = [info for info in documents if info.id not in held]
        columns = ["document", "data"]
        rows = await self._of(schema.PARTS, missing, columns, f"number = {COLUMNS}")
        found = dict(records(rows, columns))
        for info in missing:
            if info.id not in found:
                raise _changed()
            held[info.id] = body = unpacked(found[info.id], info.sentences)
            self._caches.bodies.put(info.id, body, sum(map(len, body)) + 500)
        return [held[info.id] for info in documents]

    async def vectors(self, documents: Sequence[DocumentInfo]) -> list[Rounded]:
        """The vectors of each document, as rounded to int8."""
        none = np.empty(0, np.float32), np.empty((0, self._dimensions), np.int8)
        filled = [info for info in documents if info.sentences]
        held = self._caches.vectors.get(info.id for info in filled)
        missing = {info.id: info for info in filled if info.id not in held}
        columns = ["document", "number", "scale", "vector"]
        rows = await self._of(schema.VECTORS, list(missing.values()), columns)
        owners, numbers = rows["document"].to_numpy(), rows["number"].to_numpy()
        order = np.lexsort((numbers, owners))
        starts = np.searchsorted(owners[order], list(missing))
        scales, values = rounded(rows)
        for start, (number, info) in zip(starts.tolist(), missing.items(), strict=True):
            at = order[start : start + info.sentences]
            if len(at) != info.sentences or (owners[at] != number).any():
                raise _changed()
            held[number] = kept = scales[at], values[at]
            self._caches.vectors.put(number, kept, kept[0].nbytes + kept[1].nbytes + 200)
        return [held.get(info.id, none) for info in documents]

    async def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[int, bytes]]:
        """Ids and packed marks of documents."""
        some = list({info.id: info for info in documents}.values())
        columns = ["document", "data"]
        return records(await self._of(schema.PARTS, some, columns, f"number = {MARKS}"), columns)

    async def pieces(self, slices: Sequence[packing.Slice]) -> list[tuple[int, int, bytes]]:
        """Document, number and packed text of the pieces that slices touch."""
        numbers: dict[int, list[int]] = {}
        for document, number in packing.wanted(slices):
            numbers.setdefault(document, []).append(number)
        conditions = [
            f"(document = {document} AND number IN ({_listed(some)}))"
            for document, some in numbers.items()
        ]
        parts = [conditions[at : at + 100] for at in range(0, len(conditions), 100)]
        columns = ["document", "number", "data"]
        asked = [self._ask(schema.PARTS, columns, " OR ".join(part)) for part in parts]
        return [record for rows in await together(*asked) for record in records(rows, columns)]

    async def postings(
        self,
        tokens: Sequence[str],
        columns: Sequence[str],
        documents: NDArray[np.int64] | None = None,
    ) -> pa.Table:
        """Rows of the postings of tokens, of some documents or of all in the log.

        They have ``columns``, with ``token``, ``document`` and its ``first`` row.
        """
        wanted = list(dict.fromkeys(["token", "document", *columns]))
        named = "', '".join(tokens)  # none holds a quote, see ``store.tokens``
        condition = f"token IN ('{named}')" if tokens else "false"
        if documents is not None and len(documents) <= _MANY:
            some = documents.tolist()
            condition += f" AND document IN ({_listed(some)})" if some else " AND false"
        rows = await self._ask(schema.POSTINGS, wanted, condition)
        owners = rows["document"].to_numpy()
        there, firsts = self._state.records.listing.alive(owners)
        rows = rows.filter(pa.array(there)).append_column("first", pa.array(firsts))
        if documents is not None and len(documents) > _MANY:
            rows = of_documents(rows, documents)
        return rows

    async def near(
        self, vector: NDArray[np.float32], n: int, ids: NDArray[np.int64] | None, share: float
    ) -> pa.Table:
        """At least ``n`` rows of vectors by their angle, by the index where there is one.

        ``ids`` are the documents that they may be of, None for all. Many are not named in a query:
        so many rows are read that enough of them are of these documents, which have this ``share``
        of all rows.
        """
        if ids is None or len(ids) <= _MANY:
            return await self._near(vector, n, ids)
        asked = math.ceil(1.5 * n / share)
        while True:
            rows = await self._near(vector, asked, None)
            found = of_documents(rows, ids)
            if len(found) >= n or len(rows) < asked:
                return found
            asked *= 2

    async def _near(
        self, vector: NDArray[np.float32], n: int, ids: NDArray[np.int64] | None
    ) -> pa.Table:
        # Without the distance among the columns Lance writes a warning for every question.
        columns = ["document", "number", "scale", "vector", "_distance"]
        query = (
            self._state.tables[schema.VECTORS]
            .vector_search(vector.astype(np.float32))
            .distance_type("cosine")
            .ef(max(800, n))
            .minimum_nprobes(20)
            .select(columns)
            .limit(n)
        )
        records = self._state.records
        if ids is not None:
            query = query.where(f"document IN ({_listed(ids.tolist())})")
        elif records.gone and len(records.gone) <= _MANY:
            query = query.where(f"document NOT IN ({_listed(records.gone)})")
        return await query.to_arrow()

    async def _of(
        self,
        table: str,
        documents: Sequence[DocumentInfo],
        columns: Sequence[str],
        condition: str = "",
    ) -> pa.Table:
        if not documents:
            return schema.columns(table, self._dimensions).empty_table()
        ids = [info.id for info in documents]
        if len(ids) <= _MANY:
            limit = f"document IN ({_listed(ids)})"
            return await self._ask(
                table, columns, f"{limit} AND {condition}" if condition else limit
            )
        return of_documents(await self._ask(table, columns, condition), ids)

    async def _ask(self, table: str, columns: Sequence[str], condition: str) -> pa.Table:
        query = self._state.tables[table].query().select(list(columns))
        return await (query.where(condition) if condition else query).to_arrow()


def records(rows: pa.Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Some columns of rows as tuples."""
    return list(zip(*(rows[name].to_pylist() for name in columns), strict=True))


def of_documents(rows: pa.Table, ids: NDArray[np.int64] | Sequence[int]) -> pa.Table:
    """The rows of some documents."""
    return rows.filter(pa.array(np.isin(rows["document"].to_numpy(), ids)))


def rounded(rows: pa.Table) -> Rounded:
    """Scales and values of rows of ``vectors``."""
    column = rows["vector"].combine_chunks()
    width = column.type.list_size
    values = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
    return rows["scale"].to_numpy().astype(np.float32), values.astype(np.int8)


def _changed() -> StoreError:
    return StoreError(
        "parts of a document are gone: a vacuum ran meanwhile", "the same command again"
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
