"""One way to keep and resume work: a folder with its settings and a line for each finished piece.

    FOLDER/settings.json    what the results depend on
    FOLDER/pieces.jsonl     {"key": …, "value": …}, a line for each finished piece of work
    FOLDER/…                whole files, written by ``Run.write``

    run = Run(folder, {"model": model, "seed": 0})
    for name in names:
        figures = run.get_or_compute(name, lambda: measure(name))

The same call again continues: what is finished is read and not computed. Other settings are
refused. A killed process loses the piece it worked on; a line that it cut short is removed. A full
disk is one line of error, and what was finished stays. Several processes may add to a folder at
once: each sees what the others finished when it looks for a key that it does not know, and of a
piece that two have computed the first one counts.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost.exports.writing import write_bytes

SETTINGS, PIECES = "settings.json", "pieces.jsonl"


class Run(Mapping[str, Any]):
    """The finished pieces of a folder by their keys, in the order in which they were finished.

    Values are read from the file when they are asked for.

    Args:
        folder: is made if it is missing.
        settings: everything that the results depend on, as JSON can hold it; None to read a folder
            whatever its settings are.

    Attributes:
        folder: as given.
        settings: of the folder.

    Raises:
        InputError: the folder was made with other settings, holds something else, is damaged or
            cannot be written.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any] | None) -> None:
        self.folder = folder
        self._pieces = folder / PIECES
        self._places: dict[str, tuple[int, int]] = {}
        self._read = 0  # bytes of whole lines that are known
        if settings is None and not self._pieces.is_file():
            raise InputError(f"{folder} has no {PIECES}", "the folder of an earlier run")
        with self._reported():
            folder.mkdir(parents=True, exist_ok=True)
            with self._locked() as handle:
                self.settings = self._checked(settings)
                self._cut_torn_line(handle)
                self._look(handle)

    def __getitem__(self, key: str) -> Any:
        """The value of a finished piece; KeyError where it is not finished by any process."""
        if key not in self:
            raise KeyError(key)
        start, length = self._places[key]
        with self._reported(), self._pieces.open("rb") as file:
            file.seek(start)
            return json.loads(file.read(length))["value"]

    def __contains__(self, key: object) -> bool:
        if key in self._places:
            return True
        with self._reported(), self._pieces.open("rb") as file:
            self._look(file.fileno())
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._places))

    def __len__(self) -> int:
        return len(self._places)

    def get_or_compute(self, key: str, make: Callable[[], Any]) -> Any:
        """The value of a key, computed and kept if it is not finished yet."""
        return self[key] if key in self else self.add(key, make())

    def add(self, key: str, value: Any) -> Any:
        """Keep a finished piece; it is on the disk when this returns.

        Args:
            key: names the piece.
            value: as JSON can hold it.

        Returns:
            The value that is kept: of a key that another process finished first, its own.

        Raises:
            InputError: the folder cannot be written, as on a full disk; nothing is lost but this
                piece.
        """
        line = json.dumps({"key": key, "value": value}).encode() + b"\n"
        with self._reported(), self._locked() as handle:
            self._cut_torn_line(handle)
            self._look(handle)
            if key not in self._places:
                self._append(handle, line)
                self._look(handle)
        return self[key]

    def write(self, name: str, data: bytes) -> Path:
        """Replace a file of the folder by a whole one; the old content stays until then.

        Raises:
            InputError: it cannot be written.
        """
        path = self.folder / name
        with self._reported(), self._locked():
            write_bytes(path, data, "free some space, or another folder")
        return path

    def _checked(self, settings: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """The folder's settings, which are written if it is new."""
        path = self.folder / SETTINGS
        wanted = None if settings is None else json.loads(json.dumps(settings))
        if not path.exists():
            if wanted is None or self._pieces.stat().st_size:
                raise InputError(f"{self.folder} has no {SETTINGS}", "another folder")
            write_bytes(path, json.dumps(wanted, indent=1).encode() + b"\n")
            return settings or {}
        try:
            there = json.loads(path.read_bytes())
            if not isinstance(there, dict):
                raise ValueError("not an object")  # noqa: TRY004, TRY301 - one error for all damage
        except ValueError as error:
            raise InputError(f"{path} is damaged: {error}", "another folder") from error
        for key in {**there, **(wanted or there)}:
            if wanted is not None and there.get(key) != wanted.get(key):
                raise InputError(
                    f"{self.folder} was made with {key} {_shown(there.get(key))}, not "
                    f"{_shown(wanted.get(key))}",
                    "another folder, or the same settings",
                )
        return there

    def _look(self, handle: int) -> None:
        """Learn of the lines that were added since the last look."""
        length = os.fstat(handle).st_size
        if length <= self._read:
            return
        os.lseek(handle, self._read, os.SEEK_SET)
        with os.fdopen(os.dup(handle), "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return  # another process is writing it, or was killed
                try:
                    key = json.loads(line)["key"]
                except (ValueError, KeyError, TypeError) as error:
                    raise InputError(
                        f"{self._pieces} is damaged after byte {self._read}",
                        "cut it there, or another folder",
                    ) from error
                self._places.setdefault(key, (self._read, len(line)))
                self._read += len(line)

    def _cut_torn_line(self, handle: int) -> None:
        """Remove what a killed process left behind the last whole line."""
        self._look(handle)
        if os.fstat(handle).st_size > self._read:
            os.ftruncate(handle, self._read)

    def _append(self, handle: int, line: bytes) -> None:
        end = os.lseek(handle, 0, os.SEEK_END)
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, end)
            raise

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file of pieces, which one process at a time changes."""
        handle = os.open(self._pieces, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(handle)  # the system takes it back, however the process ends
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be used: {error.strerror or error}",
                "free some space and run the same command again, or another folder",
            ) from error


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, 1 << 40, os.SEEK_SET)  # far behind what is written
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
