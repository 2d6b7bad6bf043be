"""Tell the folder of an index from the address of one on a server."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from milepost.errors import StoreError

# A scheme has two letters or more (C:/ is a drive). pathlib turns its "//" into "/".
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)


IndexPlace = Path | str
"""Where an index is: a folder, or an address."""

SERVERS = ("postgresql", "postgres")
"""Schemes of addresses that an index may have."""


def index_place(place: str | os.PathLike[str]) -> IndexPlace:
    """Return the folder that ``place`` names, or the address of an index on a server, unchanged.

    A folder whose name ends in a colon is written ``./NAME:/…``.

    Raises:
        StoreError: the address has another scheme. Its text holds the scheme alone: user,
            password, host and query of an address may be secret.

    >>> index_place("notes/").name
    'notes'
    >>> index_place("postgresql://db.example.com/notes")
    'postgresql://db.example.com/notes'
    """
    written = os.fspath(place)
    scheme = _SCHEME.match(written)
    if scheme is None and "://" not in written:
        return Path(place)
    name = f"{scheme[1]}://…" if scheme else "an address with ://"
    if scheme is None or scheme[1].lower() not in SERVERS:
        raise StoreError(f"{name} cannot hold an index", "--db FOLDER, or postgresql://HOST/NAME")
    if "://" not in written:  # pathlib made one slash of two
        raise StoreError(f"{name} was given as a path", "the address as a string")
    parts = urlsplit(written)
    if parts.netloc.count("@") > 1 or "@" in parts.path or parts.fragment:
        raise StoreError(
            f"{name} cannot be read: a password holds one of / @ #", "%2F, %40 and %23 for these"
        )
    return written


def label(place: IndexPlace) -> str:
    """Name a place for users: a folder with its path, an address without user, password and query.

    >>> label("postgresql://anna:secret@db.example.com/notes?sslmode=require")
    'postgresql://db.example.com/notes'
    """
    if isinstance(place, Path):
        return str(place.absolute())
    parts = urlsplit(place)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def has_password(place: IndexPlace) -> bool:
    """Whether an address holds a password."""
    if isinstance(place, Path):
        return False
    parts = urlsplit(place)
    return ":" in parts.netloc.rpartition("@")[0] or "password=" in parts.query


def local_folder(place: IndexPlace) -> Path:
    """The folder on this machine for what belongs to an index: its own, or one for an address.

    That of an address is in the user's data folder and named after a hash of ``label``.
    """
    if isinstance(place, Path):
        return place
    name = hashlib.sha256(label(place).encode()).hexdigest()[:16]
    return data_folder() / "servers" / name


def data_folder() -> Path:
    """Where Milepost keeps what belongs to the user and to no folder of theirs."""
    base = os.environ.get("XDG_DATA_HOME") or (
        os.environ.get("LOCALAPPDATA") or str(Path.home() / ".local" / "share")
    )
    return Path(base).expanduser() / "milepost"
