"""A file of JSON lines that stays whole when a run is killed, and that a second run continues.

Next to ``FILE`` is ``FILE.run``: its first line says with which settings ``FILE`` is made,
each further line names a piece of work that is done, what it dropped, and how long ``FILE`` was
then. What a killed run wrote after its last whole piece is cut off before anything is added, so
that a run in two goes gives the bytes of a run in one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from milepost.errors import InputError, MilepostError
from milepost_eval.tasks.reading import objects


class Journal:
    """Rows of a file, piece by piece. Used as a context manager.

    Args:
        path: the file; its folder must be there.
        settings: everything that its rows depend on, as JSON can hold it.

    Attributes:
        done: names of the pieces that are written.
        counts: what all of them counted, summed.

    Raises:
        InputError: the file cannot be written, or was made with other settings or by a program we
            know.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.record = path.with_name(path.name + ".run")
        self.done: set[str] = set()
        self.counts: Counter[str] = Counter()
        if path.suffix == ".gz":
            raise InputError(f"{path} grows line by line, so it cannot be gzipped", "drop the .gz")
        given = json.loads(json.dumps(settings))
        try:
            if self.record.exists():
                self._resume(given)
            elif path.exists() and path.stat().st_size:
                raise InputError(
                    f"{path} exists, but {self.record.name} does not",
                    "give another --out, or delete it",
                )
            else:
                path.write_bytes(b"")
                self.record.write_text(json.dumps(given, ensure_ascii=False) + "\n", "utf-8")
            self._rows: IO[bytes] = path.open("ab")
            self._pieces: IO[bytes] = self.record.open("ab")
        except OSError as error:
            raise InputError(
                f"{path} cannot be written: {error.strerror}", "give another --out"
            ) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows.close()
        self._pieces.close()

    def write(
        self, piece: str, rows: Iterable[Mapping[str, Any]], counts: Mapping[str, int]
    ) -> None:
        """Add the rows of a piece of work, then the line that says so.

        Raises:
            MilepostError: the disk is full, or whatever else the system says; the rows of the
                pieces before are whole.
        """
        try:
            for row in rows:
                self._rows.write(_line(row))
            self._rows.flush()
            os.fsync(self._rows.fileno())
            done = {"done": piece, "bytes": self._rows.tell(), "counts": dict(counts)}
            self._pieces.write(_line(done))
            self._pieces.flush()
        except OSError as error:
            raise MilepostError(
                f"{self.path} cannot be written to: {error.strerror}",
                "remove the cause and run the same command; what was written is kept",
            ) from error
        self.done.add(piece)
        self.counts.update(counts)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The rows that are written, in order."""
        return objects(self.path)

    def _resume(self, settings: Mapping[str, Any]) -> None:
        whole = self.record.read_bytes().rpartition(b"\n")[0] + b"\n"
        try:
            first, *pieces = [json.loads(line) for line in whole.splitlines()]
            for piece in pieces:
                self.done.add(piece["done"])
                self.counts.update(piece["counts"])
            length = pieces[-1]["bytes"] if pieces else 0
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self.record} is damaged", f"delete it and {self.path.name}, and start again"
            ) from error
        for key in {**first, **settings}:
            if first.get(key) != settings.get(key):
                raise InputError(
                    f"{self.path} was made with {key} {_shown(first.get(key))}, "
                    f"not {_shown(settings.get(key))}",
                    f"give another --out, or delete it and {self.record.name}",
                )
        if not self.path.exists() or self.path.stat().st_size < length:
            raise InputError(
                f"{self.path} is shorter than {self.record.name} says",
                f"delete {self.record.name} and start again",
            )
        os.truncate(self.path, length)
        self.record.write_bytes(whole)


def _line(row: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(row, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no bytes for
        return (json.dumps(row) + "\n").encode()


def _shown(value: Any) -> str:
    words = json.dumps(value, ensure_ascii=False)
    return words if len(words) <= 60 else words[:59] + "…"
