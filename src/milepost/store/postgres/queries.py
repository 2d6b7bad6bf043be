"""Queries: the records of documents, by name, row and filter, and the rows a search begins with.

Nearest sentences come by the index of vectors, matching ones by postings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.store import postings
from milepost.store.base import Statistics
from milepost.store.conditions import HEAD, Dialect
from milepost.store.postgres.session import PreparedQuery, Rows
from milepost.store.records import COLUMNS
from milepost.store.tokens import tokens

RECORD = f"{', '.join(COLUMNS)}::text"  # properties are JSON


_PARTS = re.compile(r"\[!?+\]?+[^\]]*\]|.", re.DOTALL)
"""Of the pattern of a filter: a set such as ``[!a-z]``, or one character."""


def _pattern(pattern: str) -> tuple[str, str]:
    """The regular expression that means what ``fnmatch`` does; its sets are ``fnmatch``'s own."""
    return "facts.text ~ %s", f"^{''.join(map(_regex, _PARTS.findall(pattern)))}$"


def _regex(part: str) -> str:
    if len(part) > 1:
        return translate(part).removeprefix("(?s:")[: -len(r")\Z")]
    return {"*": ".*", "?": "."}.get(part) or f"\\U{ord(part):08x}"


DIALECT = Dialect(
    value="%%(%s)s",
    having="EXISTS (SELECT FROM facts WHERE facts.document = documents.id AND %s)",
    head=f"left(facts.text, {HEAD})",
    position="strpos(facts.text, %s) > 0",
    pattern=_pattern,
    named="documents.name = ANY(%(names)s)",
    names=list,
)


def selected(where: str, values: dict[str, Any]) -> PreparedQuery:
    """The records of documents under a condition, in order of their first row."""
    return f"SELECT {RECORD} FROM documents WHERE {where} ORDER BY first, id", values


BEYOND = "current_setting('milepost.beyond')::boolean"
"""What ``beyond`` found, for the queries behind it in the same round trip."""


def beyond(where: str, values: dict[str, Any], most: int) -> PreparedQuery:
    """Note whether documents under a condition have more sentences than ``most``.

    No more of them are read than that takes. It returns ``true`` or ``false``.
    """
    return (
        "SELECT set_config('milepost.beyond', (SELECT coalesce(sum(sentences), 0) > %(most)s FROM ("
        "SELECT sentences FROM documents "
        f"WHERE sentences > 0 AND {where} LIMIT %(most)s + 1) AS enough)::text, true)",
        values | {"most": most},
    )


def owning(rows: NDArray[np.int64]) -> PreparedQuery:
    """The records of the documents that own some rows."""
    return (
        f"SELECT {RECORD} FROM documents WHERE id IN (SELECT (SELECT id FROM documents "
        "WHERE first <= row AND sentences > 0 ORDER BY first DESC LIMIT 1) "
        "FROM unnest(%(rows)s::int8[]) AS row) ORDER BY first",
        {"rows": rows.tolist()},
    )


EXACT = "(-scale * (vector::vector <#> %(vector)s::text::vector))::float4"
"""The dot product with a vector as it was stored: whole numbers and their scale."""

_SPARE = 6
"""Rows that an approximate index is asked for, to each that is wanted: of 50,000 random vectors it
finds 99 % of the ten nearest with 6, and 87 % with 1.5."""

_SHIFT = 32  # a sentence is found by its document's id, this many bits higher, and its number


def text_of(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector.astype(np.float32).tolist()))}]"


def nearest(
    vector: NDArray[np.float32], n: int, within: str, values: dict[str, Any], gate: str
) -> PreparedQuery:
    """Document, row and score of the nearest sentences, best first.

    The index gives rows by angle; those are scored exactly. ``within`` is a query of the ids of
    documents, with its ``values``, empty for all; ``gate`` a condition without which nothing is
    read.
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


def lists_of(owner: str) -> str:
    """The postings of a term as columns of one row: of each document ``owner``, size and bytes.

    A row for each document would take Python longer to read than all else.
    """
    return (
        f"string_agg(int8send({owner}), ''::bytea) AS documents, "
        "string_agg(int4send(postings.sentences), ''::bytea) AS sizes, "
        "string_agg(held, ''::bytea) AS held"
    )


def numbers(data: bytes, form: str) -> NDArray[np.int64]:
    """What the server sends as bytes."""
    return np.frombuffer(data, form).astype(np.int64)


def matching(terms: Sequence[str], within: str, values: dict[str, Any], gate: str) -> PreparedQuery:
    """How many sentences hold each term; and the postings of all but the commonest terms.

    The arguments are those of ``nearest``.
    """
    limit = f"AND document IN ({within})" if within else ""
    return (
        "WITH counted AS MATERIALIZED (SELECT term, sum(sentences)::int8 AS often FROM postings "
        f"WHERE {gate} AND term = ANY(%(terms)s) GROUP BY term), "
        "placed AS (SELECT term, often, sum(often) OVER w AS total, row_number() OVER w AS place "
        "FROM counted WINDOW w AS (ORDER BY often, term)) "
        "SELECT placed.term, often, documents, sizes, held FROM placed LEFT JOIN LATERAL ("
        f"SELECT {lists_of('document')} FROM postings "
        f"WHERE postings.term = placed.term AND (total <= %(postings)s OR place = 1) {limit}"
        ") AS lists ON true",
        values | {"terms": tokens(terms), "postings": postings.MOST},
    )


def best(found: Rows, statistics: Statistics, n: int) -> tuple[NDArray[np.int64], ...]:
    """The sentences that match best, of what ``matching`` found: documents and numbers."""
    lists = {
        term: (numbers(documents, ">i8") << _SHIFT, numbers(sizes, ">i4"), held)
        for term, _, documents, sizes, held in found
        if documents is not None
    }
    rows = postings.best(lists, frequencies(found), statistics, n)
    return rows >> _SHIFT, rows & ((1 << _SHIFT) - 1)


def frequencies(found: Rows) -> dict[str, int]:
    """How many sentences hold each term, of what ``matching`` found."""
    return {term: often for term, often, *_ in found}
