"""Queries of one transaction that only reads, as few round trips as there are calls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

from milepost.store.base import Statistics
from milepost.store.postgres.address import Address
from milepost.store.postgres.connecting import LOCAL, Connection
from milepost.store.postgres.faults import REMADE, remade, translated

IDLE = TransactionStatus.IDLE

Rows = list[tuple[Any, ...]]
PreparedQuery = tuple[str, dict[str, Any]]  # a query and its values

_TOTALS: PreparedQuery = (
    "SELECT sum(documents)::int8, sum(sentences)::int8, sum(terms)::int8, sum(dead)::int8 "
    "FROM (SELECT FROM documents LIMIT 0) AS locked RIGHT JOIN totals ON true",
    {},
)
"""Documents are the first table of each transaction: one that erases all waits there, without a
deadlock."""


class Session:
    """One transaction of repeatable reads, which waits for the server ``round_trips`` times."""

    def __init__(
        self, pool: ConnectionPool[Connection], address: Address, patience_s: float
    ) -> None:
        self._pool, self._address, self._patience = pool, address, patience_s
        self._connection: Connection | None = None
        self.round_trips = 0

    def begin(self) -> Statistics:
        """Begin with the query of totals, whose state is that of all later ones.

        Connections that were lost while they lay idle are replaced, all at once: a server that was
        restarted has ended every one of them. Tables that another process makes anew are waited
        for.
        """
        until = time.monotonic() + self._patience
        with translated(self._address):
            while True:
                connection = self._pool.getconn()
                try:
                    ((totals,),) = self._ask(connection, [_TOTALS])
                except BaseException as error:
                    self._pool.putconn(connection)  # a broken one is thrown away
                    lost = isinstance(error, psycopg.OperationalError) and connection.broken
                    if time.monotonic() > until or not (lost or isinstance(error, REMADE)):
                        raise
                    if lost:
                        self._pool.check()
                else:
                    if None not in totals:
                        self._connection = connection
                        return Statistics(*totals)
                    # The tables are newer than the transaction, which sees no row of them.
                    self._pool.putconn(connection)
                    if time.monotonic() > until:
                        raise remade(self._address)
                time.sleep(0.05)

    def ask(self, *queries: PreparedQuery) -> list[Rows]:
        """Send queries together, wait once, and give the rows of each."""
        assert self._connection is not None
        with translated(self._address):
            return self._ask(self._connection, queries)

    def _ask(self, connection: Connection, queries: Sequence[PreparedQuery]) -> list[Rows]:
        self.round_trips += 1
        begins = connection.pooled and connection.info.transaction_status == IDLE
        with connection.pipeline():
            if begins:
                connection.execute(LOCAL, connection.session_settings)
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
