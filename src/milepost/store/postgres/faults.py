"""What the server or the driver reports, in words for users; nothing secret is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg

from milepost.errors import IndexBusy, StorageFull, StoreError
from milepost.store.postgres.address import Address

REMADE = (pg.UndefinedTable, pg.InvalidSchemaName)
"""Errors of a process whose tables another one erases."""


def remade(address: Address) -> IndexBusy:
    """That another process makes the index anew."""
    return IndexBusy(
        f"{address.label}: another process makes the index anew", "the same command again"
    )


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Turn errors of the driver into Milepost's."""
    try:
        yield
    except psycopg.Error as error:
        # "from None": the driver's text may repeat the address with its password.
        raise translate(error, address) from None


def translate(error: psycopg.Error, address: Address) -> StoreError:
    """An error of the driver as one of Milepost's."""
    where = address.label
    match error:
        case pg.DiskFull() | pg.OutOfMemory():
            return StorageFull(f"{where}: the server is out of space", "free space on the server")
        case pg.ReadOnlySqlTransaction():
            return StoreError(f"{where} takes no writes (a standby?)", "the primary server")
        case pg.LockNotAvailable() | pg.DeadlockDetected() | pg.SerializationFailure():
            return IndexBusy(f"{where}: another process is writing", "the same command again")
        case pg.UndefinedTable() | pg.InvalidSchemaName():
            return remade(address)
        case pg.QueryCanceled():
            return StoreError(
                f"{where}: the server ended a long query", "a longer statement_timeout"
            )
        case pg.InsufficientPrivilege():
            return StoreError(f"{where}: the user may not do this: {_reason(error)}", "GRANT it")
        case pg.InvalidPassword() | pg.InvalidAuthorizationSpecification():
            return StoreError(f"{where}: wrong user or password", "PGUSER, PGPASSWORD or ~/.pgpass")
        case pg.InvalidCatalogName():
            return StoreError(f"{where}: there is no such database", "createdb NAME")
        case pg.TooManyConnections():
            return IndexBusy(f"{where}: too many connections", "a larger max_connections")
        case pg.AdminShutdown() | pg.CrashShutdown():
            return IndexBusy(f"{where}: the connection was lost", "the same command again")
        case psycopg.OperationalError() if error.sqlstate is None:
            return _unreachable(error, address)
        case psycopg.ProgrammingError() if error.sqlstate is None:
            return StoreError(f"{where}: the address cannot be read", "postgresql://HOST/NAME")
    return StoreError(f"{where}: {_reason(error)}")


def _unreachable(error: psycopg.OperationalError, address: Address) -> StoreError:
    text, where = str(error).lower(), address.label
    if "password" in text or "authentication" in text:
        return StoreError(f"{where}: wrong user or password", "PGUSER, PGPASSWORD or ~/.pgpass")
    if "does not exist" in text and "database" in text:
        return StoreError(f"{where}: there is no such database", "createdb NAME")
    if "too many" in text or "remaining connection slots" in text:
        return IndexBusy(f"{where}: too many connections", "a larger max_connections")
    if "startup parameter" in text:
        return StoreError(
            f"{where}: the pooler takes no options", "the address without options=, or the server's"
        )
    for kind, sign, words in (
        (IndexBusy, "refused", "no server answers"),
        (IndexBusy, "no such file", "no server answers"),
        (IndexBusy, "timeout", "the server did not answer in time"),
        (StoreError, "translate host", "there is no such host"),
        (StoreError, "name or service", "there is no such host"),
        (IndexBusy, "starting up", "the server is starting"),
        (IndexBusy, "shutting down", "the server is shutting down"),
        (StoreError, "invalid sslmode", "the address cannot be read"),
        (StoreError, "ssl", "no secure connection could be made"),
        (StoreError, "invalid", "the address cannot be read"),
        (StoreError, "missing", "the address cannot be read"),
        (StoreError, 'role "', "the server does not let this user in"),
        (StoreError, "permission denied", "the server does not let this user in"),
        (StoreError, "pg_hba.conf", "the server does not let this host in, or not so"),
        (StoreError, "not currently accepting", "the database takes no connections"),
    ):
        if sign in text:
            return kind(f"{where}: {words}", "pg_isready -d ADDRESS")
    return IndexBusy(f"{where}: the connection was lost", "the same command again")


def _reason(error: psycopg.Error) -> str:
    """The server's own one line; never the driver's, which may hold the address."""
    return error.diag.message_primary or type(error).__name__
