"""What lies in the cache folder, and how it is removed: by age, or down to a size.

What another process has open stays, and an index with uploaded files. A removed folder first gets
another name, so that a process that is killed meanwhile leaves no half of an index: the next one
removes the rest.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from milepost.encoder.engine.folder import cache_folder
from milepost.errors import InputError

LIMIT_VARIABLE = "MILEPOST_CACHE_LIMIT"
USUAL_LIMIT = "10GB"
UPLOADS = "uploads"  # folder of uploaded files, in the folder of the index of milepost serve PATH
INDEXES = "indexes"  # the subfolder of the indexes of milepost search PATH: what the limit is for

_KINDS = {
    INDEXES: "index",
    "models": "model",
    "languages": "languages of files",
    "known.sqlite": "list of files",
    "eval": "vectors of eval",
    "train": "vectors of train",
}
_SPLIT = (INDEXES, "models")  # each thing in these is an item of its own
_GONE = ".gone-"
_UNITS = {"B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SPANS_S = {"h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True, slots=True)
class CachedItem:
    """A file or folder that is removed as a whole; it was last used so many seconds after 1970."""

    path: Path
    kind: str
    size_bytes: int
    used_s: float


@dataclass(slots=True)
class Pruned:
    """What was removed, what is in use or holds uploaded files, and what the system refused."""

    removed: list[CachedItem] = field(default_factory=list)
    in_use: list[CachedItem] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)


def parse_size(written: str, name: str) -> int:
    """Bytes of a size such as ``500MB`` or ``2 GB``; the error says what ``name`` is.

    Only 0 needs no unit: who writes ``5`` hardly means bytes.
    """
    if written.strip() == "0":
        return 0
    match = re.fullmatch(
        r"\s*(\d{1,15}(?:\.\d{1,3})?)\s*([KMGT]?B|[KMGT])\s*", written, re.IGNORECASE
    )
    if match is None:
        raise InputError(f"{name} {written!r:.40} is not a size with a unit", "500MB, 2GB or 0")
    return int(float(match[1]) * _UNITS[match[2][0].upper()])


def parse_age(written: str, name: str) -> float:
    """Seconds of an age such as ``12h``, ``30d`` or ``4w``; the error says what ``name`` is."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*([hdw])\s*", written)
    if match is None:
        raise InputError(f"{name} {written!r:.40} is not an age", "12h, 30d or 4w")
    return float(match[1]) * _SPANS_S[match[2]]


def limit_bytes() -> int:
    """The size that the indexes in the cache are kept within."""
    return parse_size(os.environ.get(LIMIT_VARIABLE) or USUAL_LIMIT, LIMIT_VARIABLE)


def cached_items() -> list[CachedItem]:
    """What lies in the cache folder, the longest unused first."""
    paths = _inside(cache_folder())
    return _items(p for path in paths for p in (_inside(path) if path.name in _SPLIT else (path,)))


def _items(paths: Iterable[Path]) -> list[CachedItem]:
    found = []
    for path in paths:
        parent = path.parent.name
        kind = _KINDS.get(parent) or _KINDS.get(path.name) or "compiled model"
        files = [Path(base, name) for base, _, names in os.walk(path) for name in names]
        stats = []
        for file in files if path.is_dir() else [path]:
            with suppress(OSError):  # another process may have removed it
                stats.append(file.stat())
        if stats:  # a full disk leaves an empty folder, or another process has just made it
            size, used = sum(each.st_size for each in stats), max(each.st_mtime for each in stats)
            found.append(CachedItem(path, kind, size, used))
    return sorted(found, key=lambda item: item.used_s)


def _inside(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(_GONE)]
    except OSError:  # none there, or none that can be read
        return []


def mark_used(index: Path) -> None:
    """Write down that an index in the cache is used now."""
    from milepost.store.sqlite.schema import FILE

    with suppress(OSError):
        os.utime(index / FILE)


def prune(
    items: Iterable[CachedItem], *, older_s: float | None = None, size_bytes: int | None = None
) -> Pruned:
    """Remove what has not been used for some time, then the longest unused down to a size.

    ``items`` may be removed, the longest unused first: those unused for ``older_s`` seconds, then
    others until no more than ``size_bytes`` is left.
    """
    items, done, folder = list(items), Pruned(), cache_folder()
    for rest in [each for pattern in (_GONE, f"*/{_GONE}") for each in folder.glob(f"{pattern}*")]:
        _erase(rest)  # of a process that was killed
    left, now = sum(item.size_bytes for item in items), time.time()
    for item in items:
        old = older_s is not None and now - item.used_s > older_s
        if not old and (size_bytes is None or left <= size_bytes):
            continue
        try:
            removed = _remove(item.path)
        except FileNotFoundError:  # another process was faster
            left -= item.size_bytes
        except OSError as error:
            done.refused[item.path] = error.strerror or str(error)
        else:
            (done.removed if removed else done.in_use).append(item)
            left -= item.size_bytes * removed
    return done


def keep_within(limit: int) -> None:
    """Remove the longest unused indexes from the cache until the others are within a limit."""
    prune(_items(_inside(cache_folder() / INDEXES)), size_bytes=limit)


def _remove(path: Path) -> bool:
    from milepost.store.sqlite.holding import unused

    if _inside(path / UPLOADS):  # the only copies of these files
        return False
    with unused(path) as free:
        if not free:
            return False
        gone = path.with_name(f"{_GONE}{uuid4().hex}")
        path.rename(gone)
    _erase(gone)
    return True


def _erase(path: Path) -> None:
    """Best effort: what cannot be removed now has a name by which the next one knows it."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
