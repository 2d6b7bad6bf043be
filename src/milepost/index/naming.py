"""Names of documents: found by path or the end of it, and hashed to ids."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import PurePath

from milepost.errors import InputError, nearest_file
from milepost.index.places import absolute
from milepost.store import Snapshot

Name = str | os.PathLike[str]
"""A document's name in the index, the path of its file, or the last parts of either."""

_SHOWN = 5
_SHORT_ID = 8
"""Characters of a short id: of 10,000 documents two have the same once in 90 libraries, and then
both are meant."""


@lru_cache(maxsize=1 << 16)
def document_id(name: str) -> str:
    """The id of a document in addresses: what a name, often a long path, is hashed to."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def short_id(name: str) -> str:
    """The beginning of a document's id, which stands for it in what agents read."""
    return document_id(name)[:_SHORT_ID]


def resolve_names(names: Name | Iterable[Name], state: Snapshot) -> frozenset[str]:
    """Resolve names and paths to names of indexed documents; one that is none is refused."""
    given = several(names)
    found = stored_names(given, state)
    for written, name in zip(given, found, strict=True):
        if name is None:
            raise InputError(*not_found(os.fspath(written), state))
    return frozenset(filter(None, found))


def several(names: Name | Iterable[Name]) -> list[Name]:
    """List the names given, one or several."""
    return [names] if isinstance(names, str | os.PathLike) else list(names)


def matching(known: Collection[str], *spelled: str, within: bool = True) -> list[str]:
    """The known documents that a name means, as it was written and, if it may be one, as a path.

    The one of that very name; else those whose paths end in what was written, and ``within`` those
    in that folder; if there are none, those that match the pattern. Ends are whole parts of a path.
    """
    for each in spelled:
        if each in known:
            return [each]
    paths = {name: _posix(name) for name in known}
    ways = [_posix(each) for each in spelled]
    end = f"/{ways[0]}"
    folders = tuple(f"{way.rstrip('/')}/" for way in ways) if within else ()
    found = [
        name for name, path in paths.items() if f"/{path}".endswith(end) or path.startswith(folders)
    ]
    if found or not within or not any(sign in end for sign in "*?["):
        return found
    return [name for name, path in paths.items() if any(_fits(path, way) for way in ways)]


@lru_cache(maxsize=1 << 16)
def _posix(name: str) -> str:
    return PurePath(name).as_posix()


def _fits(path: str, pattern: str) -> bool:
    """Whether the last parts of a path match those of a pattern, which a client may have written.

    ``PurePath.match`` of Python 3.13 takes 20 times as long with each ``*`` more.
    """
    asked = pattern.split("/")
    parts = path.split("/")[-len(asked) :]
    return len(parts) == len(asked) and all(map(fnmatch, parts, asked))


def stored_names(names: Iterable[Name], state: Snapshot) -> list[str | None]:
    """Resolve each name, the path of its file, or the end of either; None for no document.

    An end that is that of several documents is refused.
    """
    spelled = [(os.fspath(name), str(absolute(name))) for name in names]
    stored = {info.name for info in state.infos([each for pair in spelled for each in pair])}
    every: list[str] | None = None
    found: list[str | None] = []
    for pair in spelled:
        fits = [name for name in pair if name in stored][:1]
        if not fits:
            every = [info.name for info in state.documents()] if every is None else every
            fits = matching(every, *pair, within=False)
        if len(fits) > 1:
            more = f" and {len(fits) - _SHOWN} more" if len(fits) > _SHOWN else ""
            raise InputError(
                f"{pair[0]} can be {', '.join(fits[:_SHOWN])}{more}", "more of the path"
            )
        found.append(fits[0] if fits else None)
    return found


def not_found(name: str, state: Snapshot) -> tuple[str, str]:
    """Return the problem and the hint for a document that is not in the index."""
    stored = [info.name for info in state.documents()]
    near = nearest_file(name, stored)
    return f"{name} is not in the index", f"{near}milepost info, which lists documents"
