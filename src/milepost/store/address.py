"""Tell the folder of an index from the address of a server."""

from __future__ import annotations

import os
import re
from pathlib import Path

from milepost.errors import StoreError

# A scheme has two letters or more (C:/ is a drive). pathlib turns its "//" into "/".
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)


def index_folder(place: str | os.PathLike[str]) -> Path:
    """Return the folder that ``place`` names; an address such as ``postgresql://…`` is refused.

    A folder whose name ends in a colon is written ``./NAME:/…``.

    Raises:
        StoreError: ``place`` is an address. Its text holds the scheme alone: user, password, host
            and query of an address may be secret.

    >>> index_folder("notes/").name
    'notes'
    """
    written = os.fspath(place)
    scheme = _SCHEME.match(written)
    if scheme or "://" in written:
        name = f"{scheme[1]}://…" if scheme else "an address with ://"
        raise StoreError(f"{name} names a server, not a folder", "--db FOLDER")
    return Path(place)
