"""A file of JSON lines that is made piece by piece, and that a second run continues.

Beside ``FILE`` the folder ``.FILE.run`` holds the settings and each finished piece of work
(``milepost_eval.runs``); ``FILE`` is written from it when the command ends, finished or not. So a
run in two goes gives the bytes of a run in one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost.exports.writing import replacing
from milepost_eval.runs import Run


@dataclass(slots=True)
class Written:
    """What came of a command that writes a journal: what was written or dropped, and bad lines."""

    counts: Counter[str]
    bad: list[InputError]


class Journal:
    """Rows of a file, piece by piece. Used as a context manager.

    ``settings`` are everything that the rows depend on, as JSON can hold it.

    Attributes:
        done: the pieces that are finished, by their names.
        dev: a document whose questions are written with the split ``dev``; None for none.
        counts: what all of them counted, summed.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        record = path.with_name(f".{path.name}.run")
        if path.suffix == ".gz":
            raise InputError(f"{path} is not compressed, so it cannot be gzipped", "drop the .gz")
        if path.exists() and path.stat().st_size and not record.is_dir():
            raise InputError(
                f"{path} exists, but {record.name} does not", "give another --out, or delete it"
            )
        try:
            self.done = Run(record, {"format": 2, **settings})
        except InputError as error:
            again = f"another --out, or delete {path.name} and {record.name}"
            raise InputError(error.problem, again) from error
        pieces = (Counter(piece["counts"]) for piece in self.done.values())
        self.counts = sum(pieces, Counter[str]())
        self.dev: str | None = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            with replacing(self.path, self.path.with_name(f".{self.path.name}.part")) as file:
                for row in self.rows():
                    file.write(_line(row))
        except OSError as error:
            if kind is None:
                raise InputError(
                    f"{self.path} cannot be written: {error.strerror}",
                    "remove the cause and run the same command; finished work is kept",
                ) from error

    def write(
        self, piece: str, rows: Iterable[Mapping[str, Any]], counts: Mapping[str, int]
    ) -> None:
        """Keep the rows of a piece of work; they are on the disk when this returns."""
        self.done.add(piece, {"rows": list(rows), "counts": dict(counts)})
        self.counts.update(counts)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The rows of all finished pieces, in order."""
        for piece in self.done.values():
            for row in piece["rows"]:
                moved = self.dev is not None and row.get("document") == self.dev
                yield {**row, "split": "dev"} if moved else row


def _line(row: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(row, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no bytes for
        return (json.dumps(row) + "\n").encode()
