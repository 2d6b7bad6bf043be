"""Check the schema version of files that Milepost writes, and reject other versions."""

from __future__ import annotations

from pathlib import Path

from milepost._optional import UPGRADE
from milepost.errors import MilepostError, ModelError


def check_schema(
    path: str | Path,
    found: object,
    ours: int,
    renew: str,
    error: type[MilepostError] = ModelError,
) -> None:
    """Reject a file whose schema is not the expected one.

    Args:
        path: the file.
        found: its schema; any value that is not an ``int`` counts as missing.
        ours: the schema that this version reads and writes.
        renew: hint for files of an older schema: the command that writes the file again.
        error: the class to raise.

    Raises:
        MilepostError: the schema differs; raised as ``error``.
    """
    if type(found) is not int:
        raise error(f"{path} has no schema number; this version reads schema {ours}", renew)
    if found != ours:
        raise error(
            f"{path} has schema {found}, this version reads schema {ours}",
            UPGRADE if found > ours else renew,
        )
