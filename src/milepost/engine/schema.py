"""Versions of the files that Milepost writes: another one is refused, never read in part."""

from __future__ import annotations

from pathlib import Path

from milepost.errors import MilepostError, ModelError

UPGRADE = "pip install -U milepost"


def check_schema(
    path: str | Path,
    found: object,
    ours: int,
    renew: str,
    error: type[MilepostError] = ModelError,
) -> None:
    """Refuse a file of another schema than ours.

    Args:
        path: the file.
        found: its schema; anything but an ``int`` is not one.
        ours: the schema that this version reads and writes.
        renew: the command that writes the file anew, for files of an older schema.
        error: the class to raise.

    Raises:
        MilepostError: the schema is another, as ``error``.
    """
    if type(found) is not int:
        raise error(f"{path} has no schema number; this version reads schema {ours}", renew)
    if found != ours:
        raise error(
            f"{path} has schema {found}, this version reads schema {ours}",
            UPGRADE if found > ours else renew,
        )
