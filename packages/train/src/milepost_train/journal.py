"""A file of JSON lines that stays whole when a run is killed, and that a second run continues.

Beside ``FILE`` the folder ``.FILE.run`` holds the settings and a line for each finished piece of
work, with how long ``FILE`` was then (``milepost_eval.runs``). What a killed run wrote after its
last finished piece is cut off, so that a run in two goes gives the bytes of a run in one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost_eval.runs import Run
from milepost_eval.tasks.reading import objects


class Journal:
    """Rows of a file, piece by piece. Used as a context manager.

    Args:
        path: the file; a missing folder is made.
        settings: everything that its rows depend on, as JSON can hold it.

    Attributes:
        done: the pieces that are written, by their names.
        counts: what all of them counted, summed.

    Raises:
        InputError: the file cannot be written, or was made with other settings or by a program we
            do not know.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        record = path.with_name(f".{path.name}.run")
        if path.suffix == ".gz":
            raise InputError(f"{path} grows line by line, so it cannot be gzipped", "drop the .gz")
        if path.exists() and path.stat().st_size and not record.is_dir():
            raise InputError(
                f"{path} exists, but {record.name} does not", "give another --out, or delete it"
            )
        again = f"another --out, or delete {path.name} and {record.name}"
        try:
            self.done = Run(record, settings)
            pieces = list(self.done.values())
            self._rows = path.open("ab")
        except InputError as error:
            raise InputError(error.problem, again) from error
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}", again) from error
        self.counts = sum((Counter(piece["counts"]) for piece in pieces), Counter[str]())
        length = pieces[-1]["bytes"] if pieces else 0
        if self._rows.tell() < length:
            self._rows.close()
            raise InputError(f"{path} is shorter than {record.name} says", again)
        self._rows.truncate(length)
        self._rows.seek(length)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows.close()

    def write(
        self, piece: str, rows: Iterable[Mapping[str, Any]], counts: Mapping[str, int]
    ) -> None:
        """Add the rows of a piece of work, then the line that says so.

        Raises:
            InputError: the disk is full, or whatever else the system says; the rows of the pieces
                before are whole.
        """
        try:
            for row in rows:
                self._rows.write(_line(row))
            self._rows.flush()
            os.fsync(self._rows.fileno())
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be written to: {error.strerror}",
                "remove the cause and run the same command; what was written is kept",
            ) from error
        self.done.add(piece, {"bytes": self._rows.tell(), "counts": dict(counts)})
        self.counts.update(counts)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The rows that are written, in order."""
        return objects(self.path)


def _line(row: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(row, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no bytes for
        return (json.dumps(row) + "\n").encode()
