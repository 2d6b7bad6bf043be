"""One committed state of an index on a server; each call waits for the server once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.properties import Properties
from milepost.store import packing, postings
from milepost.store.base import (
    EVERYWHERE,
    Among,
    DocumentInfo,
    Measured,
    Sentences,
    Snapshot,
    Statistics,
)
from milepost.store.check import check_vector
from milepost.store.local import in_turn
from milepost.store.postgres.session import Asked, Rows, Session
from milepost.store.strings import given, kept
from milepost.store.tokens import token
from milepost.types import Mark

_RECORD = (
    "id, name, source, hash, size, mtime_ns, characters, sentences, first, notes, options, "
    "properties::text"
)

TOTALS: Asked = (
    "SELECT sum(documents)::int8, sum(sentences)::int8, sum(terms)::int8, sum(dead)::int8 "
    "FROM totals",
    {},
)

_EXACT = "(-scale * (vector::vector <#> %(vector)s::text::vector))::float4"
"""The dot product with a vector as it was stored: whole numbers and their scale."""

_MOST_POSTINGS = 2_000_000
"""Sentences up to which a word's postings are read to find candidates; of commoner words only
the rarest one is."""

_SPARE = 1.5
"""Rows that an approximate index is asked for, to each that is wanted."""


class PostgresSnapshot(Snapshot):
    """See ``store.base.Snapshot``; made by ``PostgresStore.snapshot`` alone."""

    def __init__(self, session: Session, statistics: Statistics, dimensions: int) -> None:
        self._session, self._statistics, self._dimensions = session, statistics, dimensions

    @property
    def round_trips(self) -> int:
        """How often the server was waited for."""
        return self._session.round_trips

    def documents(self) -> list[DocumentInfo]:
        """All documents in order of their first row."""
        return self._infos("true", {})

    def info(self, name: str) -> DocumentInfo | None:
        """One document's record, or None."""
        found = self._infos("name = %(name)s", {"name": kept(name)})
        return found[0] if found else None

    def _infos(self, where: str, values: dict[str, Any]) -> list[DocumentInfo]:
        query = f"SELECT {_RECORD} FROM documents WHERE {where} ORDER BY first, id"
        return [_info(record) for record in self._session.ask((query, values))[0]]

    def statistics(self) -> Statistics:
        """Count over all documents."""
        return self._statistics

    def choose(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        *,
        most: int,
        candidates: int,
        among: Among = EVERYWHERE,
    ) -> tuple[list[DocumentInfo], bool]:
        """Choose the documents that a search scores; those without sentences are left out."""
        check_vector(vector, self._dimensions)
        chosen, values = _among(among)
        size = (
            "%(sentences)s::int8"
            if among.names is None
            else f"(SELECT coalesce(sum(sentences), 0) FROM documents WHERE {chosen})"
        )
        values |= {"most": most, "sentences": self._statistics.sentences}
        wide = f"{size} > %(most)s"
        within = "" if among.names is None else f"SELECT id FROM documents WHERE {chosen}"
        documents, near, frequencies, held = self._session.ask(
            (
                f"SELECT {_RECORD} FROM documents WHERE sentences > 0 AND {chosen} "
                f"AND NOT {wide} ORDER BY first, id",
                values,
            ),
            _nearest(vector, candidates, wide, within, values),
            *_matching(terms, wide, within, values),
        )
        if documents or not (near or held):
            return [_info(record) for record in documents], True
        best = _best(frequencies, held, self._statistics, candidates)
        owners = in_turn(np.array([row[0] for row in near], np.int64), best[0])
        ids = list(dict.fromkeys(owners.tolist()))
        infos = {info.id: info for info in self._infos("id = ANY(%(ids)s)", {"ids": ids})}
        return [infos[each] for each in ids], False

    def measure(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        documents: Sequence[DocumentInfo],
    ) -> Measured:
        """Measure a question's vector and terms against the sentences of some documents."""
        check_vector(vector, self._dimensions)
        tokens = {token(term): term for term in terms}
        values = _ids(documents) | {"terms": list(tokens)}
        bodies, similar, held, frequencies = self._session.ask(
            _bodies(values),
            _similarity(vector, values),
            (
                "SELECT term, document, held FROM postings "
                "WHERE term = ANY(%(terms)s) AND document = ANY(%(ids)s)",
                values,
            ),
            _frequencies(values),
        )
        sentences = _sentences(bodies, documents)
        starts = dict(
            zip((info.id for info in documents), sentences.document_offsets.tolist(), strict=False)
        )
        counts = {term: np.zeros(len(sentences.spans), np.float32) for term in terms}
        for name, document, data in held:
            numbers, often, _ = postings.unpacked(data)
            counts[tokens[name]][starts[document] + numbers] = often
        often_in: dict[str, int] = dict(frequencies)
        return Measured(
            sentences,
            _scores(similar, documents),
            counts,
            {term: often_in.get(name, 0) for name, term in tokens.items()},
            self._statistics,
        )

    def sentences(self, documents: Sequence[DocumentInfo]) -> Sentences:
        """Everything but the vectors of the sentences of some documents."""
        return _sentences(self._session.ask(_bodies(_ids(documents)))[0], documents)

    def similarity(
        self, vector: NDArray[np.float32], documents: Sequence[DocumentInfo]
    ) -> NDArray[np.float32]:
        """``(n,)`` float32: dot product of ``vector`` ``(d,)`` with all sentences of documents."""
        check_vector(vector, self._dimensions)
        return _scores(self._session.ask(_similarity(vector, _ids(documents)))[0], documents)

    def vectors(self, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
        """``(n, d)`` float32: the stored vectors, as rounded to int8."""
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

    def texts(self, parts: Sequence[tuple[DocumentInfo, int, int]]) -> list[str]:
        """``text[start:end]`` of each part."""
        slices = packing.slices(parts)
        return packing.joined(slices, _found(self._session.ask(_pieces(slices))[0]))

    def marks(self, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
        """Pages and headings of each document."""
        return _marks(self._session.ask(_marked(documents))[0], documents)

    def excerpts(
        self, parts: Sequence[tuple[DocumentInfo, int, int]]
    ) -> list[tuple[str, tuple[Mark, ...]]]:
        """``texts`` of the parts, each with the ``marks`` of its document."""
        slices, documents = packing.slices(parts), [info for info, _, _ in parts]
        pieces, marked = self._session.ask(_pieces(slices), _marked(documents))
        texts = packing.joined(slices, _found(pieces))
        return list(zip(texts, _marks(marked, documents), strict=True))

    def postings(
        self, terms: Sequence[str]
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """For each term: the rows that hold it, ascending, and how often each does."""
        query = (
            "SELECT term, first, held FROM postings JOIN documents ON id = document "
            "WHERE term = ANY(%(terms)s) ORDER BY first"
        )
        lists: dict[str, list[tuple[NDArray[np.int64], NDArray[np.int32]]]] = defaultdict(list)
        for name, first, held in self._session.ask((query, {"terms": _tokens(terms)}))[0]:
            numbers, counts, _ = postings.unpacked(held)
            lists[name].append((numbers + first, counts))
        none = np.empty(0, np.int64), np.empty(0, np.int32)
        found = {}
        for term in terms:
            parts = [none, *lists.get(token(term), ())]
            found[term] = (
                np.concatenate([rows for rows, _ in parts]),
                np.concatenate([counts for _, counts in parts]),
            )
        return found

    def nearest(
        self,
        vector: NDArray[np.float32],
        n: int,
        documents: Sequence[DocumentInfo] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` rows most similar to ``vector``, and their scores, best first."""
        check_vector(vector, self._dimensions)
        values = {} if documents is None else _ids(documents)
        within = "" if documents is None else "SELECT unnest(%(ids)s::int8[])"
        found = self._session.ask(_nearest(vector, n, "true", within, values))[0]
        rows = np.array([row for _, row, _ in found], np.int64)
        return rows, np.array([score for _, _, score in found], np.float32)

    def matching(
        self, terms: Sequence[str], n: int, documents: Sequence[DocumentInfo] | None = None
    ) -> NDArray[np.int64]:
        """At most ``n`` rows that hold one of the terms, best by BM25 of the sentence."""
        values = {} if documents is None else _ids(documents)
        within = "" if documents is None else "SELECT unnest(%(ids)s::int8[])"
        frequencies, held = self._session.ask(*_matching(terms, "true", within, values))
        return _best(frequencies, held, self._statistics, n)[1]


def _among(among: Among) -> tuple[str, dict[str, Any]]:
    """The condition on ``documents`` that a search is limited by, and its values."""
    if among.names is None:
        return "true", {}
    return "name = ANY(%(names)s)", {"names": [kept(name) for name in among.names]}


def _ids(documents: Sequence[DocumentInfo]) -> dict[str, Any]:
    return {"ids": [info.id for info in documents]}


def _tokens(terms: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(token, terms)))


def _vector(vector: NDArray[np.float32]) -> str:
    return f"[{','.join(map(repr, vector.astype(np.float32).tolist()))}]"


def _nearest(
    vector: NDArray[np.float32], n: int, condition: str, within: str, values: dict[str, Any]
) -> Asked:
    """Document, row and score of the nearest sentences, best first.

    The index gives rows by angle; those are scored exactly.
    """
    limit = "" if not within else f"AND document IN ({within})"
    return (
        "WITH near AS MATERIALIZED ("
        f"SELECT document, number, scale, vector FROM vectors WHERE {condition} {limit} "
        "ORDER BY vector <=> %(vector)s::text::halfvec LIMIT %(spare)s) "
        f"SELECT document, first + number AS row, {_EXACT} AS score "
        "FROM near JOIN documents ON id = document ORDER BY score DESC, row LIMIT %(n)s",
        values | {"vector": _vector(vector), "spare": max(0, int(n * _SPARE)), "n": max(0, n)},
    )


def _matching(
    terms: Sequence[str], condition: str, within: str, values: dict[str, Any]
) -> tuple[Asked, Asked]:
    """How many sentences hold each term; and the postings of all but the commonest terms."""
    values = values | {"terms": _tokens(terms), "postings": _MOST_POSTINGS}
    limit = "" if not within else f"AND document IN ({within})"
    read = (
        "SELECT term, document, first, held FROM postings JOIN documents ON id = document "
        "WHERE term IN (SELECT term FROM ("
        "SELECT term, sum(sum(sentences)) OVER w AS total, row_number() OVER w AS place "
        "FROM postings WHERE term = ANY(%(terms)s) GROUP BY term "
        "WINDOW w AS (ORDER BY sum(sentences), term)) AS counted "
        f"WHERE total <= %(postings)s OR place = 1) AND {condition} {limit}"
    )
    return _frequencies(values), (read, values)


def _frequencies(values: dict[str, Any]) -> Asked:
    return (
        "SELECT term, sum(sentences)::int8 FROM postings WHERE term = ANY(%(terms)s) GROUP BY term",
        values,
    )


def _best(
    frequencies: Rows, held: Rows, statistics: Statistics, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lists: dict[str, list[tuple[int, int, bytes]]] = defaultdict(list)
    for term, document, first, data in held:
        lists[term].append((document, first, data))
    mean = statistics.terms / max(1, statistics.sentences)
    return postings.best(lists, dict(frequencies), statistics.sentences, mean, n)


def _bodies(values: dict[str, Any]) -> Asked:
    return (
        "SELECT document, bounds, lengths, vocab_coverage, paragraph_starts FROM bodies "
        "WHERE document = ANY(%(ids)s)",
        values,
    )


def _sentences(records: Rows, documents: Sequence[DocumentInfo]) -> Sentences:
    found = {document: (a, b, c, d) for document, a, b, c, d in records}
    return packing.sentences([found[info.id] for info in documents], documents)


def _similarity(vector: NDArray[np.float32], values: dict[str, Any]) -> Asked:
    return (
        f"SELECT document, string_agg(float4send({_EXACT}), ''::bytea ORDER BY number) "
        "FROM vectors WHERE document = ANY(%(ids)s) GROUP BY document",
        values | {"vector": _vector(vector)},
    )


def _scores(records: Rows, documents: Sequence[DocumentInfo]) -> NDArray[np.float32]:
    found: dict[int, bytes] = dict(records)
    return np.frombuffer(b"".join(found.get(info.id, b"") for info in documents), ">f4").astype(
        np.float32
    )


def _pieces(slices: Sequence[packing.Slice]) -> Asked:
    wanted = packing.wanted(slices)
    return (
        "SELECT document, number, text FROM pieces JOIN "
        "unnest(%(ids)s::int8[], %(numbers)s::int4[]) AS wanted (document, number) "
        "USING (document, number)",
        {
            "ids": [document for document, _ in wanted],
            "numbers": [number for _, number in wanted],
        },
    )


def _found(records: Rows) -> dict[tuple[int, int], bytes]:
    return {(document, number): bytes(packed) for document, number, packed in records}


def _marked(documents: Sequence[DocumentInfo]) -> Asked:
    return "SELECT document, marks FROM bodies WHERE document = ANY(%(ids)s)", _ids(documents)


def _marks(records: Rows, documents: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
    found = {document: packing.marks(packed) for document, packed in records}
    return [found[info.id] for info in documents]


def _info(record: tuple[Any, ...]) -> DocumentInfo:
    number, name, source, digest, size, mtime, characters, count, first = record[:9]
    notes, options, properties = record[9:]
    return DocumentInfo(
        name=given(name),
        source=None if source is None else given(source),
        hash=given(digest),
        signature=None if size is None else (size, mtime),
        characters=characters,
        sentences=count,
        first=first,
        notes=tuple(json.loads(notes)),
        id=number,
        options=options,
        properties=Properties.stored(properties),
    )
