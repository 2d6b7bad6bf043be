"""Sources of documents: local paths and addresses in object storage."""

from __future__ import annotations

import os
from pathlib import Path

from milepost._optional import require
from milepost._paths import expanded
from milepost.errors import InputError
from milepost.objects import ObjectAddress, ObjectFile, is_address

Place = Path | ObjectAddress  # a source of documents: a file or folder, an object or prefix

File = Path | ObjectFile  # one file or object; its str is the document's name


def absolute(path: str | os.PathLike[str]) -> Path:
    """Normalize a path, so that each file has one name; links are not followed."""
    return Path(os.path.abspath(expanded(path)))  # noqa: PTH100 - drops "..", too


def local_path(path: str | os.PathLike[str]) -> Path:
    """Normalize a path that must be local; see ``absolute``."""
    if is_address(path):
        address = ObjectAddress.parse(path)
        raise InputError(
            f"{address} is in object storage; this takes only files and folders",
            f"milepost index {address} --db FOLDER, then --db FOLDER",
        )
    return absolute(path)


def source_place(source: str | os.PathLike[str]) -> Place:
    """Parse a source into a normalized path or address."""
    if not os.fspath(source):  # Python would take it for the current folder
        raise InputError("a path is empty", "a file or folder (. is this folder)")
    if not is_address(source):
        return absolute(source)
    require("obstore", extra="objects")  # before anything is read
    return ObjectAddress.parse(source)


def is_below(source: str, folder: Place) -> bool:
    """Whether the source of a document is a folder or prefix, or lies inside it."""
    if isinstance(folder, ObjectAddress):
        return folder.holds(source)
    return not is_address(source) and Path(source).is_relative_to(folder)
