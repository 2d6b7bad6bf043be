"""Which documents there are: their records, by name, by row, and as a filter leaves them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.filters.patterns import has_characters, sqlite_glob
from milepost.store.base import DocumentInfo, DocumentSelection
from milepost.store.conditions import ALWAYS, HEAD, Dialect
from milepost.store.conditions import condition as filtered
from milepost.store.records import COLUMNS, KEYS, document_info, in_order
from milepost.store.sqlite.vectors import numbers
from milepost.store.sqlite.write import escape, unescape

_RECORD = ", ".join(COLUMNS)


def _pattern(pattern: str) -> tuple[str, str]:
    """``fits`` is Python's own, see ``folder.connect``: SQLite asks it where ``GLOB`` differs."""
    if has_characters(pattern):
        return "fits(facts.text, %s)", pattern
    return "facts.text GLOB %s", sqlite_glob(pattern)


_DIALECT = Dialect(
    value=":%s",
    having="id IN (SELECT document FROM facts WHERE %s)",
    head=f"substr(facts.text, 1, {HEAD})",
    position="instr(facts.text, %s) > 0",
    pattern=_pattern,
)


def select(connection: sqlite3.Connection, among: DocumentSelection) -> list[DocumentInfo]:
    """The documents of ``among`` in order of their first row."""
    condition, values = _condition(among)
    found = connection.execute(
        f"SELECT {_RECORD} FROM documents WHERE {condition} ORDER BY first, id", values
    )
    return [document_info(each, unescape) for each in found]


def ranges(connection: sqlite3.Connection, among: DocumentSelection) -> NDArray[np.int64]:
    """``(m, 2)`` int64: the rows of the documents of ``among`` that have some."""
    condition, values = _condition(among)
    found = connection.execute(
        "SELECT group_concat(first), group_concat(first + sentences) FROM documents "
        f"WHERE sentences > 0 AND {condition}",
        values,
    ).fetchone()
    return np.sort(numbers(found), axis=0)  # as they do not overlap, the columns sort alike


def owners(connection: sqlite3.Connection, rows: NDArray[np.int64]) -> list[DocumentInfo]:
    """The documents that own some rows, each once, in their order."""
    found = connection.execute(
        f"SELECT {_RECORD} FROM documents WHERE sentences > 0 AND first IN ("
        "SELECT (SELECT max(first) FROM runs WHERE first <= value) FROM json_each(?)) "
        "ORDER BY first",
        (json.dumps(rows.tolist()),),
    )
    return in_order([document_info(each, unescape) for each in found], rows)


def keys(connection: sqlite3.Connection) -> frozenset[str]:
    """The keys of facts."""
    found = connection.execute(KEYS)
    return frozenset(key for (key,) in found)


def _condition(among: DocumentSelection) -> tuple[str, dict[str, Any]]:
    """The condition on ``documents`` that a search is limited by, and its values."""
    values: dict[str, Any] = {}
    parts = [ALWAYS]
    if among.names is not None:
        plain, odd = _spelled(among.names)
        values |= {"names": json.dumps(plain)} | odd
        named = "name IN (SELECT value FROM json_each(:names))"
        parts.append(f"({' OR '.join([named, *(f'name = :{key}' for key in odd)])})")
    if among.where is not None:
        parts.append(filtered(among.where.root, _DIALECT, values))
    return " AND ".join(parts), values


def _spelled(names: Iterable[str]) -> tuple[list[str], dict[str, str | bytes]]:
    """Names as they are kept; apart, with names of values, those that JSON does not hold."""
    plain: list[str] = []
    odd: dict[str, str | bytes] = {}
    for name in names:
        each = escape(name)
        if isinstance(each, str) and "\0" not in each:
            plain.append(each)
        else:
            odd[f"name{len(odd)}"] = each
    return plain, odd
