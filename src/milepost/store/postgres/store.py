"""The store on a server: the contract, over a pool of connections."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import IsolationLevel
from psycopg import errors as pg
from psycopg_pool import ConnectionPool, PoolTimeout

from milepost.errors import StoreError
from milepost.store.base import Entry, Statistics
from milepost.store.check import check_entry
from milepost.store.postgres import schema, upkeep, write
from milepost.store.postgres.address import Address, parse
from milepost.store.postgres.faults import translate, translated
from milepost.store.postgres.session import Session
from milepost.store.postgres.snapshot import TOTALS, PostgresSnapshot
from milepost.store.strings import escape
from milepost.types import Value

T = TypeVar("T")

# It warns of connections that come back in a transaction, which is how a snapshot ends, and of
# rollbacks on connections that were lost, which Milepost reports itself.
logging.getLogger("psycopg").setLevel(logging.ERROR)

_READERS = 16
"""Connections that read at one time; more searches wait."""

_TRIES = 3
"""How often a write is begun anew where the connection was lost."""

_PUTS = 500
"""Documents after which the totals are joined: each adds a row, and every search reads them."""

_SETTINGS = {
    "jit": "off",  # compiling a query takes longer than running it
    "plan_cache_mode": "force_custom_plan",  # a limit of 5 and one of 600 have different plans
    "hnsw.ef_search": "1000",
    "hnsw.iterative_scan": "relaxed_order",
    "work_mem": "32MB",
    # Where a scan ends that a filter leaves little of.
    "hnsw.max_scan_tuples": "200000",
    "hnsw.scan_mem_multiplier": "2",
}


class PostgresStore:
    """A store on a server, open; safe to use from several threads, processes and machines.

    A snapshot sees the newest committed state and waits for no writer. Writers of different
    documents do not wait for each other.
    """

    def __init__(
        self,
        url: str,
        fingerprint: str,
        dimensions: int,
        *,
        create: bool = True,
        read_only: bool = False,
        patience_s: float = 5.0,
    ) -> None:
        self._address = parse(url)
        self.fingerprint, self.dimensions = fingerprint, dimensions
        self._read_only, self._patience = read_only, patience_s
        self._puts = 0
        self._writer: psycopg.Connection[Any] | None = None
        self._pool: ConnectionPool[psycopg.Connection[Any]] | None = None
        with translated(self._address), connect(self._address, patience_s) as connection:
            if create:
                schema.prepare(connection, self._address, fingerprint, dimensions)
            schema.check(connection, self._address, fingerprint, dimensions)
            schema.check_server(connection, self._address)
        self._pool = self._readers()

    def _readers(self) -> ConnectionPool[psycopg.Connection[Any]]:
        def settle(connection: psycopg.Connection[Any]) -> None:
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            connection.read_only = True

        return ConnectionPool(
            self._address.conninfo,
            kwargs=_parameters(self._address, self._patience),
            min_size=1,
            max_size=_READERS,
            timeout=max(self._patience, 1.0),
            configure=settle,
            open=True,
            name="milepost",
        )

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """Hold the newest committed state for the length of a ``with`` block."""
        if self._pool is None:
            raise StoreError(f"the index {self._address.label} is closed")
        session = Session(self._pool, self._address)
        try:
            statistics = Statistics(*session.begin(TOTALS)[0][0])
            yield PostgresSnapshot(session, statistics, self.dimensions)
        except PoolTimeout:
            raise StoreError(
                f"{self._address.label}: no connection was free", "fewer searches at one time"
            ) from None
        finally:
            session.close()

    def put(self, entry: Entry) -> None:
        """Add a document, or replace the one of the same name, in one transaction."""
        check_entry(entry, self.dimensions)
        prepared = write.prepare(entry)

        def put(connection: psycopg.Connection[Any]) -> None:
            first = write.reserved(connection, prepared.sentences)
            with connection.transaction():
                write.put(connection, first, prepared)
            self._puts += 1
            if self._puts % _PUTS == 0:
                upkeep.join_totals(connection)

        self._write(put)

    def touch(
        self,
        name: str,
        signature: tuple[int, int] | None,
        options: str = "",
        properties: Mapping[str, Value] | None = None,
    ) -> bool:
        """Note what is new of a document whose text is the same; False where there is none."""

        def touch(connection: psycopg.Connection[Any]) -> bool:
            with connection.transaction():
                return write.touch(connection, name, signature, options, properties)

        return self._write(touch)

    def delete(self, name: str) -> bool:
        """Remove a document; False where there was none of that name."""

        def delete(connection: psycopg.Connection[Any]) -> bool:
            with connection.transaction():
                return write.delete(connection, escape(name))

        return self._write(delete)

    def vacuum(self) -> None:
        """Give back the space of deleted documents; rows keep their numbers."""
        self._write(upkeep.vacuum)

    def optimize(self) -> None:
        """Bring the statistics up to date; make the approximate index once it is worth it."""
        self._write(upkeep.optimize)

    def close(self) -> None:
        """Close the connections; the store cannot be used afterwards."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._read_only = True

    def _write(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Run a transaction; it is begun anew where the connection was lost.

        That is safe: a document that was stored all the same is stored again.
        """
        if self._pool is None:
            raise StoreError(f"the index {self._address.label} is closed")
        if self._read_only:
            raise StoreError(f"the index {self._address.label} was opened for reading only")
        for left in reversed(range(_TRIES)):
            try:
                if self._writer is None or self._writer.closed:
                    self._writer = connect(self._address, self._patience)
                return work(self._writer)
            except psycopg.OperationalError as error:
                lost = self._lost(error)
                if not (lost and left):
                    raise translate(error, self._address) from None
                time.sleep(0.2 * 2 ** (_TRIES - 1 - left))
            except psycopg.Error as error:
                raise translate(error, self._address) from None
        raise AssertionError

    def _lost(self, error: psycopg.OperationalError) -> bool:
        """Whether the connection was lost; it is let go of then, and the next write has a new one.

        A connection that the server has ended may still look whole: in mid-command it is not used.
        """
        writer = self._writer
        if writer is not None:
            ended = isinstance(error, pg.AdminShutdown | pg.CrashShutdown)
            idle = writer.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            if idle and not (ended or writer.broken):
                return False
            writer.close()
            self._writer = None
        return True


def erase(url: str, *, patience_s: float) -> None:
    """Remove the tables of an index, and nothing else.

    Raises:
        NotAnIndex: there is none at this address.
        StoreError: the server cannot be reached, or refuses it.
    """
    address = parse(url)
    with translated(address), connect(address, patience_s) as connection:
        schema.erase(connection, address)


def connect(address: Address, patience_s: float) -> psycopg.Connection[Any]:
    """A connection that commits each statement outside of a transaction."""
    return psycopg.connect(address.conninfo, autocommit=True, **_parameters(address, patience_s))


def _parameters(address: Address, patience_s: float) -> dict[str, Any]:
    settings = _SETTINGS | {
        "search_path": f"{address.schema},public",
        "lock_timeout": f"{round(1000 * patience_s)}ms",
    }
    given = psycopg.conninfo.conninfo_to_dict(address.conninfo).get("options") or ""
    ours = " ".join(f"-c {key}={value}" for key, value in settings.items())
    return {
        "options": f"{ours} {given}".strip(),
        "fallback_application_name": "milepost",
        "connect_timeout": max(2, round(patience_s)),
        "keepalives_idle": 30,
    }
