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
