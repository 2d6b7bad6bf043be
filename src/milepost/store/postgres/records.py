"""Which documents there are: their records, by name, by row, and as a filter leaves them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.filters.patterns import advanced_regex
from milepost.store.conditions import HEAD, Dialect
from milepost.store.postgres.session import PreparedQuery
from milepost.store.records import COLUMNS
from milepost.store.strings import escape

RECORD = f"{', '.join(COLUMNS)}::text"  # properties are JSON


def _pattern(pattern: str) -> tuple[str, str]:
    return "facts.text ~ %s", advanced_regex(pattern)


def _named(names: Collection[str], values: dict[str, Any]) -> str:
    values["names"] = list(map(escape, names))
    return "documents.name = ANY(%(names)s)"


DIALECT = Dialect(
    value="%%(%s)s",
    having="EXISTS (SELECT FROM facts WHERE facts.document = documents.id AND %s)",
    head=f"left(facts.text, {HEAD})",
    position="strpos(facts.text, %s) > 0",
    pattern=_pattern,
    named=_named,
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
