"""Find documents of an index by name or by the path of their file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from milepost.errors import InputError, nearest
from milepost.intake import absolute
from milepost.store import Snapshot

Name = str | os.PathLike[str]
"""A document's name in the index, or the path of its file."""


def resolve_names(names: Name | Iterable[Name], state: Snapshot) -> frozenset[str]:
    """Resolve names and paths to the names of indexed documents.

    Raises:
        InputError: a document is not in the index; the nearest name is suggested.
    """
    given = [names] if isinstance(names, str | os.PathLike) else list(names)
    spelled = [name for each in given for name in (os.fspath(each), str(absolute(each)))]
    stored = {info.name for info in state.infos(spelled)}
    found = set()
    for each in given:
        written = os.fspath(each)
        name = written if written in stored else str(absolute(each))
        if name not in stored:
            raise InputError(*not_found(written, state))
        found.add(name)
    return frozenset(found)


def stored_name(name: Name, state: Snapshot) -> str:
    """Resolve a name, or the path of an indexed file, to the document's name."""
    written = os.fspath(name)
    if state.info(written) is None:
        path = str(absolute(name))
        if state.info(path) is not None:
            return path
    return written


def not_found(name: str, state: Snapshot) -> tuple[str, str]:
    """Return the problem and the hint for a document that is not in the index."""
    stored = [info.name for info in state.documents()]
    near = nearest(name, stored) or nearest(str(absolute(name)), stored)
    return f"{name} is not in the index", f"{near}milepost index {name}"
