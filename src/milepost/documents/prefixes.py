"""List the objects to read below a prefix, by the rules for folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from milepost.documents.folders import BINARY, IGNORE_FILES, INDEX_FILE, JUNK, PICTURES, ignore_spec
from milepost.documents.readers.formats import read_bytes
from milepost.documents.sidecar import SUFFIXES, completed, orphaned
from milepost.objects import Bucket, ObjectAddress, ObjectFile, bucket, download
from milepost.types import Document, OnPage, ReadOptions

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def objects(
    address: ObjectAddress, picture: Callable[[ObjectFile], bool] = lambda _: False
) -> list[ObjectFile]:
    """List the objects to read at an address: one object itself, or those below a prefix.

    Below a prefix, hidden names, Milepost indexes, sidecars and binary suffixes are skipped,
    pictures that are not wanted, and names that match an ignore file directly below the address.
    The list may be empty, because object storage does not distinguish a missing prefix from an
    empty one.
    """
    room = bucket(address)
    files = room.files(address)
    if [file.address for file in files] == [address]:
        return [replace(files[0], beside=_beside(room, address))]
    first = len(address.key) + 1 if address.key else 0
    by_name = {file.address.key[first:]: file for file in files}
    specs = [
        ignore_spec(room.read(by_name[name].address)) for name in IGNORE_FILES if name in by_name
    ]
    indexes = tuple(
        name.removesuffix(INDEX_FILE) for name in by_name if f"/{name}".endswith(f"/{INDEX_FILE}")
    )
    sidecars = {name + end for name in by_name for end in SUFFIXES} & by_name.keys()
    chosen = []
    for name, file in by_name.items():
        if (
            name not in sidecars
            and not orphaned(name)
            and _wanted(name, picture(file))
            and not name.startswith(indexes)
            and not _ignored(name, specs)
        ):
            beside = (by_name[name + end] for end in SUFFIXES if name + end in sidecars)
            chosen.append(replace(file, beside=next(beside, None)))
    return chosen


def read_object(
    file: ObjectFile,
    data: bytes,
    beside: bytes | None,
    options: ReadOptions,
    on_page: OnPage | None = None,
) -> Document:
    """Read an object from its bytes, and further properties from the bytes of its sidecar."""
    document = read_bytes(data, str(file), str(file), options, on_page)
    if beside is None:
        return document
    return completed(document, PurePosixPath(str(file.beside)).name, lambda: beside)


def read_address(
    source: str | os.PathLike[str], options: ReadOptions, on_page: OnPage | None = None
) -> Document:
    """Read the object at an address; the document's name and source are the address."""
    address = ObjectAddress.parse(source)
    data = download(address)
    room = bucket(address)
    file = ObjectFile(address, len(data), "", _beside(room, address))
    return read_object(
        file, data, room.read(file.beside.address) if file.beside else None, options, on_page
    )


def _beside(room: Bucket, address: ObjectAddress) -> ObjectFile | None:
    found = (room.file(replace(address, key=address.key + suffix)) for suffix in SUFFIXES)
    return next(filter(None, found), None)


def _wanted(name: str, picture: bool) -> bool:
    *folders, last = name.split("/")
    suffix = last.rpartition(".")[2].lower() if "." in last else ""
    return (
        not any(part.startswith((".", "~$")) for part in (*folders, last))
        and JUNK.isdisjoint(folders)
        and (suffix not in BINARY or (suffix in PICTURES and picture))
    )


def _ignored(name: str, specs: Sequence[GitIgnoreSpec]) -> bool:
    verdicts = (spec.check_file(name).include for spec in specs)
    return next((bool(verdict) for verdict in reversed([*verdicts]) if verdict is not None), False)
