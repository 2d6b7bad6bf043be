"""Files that are always whole, even after a kill or on a full disk.

A file is written under another name, made safe on the disk, and renamed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from milepost._replacing import replacing
from milepost.errors import MilepostError

PART = ".part"
"""Added to the name of a file or folder while it is written."""


class RunInterrupted(MilepostError):
    """A run that stopped and can be resumed once the cause is removed."""


def put(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Put a file in the place of an old one, which stays until the new one is whole.

    Args:
        path: the file, in a folder that exists.
        write: writes the content into an open file.

    Raises:
        RunInterrupted: it cannot be written.
    """
    draft = path.with_name(path.name + PART)
    with writing(path):
        with replacing(path, draft) as file:
            write(file)
        make_safe(path.parent)


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Turn what a full disk or a lost right raises into one line."""
    try:
        yield path
    except Exception as error:
        reason = _of_the_system(error)
        if reason is None:
            raise
        raise RunInterrupted(
            f"{path} cannot be written: {reason}",
            "make room for it, or correct its permissions; nothing that was there is lost",
        ) from error


def make_safe(path: Path) -> None:
    """Have the system write a file, or a folder's names, to the disk itself."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _of_the_system(error: BaseException | None) -> str | None:
    """What the system said, if it is behind the error; torch and safetensors raise their own."""
    while error is not None:
        if isinstance(error, OSError):
            return error.strerror or str(error)
        if "(os error " in str(error):
            return str(error).rpartition(": ")[2].partition(" (os error ")[0]
        error = error.__cause__ or error.__context__
    return None
