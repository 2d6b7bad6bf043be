"""Queries of one transaction that only reads, as few round trips as there are calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from milepost.store.postgres.address import Address
from milepost.store.postgres.faults import translated

Rows = list[tuple[Any, ...]]
Asked = tuple[str, dict[str, Any]]
"""A query and its values."""


class Session:
    """One transaction of repeatable reads.

    Attributes:
        round_trips: how often the server was waited for.
    """

    def __init__(self, pool: ConnectionPool[psycopg.Connection[Any]], address: Address) -> None:
        self._pool, self._address = pool, address
        self._connection: psycopg.Connection[Any] | None = None
        self.round_trips = 0

    def begin(self, *queries: Asked) -> list[Rows]:
        """Begin with these queries, whose state is that of all later ones.

        A connection that was lost while it lay idle is replaced.
        """
        with translated(self._address):
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

    def ask(self, *queries: Asked) -> list[Rows]:
        """Send queries together, wait once, and give the rows of each."""
        assert self._connection is not None
        with translated(self._address):
            return self._ask(self._connection, queries)

    def _ask(self, connection: psycopg.Connection[Any], queries: Sequence[Asked]) -> list[Rows]:
        self.round_trips += 1
        with connection.pipeline():
            cursors = [
                connection.cursor(binary=True).execute(query.encode(), values)
                for query, values in queries
            ]
        return [cursor.fetchall() for cursor in cursors]

    def close(self) -> None:
        """Give the connection back; a thread of the pool ends the transaction."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.putconn(connection)
