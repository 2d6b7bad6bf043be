"""Files whose content an index in the cache holds already, wherever they lie."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.copying import stored_entry
from milepost.errors import MilepostError, StoreError
from milepost.intake import file_signature
from milepost.store import open_store
from milepost.text import described, zotero

if TYPE_CHECKING:
    from milepost.engine.manifest import Manifest
    from milepost.store import DocumentInfo, Entry, Store
    from milepost.types import ReadOptions

Place = tuple[Path, "DocumentInfo"]


class KnownFiles:
    """Finds documents by the content of their files: see ``intake.Known``.

    A file's content is hashed only if a document is of its size, and not where path, size and time
    are those of one.

    Args:
        folders: indexes of one model and one way of reading.
        model: the model.
    """

    def __init__(self, folders: Sequence[Path], model: Manifest) -> None:
        self._folders = folders
        self._model = model
        self._found: dict[tuple[Path, str, tuple[int, int] | None], Place | None] = {}

    def __call__(self, path: Path, options: ReadOptions) -> Callable[[], Entry | None] | None:
        """What an index holds of a file that is read like this; None if none does."""
        key = path, str(options), file_signature(path)
        if key not in self._found:
            self._found[key] = self._find(*key)
        place = self._found[key]
        return place and partial(self._entry, path, *place)

    def _find(self, path: Path, options: str, signature: tuple[int, int] | None) -> Place | None:
        if signature is None:
            return None
        for folder, info in self._by_size.get(signature[0], ()):
            if (info.name, info.signature, info.options) == (str(path), signature, options):
                return folder, info
        try:
            alike = [
                (folder, info)
                for folder, info in self._by_size.get(path.stat().st_size, ())
                # The suffix has a say in how the bytes are read.
                if (info.options, Path(info.name).suffix) == (options, path.suffix)
                and not zotero.described(info.name)
            ]
            if not alike:
                return None
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:  # reading it says why
            return None
        return next((place for place in alike if place[1].hash == digest), None)

    @cached_property
    def _by_size(self) -> dict[int, list[Place]]:
        found: dict[int, list[Place]] = {}
        for folder in self._folders:
            documents: list[DocumentInfo] = []
            with (
                suppress(MilepostError),
                closing(self._open(folder)) as store,
                store.snapshot() as state,
            ):
                documents = state.documents()
            for info in documents:
                if info.signature is not None:
                    found.setdefault(info.signature[0], []).append((folder, info))
        return found

    def _entry(self, path: Path, folder: Path, info: DocumentInfo) -> Entry | None:
        try:
            with closing(self._open(folder)) as store, store.snapshot() as state:
                now = state.info(info.name)
                if now is None or now.hash != info.hash:
                    return None
                entry = stored_entry(state, now)
        except StoreError:  # removed meanwhile
            return None
        if info.name == str(path):
            return entry
        moved = replace(entry.document, name=str(path), source=str(path))
        return replace(entry, document=described(moved, str(path)))

    def _open(self, folder: Path) -> Store:
        return open_store(
            folder,
            fingerprint=self._model.fingerprint,
            dimensions=self._model.dimensions,
            read_only=True,
        )
