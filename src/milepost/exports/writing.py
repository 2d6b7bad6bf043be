"""Write result files: completely or not at all, with an error of one line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from milepost.errors import InputError

_HINT = "check the path and the disk"


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8; see ``write_bytes``."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes, hint: str = _HINT) -> None:
    """Write a file, the target if it is a link; a missing folder is made.

    The old content stays until all of the new one is on the disk. Devices and pipes are written
    directly.
    """
    with reported(path, hint):
        draft = _draft(path)
        if draft == path:
            path.write_bytes(data)
            return
        with replacing(path.resolve(), draft) as file:
            file.write(data)
            if path.exists():
                shutil.copymode(path, draft)


@contextmanager
def replacing(path: Path, draft: Path) -> Iterator[IO[bytes]]:
    """Open a draft for writing; at the end it is on the disk and takes the file's place.

    It is another name in the same folder, and removed if anything is raised.
    """
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)  # it may be what fills the disk
        raise


def check_new(path: Path, example: str, *, overwrite: bool) -> None:
    """Refuse a file that is not to be replaced or can have no folder, before hours of reading.

    ``example`` is a name for it, for the message where it is a folder.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder", f"{path / example}")
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():  # what is missing below it is made with the file
        raise InputError(f"{above} is not a folder", "another name")
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists", "another name, or --overwrite")


def check_suffix(path: Path, suffixes: Sequence[str], form: str) -> None:
    """Refuse a file whose name promises another ``form``; the usual suffix comes first."""
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"{path} would be {form}, so it must end in {' or '.join(suffixes)}",
            path.with_suffix(suffixes[0]).name,
        )


def check_output(path: Path) -> None:
    """Check that a file can be written, before hours of measuring; nothing is left behind."""
    with reported(path):
        draft = _draft(path)
        there = draft.exists()
        with draft.open("ab"):
            pass
        if not there:
            draft.unlink()


def _draft(path: Path) -> Path:
    """The temporary path that is written first; the path itself if it is not a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        return path
    if path.is_file():
        with path.open("ab"):
            pass  # another file in its place would not ask whether it is protected
    place = path.resolve()
    return place.with_name(f".{place.name}.part")


@contextmanager
def reported(path: Path, hint: str = _HINT) -> Iterator[None]:
    """Turn errors of the system in a ``with`` block into ``InputError``."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}", hint) from error
