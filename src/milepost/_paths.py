"""Paths as people type them."""

from __future__ import annotations

import os
from pathlib import Path

from milepost.errors import InputError


def expanded(path: str | os.PathLike[str]) -> Path:
    """Replace ``~`` and ``~name`` by home folders; names that nobody has stay as they are."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib's raises a RuntimeError


def below_home(path: str, variable: str) -> Path:
    """A folder of the user; ``variable`` of the environment gives one where there is no home."""
    found = expanded(path)
    if found.parts[:1] == ("~",):
        raise InputError("this user has no home folder", f"{variable}=FOLDER")
    return found


def is_too_long(path: str) -> bool:
    """Whether file systems have no room for a path, or for a name in it: pathlib would raise."""
    names = map(os.fsencode, Path(path).parts)
    return len(os.fsencode(path)) >= 4096 or any(len(name) > 255 for name in names)
