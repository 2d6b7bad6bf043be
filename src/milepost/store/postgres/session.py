"""Queries of one transaction that only reads, as few round trips as there are calls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from milepost.store.postgres.address import Address
from milepost.store.postgres.faults import translated

Rows = list[tuple[Any, ...]]
Asked = tuple[str, dict[str, Any]]
"""A query and its values."""


class Session:
    """One transaction of repeatable reads; it begins with the first query.

    Attributes:
        round_trips: how often the server was waited for.
    """

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]], address: Address) -> None:
        self._pool, self._address = pool, address
        self._connection: psycopg.Connection[Any] | None = None
        self.round_trips = 0

    def ask(self, *queries: Asked) -> list[Rows]:
        """Send queries together, wait once, and give the rows of each.

        A connection that was lost while it lay idle is replaced before anything was read.
        """
        with translated(self._address):
            if self._connection is not None:
                return self._ask(self._connection, queries)
            for last in (False, False, True):
                connection = self._pool.getconn()
                try:
                    found = self._ask(connection, queries)
                except BaseException as error:
                    self._pool.putconn(connection)  # a broken one is thrown away
                    lost = isinstance(error, psycopg.OperationalError) and connection.broken
                    if last or not lost:
                        raise
                else:
                    self._connection = connection
                    return found
        raise AssertionError

    def _ask(self, connection: psycopg.Connection[Any], queries: Sequence[Asked]) -> list[Rows]:
        self.round_trips += 1
        with connection.pipeline():
            cursors = [
                connection.cursor(binary=True).execute(query.encode(), values)
                for query, values in queries
            ]
        return [cursor.fetchall() for cursor in cursors]

    def close(self) -> None:
        """End the transaction; the connection goes back to the pool."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):  # a broken connection is thrown away
                self.round_trips += 1
                connection.rollback()
            self._pool.putconn(connection)
