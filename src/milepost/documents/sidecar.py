"""Sidecars: files of properties beside a file, ``report.pdf.meta.json`` for ``report.pdf``.

A sidecar is not a document of its own; its properties override those in the file. With a faulty one
the file is read without them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath

from milepost.documents import plain_yaml
from milepost.errors import InputError, UnreadableFile
from milepost.properties import Properties, checked, merged
from milepost.types import Document

SUFFIXES = (".meta.json", ".meta.yaml")
"""Suffixes of sidecars; if a file has both, the first one is used."""


def sidecar(path: str | os.PathLike[str]) -> Path | None:
    """Find the sidecar of a file, or None."""
    name = os.fspath(path)
    # Strings and os.path for speed: this runs for every file of a folder.
    found = (name + suffix for suffix in SUFFIXES if os.path.isfile(name + suffix))  # noqa: PTH113
    return next(map(Path, found), None)


def described(path: str | os.PathLike[str]) -> Path | None:
    """Find the file that a sidecar describes; None if ``path`` is not a sidecar."""
    name = os.fspath(path)
    for suffix in SUFFIXES:
        if name.endswith(suffix) and os.path.isfile(name[: -len(suffix)]):  # noqa: PTH113
            return Path(name[: -len(suffix)])
    return None


def orphaned(name: str) -> bool:
    """Whether a name is that of a sidecar by the file that it describes, which need not be there.

    Not ``data.meta.json``, which may be a document: what it would describe has no known suffix.
    """
    from milepost.documents.readers.formats import SUFFIXES as READ

    ends = (end for end in SUFFIXES if name.endswith(end))
    return any(PurePath(name[: -len(end)]).suffix in {*READ, ".txt"} for end in ends)


def with_sidecar(document: Document, path: str | os.PathLike[str]) -> Document:
    """Add the properties of a file's sidecar, if there is one, to its document."""
    beside = sidecar(path)
    return document if beside is None else completed(document, beside.name, beside.read_bytes)


def completed(document: Document, name: str, read: Callable[[], bytes]) -> Document:
    """Add the properties in a sidecar; a note that says why not where it is faulty."""
    try:
        properties = parse_sidecar(read(), name)
    except OSError as error:
        fault = f"{name} cannot be read: {error.strerror}"
    except InputError as error:
        fault = str(error)
    else:
        return replace(document, properties=merged(document.properties, properties))
    return replace(document, notes=(*document.notes, f"without the sidecar's properties: {fault}"))


def parse_sidecar(data: bytes, name: str) -> Properties:
    """Parse the properties in the bytes of a sidecar; nulls are left out.

    Raises:
        UnreadableFile: the bytes are neither JSON nor YAML, or a property is invalid.
    """
    try:
        text = data.decode("utf-8-sig")
        if len(text) > plain_yaml.MAX_CHARACTERS:
            raise ValueError(f"more than {plain_yaml.MAX_CHARACTERS:,} characters")  # noqa: TRY301
        values = json.loads(text) if name.endswith(".json") else plain_yaml.load(text)
    except (ValueError, RecursionError) as error:
        what = "JSON" if name.endswith(".json") else "YAML"
        said = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise UnreadableFile(f"{name} is not {what}: {said}", "correct or remove it") from error
    if not isinstance(values, dict):
        raise UnreadableFile(
            f"{name} holds no properties", '{"author": "Lee", "date": "2020-03-01"}'
        )
    try:
        return checked({key: value for key, value in values.items() if value is not None})
    except InputError as error:
        raise UnreadableFile(f"{name}: {error.problem}", error.hint) from error
