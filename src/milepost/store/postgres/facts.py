"""The facts of a document, which filters ask for, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import Any

import psycopg

from milepost.filters.fact_rows import kept_facts
from milepost.types import Document

Row = tuple[object, ...]
"""Key, text, number, flag and date."""

_INSERT = (
    "INSERT INTO facts SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::float8[], "
    "%s::boolean[], %s::text[])"
)


def of(document: Document) -> list[Row]:
    """The facts of a document."""
    return [astuple(fact) for fact in kept_facts(document)]


def write(connection: psycopg.Connection[Any], document: int, rows: Iterable[Row]) -> None:
    """Write the facts of a document, in one statement."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    if columns:
        connection.execute(_INSERT, (document, *columns))
