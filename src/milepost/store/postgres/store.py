"""The store on a server: the contract, over a pool of connections."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import psycopg
from psycopg import IsolationLevel
from psycopg import errors as pg
from psycopg_pool import ConnectionPool, PoolTimeout

from milepost._forking import run_in_child
from milepost.errors import IndexBusy, StoreError
from milepost.store.base import DocumentInfo, Entry
from milepost.store.check import check_entry
from milepost.store.postgres import schema, upkeep, write
from milepost.store.postgres.address import parse
from milepost.store.postgres.connecting import Connection, connect, parameters, settings
from milepost.store.postgres.faults import REMADE, translate, translated
from milepost.store.postgres.session import Session
from milepost.store.postgres.snapshot import PostgresSnapshot
from milepost.store.records import prepare
from milepost.store.strings import escape

T = TypeVar("T")

# It warns of connections that come back in a transaction, which is how a snapshot ends, and of
# rollbacks on connections that were lost, which Milepost reports itself.
logging.getLogger("psycopg").setLevel(logging.ERROR)

_READERS = 16  # connections that read at one time; more searches wait
_TRIES = 3  # how often a write is begun anew where the connection was lost

_PUTS = 500
"""Documents after which the totals are joined: each adds a row, and every search reads them."""

_of_parent: list[object] = []  # what a fork has copied: to close it would end the parent's


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
        self._closed = False
        self._writer: Connection | None = None
        self._pool: ConnectionPool[Connection] | None = None
        with translated(self._address), connect(self._address, patience_s) as connection:
            model = fingerprint, dimensions
            self._extension = schema.ready(connection, self._address, model, create=create)
        self._pool = self._readers()
        run_in_child(self._forget)

    def _forget(self) -> None:
        """Let the child of a fork make connections of its own."""
        _of_parent.append((self._pool, self._writer))
        self._pool = self._writer = None

    def _readers(self) -> ConnectionPool[Connection]:
        session_settings = settings(self._address, self._patience, self._extension)

        def settle(connection: Connection) -> None:
            connection.settle(session_settings)
            connection.commit()
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            connection.read_only = True

        return ConnectionPool(
            self._address.conninfo,
            connection_class=Connection,
            kwargs=parameters(self._patience),
            min_size=1,
            max_size=_READERS,
            timeout=max(self._patience, 1.0),
            configure=settle,
            open=True,
            name="milepost",
        )

    def _open(self) -> ConnectionPool[Connection]:
        if self._closed:
            raise StoreError(f"the index {self._address.label} is closed")
        if self._pool is None:
            self._pool = self._readers()
        return self._pool

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        session = Session(self._open(), self._address, self._patience)
        try:
            yield PostgresSnapshot(session, session.begin(), self.dimensions)
        except PoolTimeout:
            with translated(self._address):
                connect(self._address, self._patience).close()  # or it says why there is none
            raise IndexBusy(
                f"{self._address.label}: no connection was free", "fewer searches at one time"
            ) from None
        finally:
            session.close()

    def put(self, entry: Entry) -> None:
        check_entry(entry, self.dimensions)
        prepared = prepare(entry)

        def put(connection: Connection) -> None:
            first = write.reserved(connection, prepared.record["sentences"])
            with connection.transaction():
                write.put(connection, first, prepared)
            self._puts += 1
            if self._puts % _PUTS == 0:
                upkeep.join_totals(connection)

        self._write(put)

    def touch(self, info: DocumentInfo) -> bool:
        def touch(connection: Connection) -> bool:
            with connection.transaction():
                return write.touch(connection, info)

        return self._write(touch)

    def delete(self, name: str) -> bool:
        def delete(connection: Connection) -> bool:
            with connection.transaction():
                return write.delete(connection, escape(name))

        return self._write(delete)

    def vacuum(self, *, now: bool = False) -> None:
        until = time.monotonic() + self._patience
        while self._write(partial(upkeep.vacuum, now=now)):
            if time.monotonic() > until:
                raise IndexBusy(
                    f"{self._address.label}: a transaction of the database keeps removed text",
                    "end it, then milepost remove --now --db ADDRESS",
                )
            time.sleep(0.1)

    def remains(self, *, now: bool) -> str:
        """See ``Store``; what belongs to the whole server is not Milepost's to rewrite."""
        if now:
            self._write(upkeep.refuse_pooler)
        server = "the server's write-ahead log and backups, as long as it keeps them"
        return server if now else f"pages of its tables, until other rows take them; {server}"

    def optimize(self) -> None:
        self._write(upkeep.optimize)

    def close(self) -> None:
        self._closed = True
        if self._pool is not None:
            self._pool.close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _write(self, work: Callable[[Connection], T]) -> T:
        """Run a transaction; it is begun anew where the connection was lost.

        That is safe: a document that was stored all the same is stored again. So is a wait for
        another process that erases the index and makes it anew.
        """
        self._open()
        if self._read_only:
            raise StoreError(f"the index {self._address.label} was opened for reading only")
        until = time.monotonic() + self._patience
        losses = 0
        while True:
            try:
                if self._writer is None or self._writer.closed:
                    self._writer = connect(self._address, self._patience, self._extension)
                return work(self._writer)
            except REMADE as error:
                if time.monotonic() > until:
                    raise translate(error, self._address) from None
                time.sleep(0.1)
            except psycopg.Error as error:
                lost = isinstance(error, psycopg.OperationalError) and self._lost(error)
                losses += lost
                if not lost or losses == _TRIES:
                    raise translate(error, self._address) from None
                time.sleep(0.2 * 2 ** (losses - 1))

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


def erase_schema(url: str, *, patience_s: float) -> None:
    """Remove the tables of an index, and nothing else."""
    address = parse(url)
    with translated(address), connect(address, patience_s) as connection:
        schema.erase(connection, address)
