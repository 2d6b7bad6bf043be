"""Connections to the server, directly or through a pooler, with Milepost's settings.

A direct connection gets its settings once. A pooler such as PgBouncer gives every transaction
another connection of the server: there each transaction begins with the settings, nothing is kept
beyond its end, and no statement is prepared. They do not travel as libpq's ``options``, which
poolers refuse or drop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg.abc import Params

from milepost.store.postgres.address import Address

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

_SET_CONFIG = (
    "(SELECT count(set_config(key, value, {local})) "
    "FROM unnest(%(keys)s::text[], %(values)s::text[]) AS session_settings (key, value))"
)
_DIRECT = (
    f"SELECT CASE WHEN pg_backend_pid() = %(pid)s THEN {_SET_CONFIG.format(local='false')} END"
)
LOCAL = f"SELECT {_SET_CONFIG.format(local='true')}"  # give a transaction its settings

_PARAMETER = re.compile(r"(?:-c\s*|--)([\w.-]+)=")


class Connection(psycopg.Connection[Any]):
    """A connection that knows whether a pooler is between it and the server, and the settings."""

    pooled = False
    session_settings: dict[str, Any] = {}  # noqa: RUF012 - replaced, never changed

    def settle(self, session_settings: dict[str, Any]) -> None:
        """Send the settings; where a pooler is between, each transaction sends them.

        The process of the server that answers is then another one than libpq knows of.
        """
        row = self.execute(_DIRECT, session_settings | {"pid": self.info.backend_pid}).fetchone()
        self.session_settings, self.pooled = session_settings, row is None or row[0] is None
        if self.pooled:
            self.prepare_threshold = None

    @contextmanager
    def transaction(
        self, savepoint_name: str | None = None, force_rollback: bool = False
    ) -> Iterator[psycopg.Transaction]:
        """See psycopg; behind a pooler it begins with the settings."""
        with super().transaction(savepoint_name, force_rollback) as begun:
            if self.pooled:
                self.execute(LOCAL, self.session_settings)
            yield begun


def settings(address: Address, patience_s: float, extension: str) -> dict[str, Any]:
    """The settings, without those that the address itself has (``options``).

    ``patience_s`` is how long a lock is waited for, ``extension`` pgvector's schema as it is
    quoted.
    """
    every = _SETTINGS | {"lock_timeout": f"{round(1000 * patience_s)}ms"}
    given = psycopg.conninfo.conninfo_to_dict(address.conninfo).get("options") or ""
    for name in _PARAMETER.findall(str(given)):
        every.pop(name.replace("-", "_"), None)
    every["search_path"] = search_path(address, extension)
    return {"keys": list(every), "values": list(every.values())}


def parameters(patience_s: float) -> dict[str, Any]:
    """Arguments of every connection."""
    return {
        "fallback_application_name": "milepost",
        "connect_timeout": max(2, round(patience_s)),
        "keepalives_idle": 30,
    }


def connect(address: Address, patience_s: float, extension: str = "public") -> Connection:
    """A connection that commits each statement outside of a transaction."""
    made = Connection.connect(address.conninfo, autocommit=True, **parameters(patience_s))
    try:
        made.settle(settings(address, patience_s, extension))
    except BaseException:
        made.close()
        raise
    return made


def scalar(
    connection: psycopg.Connection[Any],
    query: LiteralString | bytes,
    values: Params | None = None,
) -> Any:
    """The first value of the first row that a query finds; None where it finds none."""
    row = connection.execute(query, values).fetchone()
    return None if row is None else row[0]


def extension_schema(connection: psycopg.Connection[Any]) -> str:
    """The schema that holds pgvector, quoted where it must be; ``public`` where there is none."""
    query = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    return scalar(connection, query) or "public"


def search_path(address: Address, extension: str) -> str:
    """The schemas in which the tables and pgvector are found."""
    return f"{address.schema}, {extension}, public"
