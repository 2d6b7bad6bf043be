"""One committed state of an index on a server; each call waits for the server once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.store import packing, postings
from milepost.store.base import (
    ALL,
    DocumentInfo,
    DocumentSelection,
    Measured,
    Part,
    Sentences,
    Snapshot,
    Statistics,
)
from milepost.store.check import check_vector
from milepost.store.conditions import ALWAYS
from milepost.store.local import Postings, interleave
from milepost.store.postgres import queries
from milepost.store.postgres.queries import EXACT, best, matching, nearest, numbers, text_of
from milepost.store.postgres.session import PreparedQuery, Rows, Session
from milepost.store.records import KEYS, document_info, in_order
from milepost.store.tokens import token, tokens
from milepost.types import Mark

_KEYS: PreparedQuery = KEYS, {}

_BODIES = (
    "SELECT document, bounds, lengths, vocab_coverage, paragraph_starts FROM bodies "
    "WHERE document = ANY(%(ids)s)"
)
_MARKS = "SELECT document, marks FROM bodies WHERE document = ANY(%(ids)s)"
_OFTEN = "SELECT term, sum(sentences)::int8 FROM postings WHERE term = ANY(%(terms)s) GROUP BY term"

_SIMILAR = (
    f"SELECT document, string_agg(float4send({EXACT}), ''::bytea ORDER BY number) "
    "FROM vectors WHERE document = ANY(%(ids)s) GROUP BY document"
)

_LISTS = (
    f"SELECT term, {queries.lists_of('document')} FROM postings "
    "WHERE term = ANY(%(terms)s) AND document = ANY(%(ids)s) GROUP BY term"
)


class PostgresSnapshot(Snapshot):
    """See ``store.base.Snapshot``; made by ``PostgresStore.snapshot`` alone."""

    def __init__(self, session: Session, statistics: Statistics, dimensions: int) -> None:
        self._session, self._statistics, self._dimensions = session, statistics, dimensions
        self._known: dict[int, DocumentInfo] = {}  # by id, of those that were read
        self._frequencies: dict[str, int] = {}  # of the tokens that were asked for

    def select(
        self, among: DocumentSelection, most: int | None = None
    ) -> list[DocumentInfo] | None:
        where, values = queries.DIALECT.condition(among)
        if most is None:
            return self._infos(self._ask(among, queries.selected(where, values))[0])
        if among == ALL and self._statistics.sentences > most:
            return None
        size, found = self._ask(
            among,
            queries.beyond(where, values, most),
            queries.selected(f"{where} AND NOT {queries.BEYOND}", values),
        )
        return None if size == [("true",)] else self._infos(found)

    def owners(self, rows: NDArray[np.int64]) -> list[DocumentInfo]:
        infos = self._infos(self._session.ask(queries.owning(rows))[0])
        return in_order(infos, rows)

    def _ask(self, among: DocumentSelection, *asked: PreparedQuery) -> list[Rows]:
        """Ask, and in the same round trip for the keys that a filter may have."""
        if not among.asks_for_keys:
            return self._session.ask(*asked)
        *found, keys = self._session.ask(*asked, _KEYS)
        among.check_keys(lambda: [key for (key,) in keys])
        return found

    def _infos(self, found: Rows) -> list[DocumentInfo]:
        infos = list(map(document_info, found))
        self._known |= {info.id: info for info in infos}
        return infos

    def statistics(self) -> Statistics:
        return self._statistics

    def select_candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        *,
        most: int,
        candidates: int,
        among: DocumentSelection = ALL,
    ) -> tuple[list[DocumentInfo], bool]:
        check_vector(vector, self._dimensions)
        where, values = queries.DIALECT.condition(among)
        filled = queries.selected(f"sentences > 0 AND {where}", values)
        if among == ALL:
            if self._statistics.sentences <= most:
                return self._infos(self._session.ask(filled)[0]), True
            near, held = self._session.ask(
                nearest(vector, candidates, "", {}, ALWAYS), matching(terms, "", {}, ALWAYS)
            )
        else:
            within = f"SELECT id FROM documents WHERE {where}"
            size, documents, near, held = self._ask(
                among,
                queries.beyond(where, values, most),
                queries.selected(f"sentences > 0 AND {where} AND NOT {queries.BEYOND}", values),
                nearest(vector, candidates, within, values, queries.BEYOND),
                matching(terms, within, values, queries.BEYOND),
            )
            if size != [("true",)]:
                return self._infos(documents), True
        counts = queries.frequencies(held)
        self._frequencies |= {name: counts.get(name, 0) for name in tokens(terms)}
        owners, _ = best(held, self._statistics, candidates)
        ids = list(
            dict.fromkeys(interleave(np.array([row[0] for row in near], np.int64), owners).tolist())
        )
        unknown = [each for each in ids if each not in self._known]
        if unknown:
            asked = queries.selected("id = ANY(%(ids)s)", {"ids": unknown})
            self._infos(self._session.ask(asked)[0])
        return [self._known[each] for each in ids], False

    def score_inputs(
        self, vector: NDArray[np.float32], terms: Sequence[str], documents: Sequence[DocumentInfo]
    ) -> Measured:
        check_vector(vector, self._dimensions)
        named = {token(term): term for term in terms}
        values = _ids(documents) | {"terms": list(named)}
        bodies, similar, held, *more = self._session.ask(
            (_BODIES, values),
            (_SIMILAR, values | {"vector": text_of(vector)}),
            (_LISTS, values),
            *([] if named.keys() <= self._frequencies.keys() else [(_OFTEN, values)]),
        )
        for rows in more:
            self._frequencies |= dict.fromkeys(named, 0) | dict(rows)
        sentences = _sentences(bodies, documents)
        ids = np.array([info.id for info in documents], np.int64)
        order = np.argsort(ids)
        starts = sentences.document_offsets[:-1][order]
        counts = {term: np.zeros(len(sentences.spans), np.float32) for term in terms}
        for name, owners, sizes, data in held:
            at = starts[np.searchsorted(ids[order], numbers(owners, ">i8"))]
            sentence, often, _ = postings.rows((at, numbers(sizes, ">i4"), data))
            counts[named[name]][sentence] = often
        scores: dict[int, bytes] = dict(similar)
        joined = b"".join(scores.get(info.id, b"") for info in documents)
        return Measured(
            sentences,
            np.frombuffer(joined, ">f4").astype(np.float32),
            counts,
            {term: self._frequencies[name] for name, term in named.items()},
        )

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        return _sentences(self._session.ask((_BODIES, _ids(documents)))[0], documents)

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        query = (
            "SELECT document, string_agg(float4send(scale), ''::bytea ORDER BY number), "
            "string_agg(halfvec_send(vector), ''::bytea ORDER BY number) "
            "FROM vectors WHERE document = ANY(%(ids)s) GROUP BY document"
        )
        found = {
            document: (scales, values)
            for document, scales, values in self._session.ask((query, _ids(documents)))[0]
        }
        parts = [np.empty((0, self._dimensions), np.float32)]
        for info in documents:
            if info.id in found:
                scales, values = found[info.id]
                rows = np.frombuffer(values, ">f2").reshape(-1, self._dimensions + 2)[:, 2:]
                parts.append(
                    rows.astype(np.float32) * np.frombuffer(scales, ">f4")[:, None].astype("f4")
                )
        return np.concatenate(parts)

    def texts(self, parts: Sequence[Part]) -> list[str]:
        slices = packing.slices(parts)
        return packing.joined(slices, self._session.ask(_pieces(slices))[0])

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        return packing.marks(self._session.ask((_MARKS, _ids(documents)))[0], documents)

    def excerpts(self, parts: Sequence[Part]) -> list[tuple[str, tuple[Mark, ...]]]:
        slices, documents = packing.slices(parts), [info for info, _, _ in parts]
        pieces, marks = self._session.ask(_pieces(slices), (_MARKS, _ids(documents)))
        texts = packing.joined(slices, pieces)
        return list(zip(texts, packing.marks(marks, documents), strict=True))

    def postings(self, terms: Sequence[str], among: DocumentSelection = ALL) -> dict[str, Postings]:
        where, values = queries.DIALECT.condition(among)
        query = (
            f"SELECT term, {queries.lists_of('first')} FROM postings "
            f"JOIN documents ON id = document WHERE term = ANY(%(terms)s) AND {where} GROUP BY term"
        )
        (found,) = self._ask(among, (query, values | {"terms": tokens(terms)}))
        lists = {
            name: (numbers(firsts, ">i8"), numbers(sizes, ">i4"), held)
            for name, firsts, sizes, held in found
        }
        return postings.of_terms(terms, lists)


def _ids(documents: Sequence[DocumentInfo]) -> dict[str, Any]:
    return {"ids": [info.id for info in documents]}


def _sentences(records: Rows, documents: Sequence[DocumentInfo]) -> Sentences:
    found = {document: (a, b, c, d) for document, a, b, c, d in records}
    return packing.sentences([found[info.id] for info in documents], documents)


def _pieces(slices: Sequence[packing.Slice]) -> PreparedQuery:
    wanted = packing.wanted(slices)
    return (
        "SELECT document, number, text FROM pieces JOIN "
        "unnest(%(ids)s::int8[], %(numbers)s::int4[]) AS wanted (document, number) "
        "USING (document, number)",
        {"ids": [document for document, _ in wanted], "numbers": [number for _, number in wanted]},
    )
