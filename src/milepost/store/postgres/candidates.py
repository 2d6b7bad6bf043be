"""The rows that a search begins with: nearest by the index of vectors, matching by postings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.store import postings
from milepost.store.base import Statistics
from milepost.store.postgres.session import PreparedQuery, Rows
from milepost.store.tokens import token

EXACT = "(-scale * (vector::vector <#> %(vector)s::text::vector))::float4"
"""The dot product with a vector as it was stored: whole numbers and their scale."""

_MOST_POSTINGS = 2_000_000
"""Sentences up to which a word's postings are read to find candidates; of commoner words only
the rarest one is."""

_SPARE = 6
"""Rows that an approximate index is asked for, to each that is wanted: of 50,000 random vectors it
finds 99 % of the ten nearest with 6, and 87 % with 1.5."""

_SHIFT = 32
"""A sentence is found by its document's id, this many bits higher, and its number."""


def text_of(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector.astype(np.float32).tolist()))}]"


def tokens(terms: Sequence[str]) -> list[str]:
    """Terms as they are kept, each once."""
    return list(dict.fromkeys(map(token, terms)))


def nearest(
    vector: NDArray[np.float32], n: int, within: str, values: dict[str, Any], gate: str
) -> PreparedQuery:
    """Document, row and score of the nearest sentences, best first.

    The index gives rows by angle; those are scored exactly.

    Args:
        vector: of the question.
        n: maximum number of rows.
        within: a query of the ids of documents; empty for all.
        values: its values.
        gate: a condition without which nothing is read.
    """
    limit = f"AND document IN ({within})" if within else ""
    return (
        "WITH near AS MATERIALIZED ("
        f"SELECT document, number, scale, vector FROM vectors WHERE {gate} {limit} "
        "ORDER BY vector <=> %(vector)s::text::halfvec LIMIT %(spare)s) "
        f"SELECT document, first + number AS row, {EXACT} AS score "
        "FROM near JOIN documents ON id = document ORDER BY score DESC, row LIMIT %(n)s",
        values | {"vector": text_of(vector), "spare": max(0, n * _SPARE), "n": max(0, n)},
    )


def matching(terms: Sequence[str], within: str, values: dict[str, Any], gate: str) -> PreparedQuery:
    """How many sentences hold each term; and the postings of all but the commonest terms.

    The arguments are those of ``nearest``. A term's postings are one row: a row for each document
    would take Python longer to read than all else.
    """
    limit = f"AND document IN ({within})" if within else ""
    return (
        "WITH counted AS MATERIALIZED (SELECT term, sum(sentences)::int8 AS often FROM postings "
        f"WHERE {gate} AND term = ANY(%(terms)s) GROUP BY term), "
        "placed AS (SELECT term, often, sum(often) OVER w AS total, row_number() OVER w AS place "
        "FROM counted WINDOW w AS (ORDER BY often, term)) "
        "SELECT placed.term, often, documents, sizes, held FROM placed LEFT JOIN LATERAL ("
        "SELECT string_agg(int8send(document), ''::bytea) AS documents, "
        "string_agg(int4send(sentences), ''::bytea) AS sizes, "
        "string_agg(held, ''::bytea) AS held FROM postings "
        f"WHERE postings.term = placed.term AND (total <= %(postings)s OR place = 1) {limit}"
        ") AS lists ON true",
        values | {"terms": tokens(terms), "postings": _MOST_POSTINGS},
    )


def best(found: Rows, statistics: Statistics, n: int) -> tuple[NDArray[np.int64], ...]:
    """The sentences that match best, of what ``matching`` found: documents and numbers."""
    lists = {
        term: (
            np.frombuffer(documents, ">i8").astype(np.int64) << _SHIFT,
            np.frombuffer(sizes, ">i4").astype(np.int64),
            held,
        )
        for term, _, documents, sizes, held in found
        if documents is not None
    }
    mean = statistics.terms / max(1, statistics.sentences)
    rows = postings.best(lists, frequencies(found), statistics.sentences, mean, n)
    return rows >> _SHIFT, rows & ((1 << _SHIFT) - 1)


def frequencies(found: Rows) -> dict[str, int]:
    """How many sentences hold each term, of what ``matching`` found."""
    return {term: often for term, often, *_ in found}
