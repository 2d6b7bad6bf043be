"""The address of an index on a server: what is Milepost's own in it, and what may be printed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from milepost.errors import StoreError

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,40}")
_OWN = ("schema", "partitions")
_MOST_PARTITIONS = 1024


@dataclass(frozen=True, slots=True)
class Address:
    """Where an index is; ``conninfo``, for libpq, may hold a password, ``label`` is for messages.

    ``partitions`` of the tables with sentences only count where they are made.
    """

    conninfo: str = field(repr=False)
    schema: str
    partitions: int
    label: str


def parse(url: str) -> Address:
    """Read ``postgresql://USER:PASSWORD@HOST/DATABASE?schema=NAME&partitions=N``.

    ``schema`` (by default ``milepost``) keeps several indexes in one database apart; the other
    parameters are libpq's. Nothing of user or password is said in errors.
    """
    parts = urlsplit(url)
    given = parse_qsl(parts.query, keep_blank_values=True)
    own = {key: value for key, value in given if key in _OWN}
    schema, partitions = own.get("schema", "milepost"), own.get("partitions", "1")
    if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise StoreError(f"schema={schema!r} is not a schema name", "schema=small_letters")
    if not (partitions.isdecimal() and 1 <= int(partitions) <= _MOST_PARTITIONS):
        raise StoreError(f"partitions={partitions!r} is not valid", f"1 to {_MOST_PARTITIONS:,}")
    if any(key == "options" and "search_path" in value for key, value in given):
        raise StoreError("options= sets search_path, in which the tables would be", "?schema=NAME")
    # libpq takes a plus sign for one, not for a space.
    rest = urlencode([each for each in given if each[0] not in _OWN], quote_via=quote)
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise StoreError(
            "the port of the address is not a number", "postgresql://HOST:PORT/…"
        ) from error
    where = next((value for key, value in given if key == "host"), host or "this machine")
    where += f":{port}" if port else ""
    database = parts.path.lstrip("/") or "the default database"
    label = f"{database} on {where}" + ("" if schema == "milepost" else f", schema {schema}")
    return Address(urlunsplit(parts._replace(query=rest)), schema, int(partitions), label)
