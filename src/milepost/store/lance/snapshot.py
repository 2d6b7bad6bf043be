"""One committed state of an index in Lance tables: which documents there are is in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Coroutine, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from milepost.store import packing, postings
from milepost.store.base import (
    ALL,
    DocumentInfo,
    DocumentSelection,
    Measured,
    Part,
    Sentences,
    Statistics,
)
from milepost.store.check import check_vector
from milepost.store.lance import schema
from milepost.store.lance.address import Address
from milepost.store.lance.faults import translated
from milepost.store.lance.loop import together, wait
from milepost.store.lance.reading import Reading, Rounded, of_documents, records, rounded
from milepost.store.lance.state import State
from milepost.store.listing import ListedSnapshot
from milepost.store.local import Postings, count, rows_of
from milepost.store.tokens import token, tokens
from milepost.types import Mark

_SPARE = 1.5  # rows that an approximate index is asked for, to each that is wanted
_BLOCK = 4096  # vectors multiplied at a time


class LanceSnapshot(ListedSnapshot):
    """See ``store.base.Snapshot``; made by ``LanceStore.snapshot`` alone."""

    def __init__(self, state: State, reading: Reading, address: Address, dimensions: int) -> None:
        self.listing, self._statistics = state.records.listing, state.records.statistics
        self._reading, self._address, self._dimensions = reading, address, dimensions

    def statistics(self) -> Statistics:
        return self._statistics

    def candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        n: int,
        ranges: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """See ``LocalSnapshot.candidates``; both lists are read at the same time."""
        check_vector(vector, self._dimensions)
        ids = None if ranges is None else self.listing.ids[self.listing.owning(ranges[:, 0])]
        nearest, matching = self._wait(
            self._nearest(vector, n, ranges, ids), self._matching(terms, n, ids)
        )
        return nearest, matching

    def score_inputs(
        self, vector: NDArray[np.float32], terms: Sequence[str], documents: Sequence[DocumentInfo]
    ) -> Measured:
        check_vector(vector, self._dimensions)
        named = {token(term): term for term in terms}
        total = sum(info.sentences for info in documents)
        every = total >= self.statistics().sentences
        ids = None if every else np.array([info.id for info in documents], np.int64)
        bodies, vectors, rows, *more = self._wait(
            self._reading.bodies(documents),
            self._reading.vectors(documents),
            self._reading.postings(list(named), ["sentences", "held"], ids),
            *([] if every else [self._reading.postings(list(named), ["sentences"])]),
        )
        sentences = packing.sentences(bodies, documents)
        starts = {
            info.id: start
            for info, start in zip(documents, sentences.document_offsets.tolist(), strict=False)
        }
        counts = {term: np.zeros(len(sentences.spans), np.float32) for term in terms}
        placed = defaultdict[str, list[tuple[int, bytes]]](list)
        for name, document, held in records(rows, ("token", "document", "held")):
            if document in starts:  # one without sentences need not be among them
                placed[name].append((starts[document], held))
        for name, some in placed.items():
            numbers, often, _ = postings.rows(postings.joined(some))
            counts[named[name]][numbers] = often
        frequencies = _frequencies(more[0] if more else rows)
        return Measured(
            sentences,
            _dot(vectors, vector),
            counts,
            {term: frequencies.get(name, 0) for name, term in named.items()},
        )

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        (bodies,) = self._wait(self._reading.bodies(documents))
        return packing.sentences(bodies, documents)

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        (found,) = self._wait(self._reading.vectors(documents))
        parts = [np.empty((0, self._dimensions), np.float32)]
        return np.concatenate(parts + [scales[:, None] * values for scales, values in found])

    def texts(self, parts: Sequence[Part]) -> list[str]:
        slices = packing.slices(parts)
        (pieces,) = self._wait(self._reading.pieces(slices))
        return packing.joined(slices, pieces)

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        (found,) = self._wait(self._reading.marks(documents))
        return packing.marks(found, documents)

    def excerpts(self, parts: Sequence[Part]) -> list[tuple[str, tuple[Mark, ...]]]:
        slices, documents = packing.slices(parts), [info for info, _, _ in parts]
        pieces, marks = self._wait(self._reading.pieces(slices), self._reading.marks(documents))
        texts = packing.joined(slices, pieces)
        return list(zip(texts, packing.marks(marks, documents), strict=True))

    def postings(self, terms: Sequence[str], among: DocumentSelection = ALL) -> dict[str, Postings]:
        names = tokens(terms)
        ids = None
        if among != ALL:
            among.check_keys(self.keys)
            ids = self.listing.ids[self.listing.places(among)]
        (rows,) = self._wait(self._reading.postings(names, ["held"], ids))
        return postings.of_terms(terms, _lists(names, rows))

    def _wait(self, *work: Coroutine[Any, Any, Any]) -> list[Any]:
        with translated(self._address):
            return wait(together(*work))

    async def _nearest(
        self,
        vector: NDArray[np.float32],
        n: int,
        ranges: NDArray[np.int64] | None,
        ids: NDArray[np.int64] | None,
    ) -> NDArray[np.int64]:
        total = self.statistics().sentences if ranges is None else count(ranges)
        if n <= 0 or not total:
            return np.empty(0, np.int64)
        if total < schema.INDEX_FROM:
            chosen = self.listing.documents if ranges is None else self.owners(ranges[:, 0])
            rows = rows_of(chosen)
            scores = _dot(await self._reading.vectors(chosen), vector)
        else:
            share = total / self.statistics().sentences
            found = await self._reading.near(vector, int(n * _SPARE), ids, share)
            there, firsts = self.listing.alive(found["document"].to_numpy())
            found = found.filter(pa.array(there))
            rows = firsts + found["number"].to_numpy()
            scores = _dot([rounded(found)], vector)
        nearest: NDArray[np.int64] = rows[np.lexsort((rows, -scores))[:n]]
        return nearest

    async def _matching(
        self, terms: Sequence[str], n: int, ids: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        names, statistics = tokens(terms), self._statistics
        if n <= 0 or not names or (ids is not None and not len(ids)):
            return np.empty(0, np.int64)
        if statistics.sentences < schema.INDEX_FROM:
            rows = await self._reading.postings(names, ["sentences", "held"])
            frequencies = _frequencies(rows)
            if ids is not None:
                rows = of_documents(rows, ids)
        else:
            frequencies = _frequencies(await self._reading.postings(names, ["sentences"]))
            rarest = min(frequencies, key=lambda name: (frequencies[name], name), default="")
            some = [
                name
                for name, frequency in frequencies.items()
                if frequency <= postings.MOST or name == rarest
            ]
            rows = await self._reading.postings(some, ["held"], ids)
        return postings.best(_lists(names, rows), frequencies, statistics, n)


def _lists(names: Sequence[str], rows: pa.Table) -> dict[str, postings.Lists]:
    held: dict[str, list[tuple[int, bytes]]] = {name: [] for name in names}
    for name, first, data in records(rows, ("token", "first", "held")):
        held[name].append((first, data))
    return {name: postings.joined(some) for name, some in held.items()}


def _frequencies(rows: pa.Table) -> dict[str, int]:
    total = rows.group_by("token").aggregate([("sentences", "sum")])
    return dict(records(total, ("token", "sentences_sum")))


def _dot(parts: Sequence[Rounded], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Dot products with the vectors of documents, one behind the other."""
    scores = [np.empty(0, np.float32)]
    wide = vector.astype(np.float32)
    for scales, values in parts:
        for at in range(0, len(scales), _BLOCK):
            rows = scales[at : at + _BLOCK, None] * values[at : at + _BLOCK]
            # A matrix product may sum a row differently depending on its place; so equal rows tie.
            scores.append(np.einsum("ij,j->i", rows, wide))
    return np.concatenate(scores)
