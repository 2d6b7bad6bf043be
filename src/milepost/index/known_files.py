"""Files whose content an index of this user holds already, wherever they lie.

A small database in the cache has a line for each file that a command gave to an index: the index,
the file's size and hash, and how it was read. It is best effort: what it says is checked when it is
used, and without it files are read.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.documents import described, sidecar, zotero
from milepost.documents.readers.formats import TEXT_VERSION
from milepost.encoder.engine.folder import cache_folder
from milepost.errors import StoreError
from milepost.index.entries import held_entry
from milepost.index.intake import file_signature
from milepost.index.places import absolute
from milepost.store import Entry, Store, open_store
from milepost.types import ReadOptions

FILE = "known.sqlite"  # the database, in the cache folder

_SCHEMA = """
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS files (
    folder BLOB, name BLOB, model TEXT, options TEXT, size INTEGER, mtime INTEGER, hash TEXT,
    PRIMARY KEY (folder, name)
) WITHOUT ROWID;
DROP INDEX IF EXISTS by_size;
CREATE INDEX IF NOT EXISTS by_name ON files (name, size);
CREATE INDEX IF NOT EXISTS by_content ON files (size, hash);
"""
_FORGET = "DELETE FROM files WHERE folder = ? AND name = ?"
_PATIENCE_S = 1.0
_ALIKE = 20  # files of one content that are looked at

_Line = tuple[bytes, bytes, str]  # folder of an index, name of a document in it, hash of its file


class KnownFiles:
    """Finds and notes files by their content: an ``intake.Known``.

    A file's content is hashed only if a document is of its size, and not where path, size and time
    are those of one. ``folder`` is that of the index that files are added to; None if it lies in no
    folder. Files whose links lead out of ``roots``, if there are any, are not looked for.
    """

    def __init__(self, folder: Path | None, roots: Sequence[Path] = ()) -> None:
        self._database = cache_folder() / FILE
        self._folder = None if folder is None else os.fsencode(absolute(folder))
        self._roots = [root.resolve() for root in roots]
        self._last: tuple[object, list[_Line]] = None, []  # a file is asked for twice in turn

    def find(
        self, store: Store, path: Path, options: ReadOptions
    ) -> Callable[[], Entry | None] | None:
        """See ``intake.Known``."""
        if self._roots and not any(path.resolve().is_relative_to(root) for root in self._roots):
            return None
        key = path, str(options), file_signature(path), _model(store)
        if self._last[0] != key:
            self._last = key, self._lines(*key)
        lines = self._last[1]
        if not lines:
            return None
        # Those may be gone, and others of the same content be there.
        return lambda: (
            self._entry(store, path, lines) or self._entry(store, path, self._lines(*key))
        )

    def remember(self, store: Store, path: Path, entry: Entry) -> None:
        """See ``intake.Known``."""
        if self._folder is None or entry.signature is None:
            return
        name, digest = os.fsencode(entry.document.name), entry.document.hash
        line = self._folder, name, _model(store), entry.options, *entry.signature, digest
        _run(self._database, "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", *line)

    def _lines(
        self, path: Path, options: str, signature: tuple[int, int] | None, model: str
    ) -> list[_Line]:
        if signature is None:
            return []
        select = "SELECT folder, name, hash FROM files WHERE model = ? AND options = ? AND size = ?"
        exact = f"{select} AND mtime = ? AND name = ?"
        same: list[_Line] = _run(
            self._database, exact, model, options, *signature, os.fsencode(path)
        )
        if same:
            return same
        try:
            # Not the size in the signature: that of a file with a sidecar is the sum of both.
            kind = model, options, path.stat().st_size
            if not _run(self._database, f"{select} LIMIT 1", *kind):
                return []
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:  # reading it says why
            return []
        alike = f"{select} AND hash = ? LIMIT {_ALIKE}"
        return [
            line
            for line in _run(self._database, alike, *kind, digest)
            # The suffix has a say in how bytes are read; by their paths files have more properties.
            if Path(name := os.fsdecode(line[1])).suffix == path.suffix
            and not zotero.described(name)
            and not sidecar.sidecar(name)
        ]

    def _entry(self, store: Store, path: Path, lines: Sequence[_Line]) -> Entry | None:
        now = file_signature(path)
        for folder, name, digest in lines if now is not None else ():
            held = None
            with suppress(StoreError):
                if folder == self._folder:
                    held = held_entry(store, os.fsdecode(name), digest)
                else:
                    beside = open_store(
                        Path(os.fsdecode(folder)),
                        fingerprint=store.fingerprint,
                        dimensions=store.dimensions,
                        read_only=True,
                    )
                    with closing(beside):
                        held = held_entry(beside, os.fsdecode(name), digest)
            if held is None:  # removed or changed meanwhile
                _run(self._database, _FORGET, folder, name)
                continue
            if (held.document.name, held.signature) == (str(path), now):
                return held
            if held.signature is None or held.signature[0] != path.stat().st_size:
                continue  # its properties are those of its sidecar, too
            moved = replace(held.document, name=str(path), source=str(path))
            return replace(held, document=described(moved, str(path)))
        return None


def forget(folder: Path, names: Iterable[str]) -> None:
    """Take documents that were removed from an index out of the database."""
    database = cache_folder() / FILE
    for name in names if database.exists() else ():
        _run(database, _FORGET, os.fsencode(absolute(folder)), os.fsencode(name))


def forget_missing() -> None:
    """Take indexes that are gone out of the database."""
    database = cache_folder() / FILE
    if database.exists():
        for (folder,) in _run(database, "SELECT DISTINCT folder FROM files"):
            if not Path(os.fsdecode(folder)).is_dir():
                _run(database, "DELETE FROM files WHERE folder = ?", folder)


def _model(store: Store) -> str:
    """What made the texts and vectors of a store."""
    return f"{store.fingerprint} {TEXT_VERSION}"


def _run(place: Path, command: str, *values: object) -> list[Any]:
    """Run a command on the database, which is made anew if it is damaged."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(place, _PATIENCE_S, isolation_level=None)) as database:
            database.executescript(_SCHEMA)
            return database.execute(command, values).fetchall()
    except (OSError, sqlite3.OperationalError):
        return []
    except sqlite3.DatabaseError:
        with suppress(OSError):
            place.unlink()
        return []
