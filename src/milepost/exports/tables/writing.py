"""Make a table: what an earlier run has asked is kept, the rest is asked, the file is written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from milepost._typed import typed
from milepost.errors import InputError
from milepost.exports.tables.formats import writer_of
from milepost.exports.tables.rows import COLUMNS, Per, Row, ask, plan_rows
from milepost.exports.writing import check_new, reported, write_bytes
from milepost.index import Index
from milepost.index.naming import Name, resolve_names
from milepost.store import DocumentSelection
from milepost.wording import PROBABLE


class Journal:
    """A hidden file beside a table, a line for each row; what is damaged in it is asked again.

    ``rows``, by key, are what an earlier run has asked.
    """

    def __init__(self, table: Path) -> None:
        place = table.resolve()
        self.path = place.with_name(f".{place.name}.rows")
        self.rows: dict[str, Row] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Read what is there, and open the file to add to it."""
        if self.path.exists() and not self.path.is_file():  # a device may never end
            raise InputError(f"{self.path} is not a file", "remove it")
        with reported(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab+")
            self._file.seek(0)
            whole = 0
            for line in self._file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                self._take(line)
            self._file.truncate(whole)  # a line that was cut would spoil the next one
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            if not self.rows:
                self.remove()

    def add(self, key: str, row: Row) -> None:
        """Keep a row; after this a kill of the process does not lose it."""
        assert self._file is not None
        line = json.dumps({"key": key, **asdict(row)}, ensure_ascii=True) + "\n"
        with reported(self.path, "free some space and run the same command to continue"):
            self._file.write(line.encode("ascii"))
            self._file.flush()
        self.rows[key] = row

    def remove(self) -> None:
        """Remove the file: the table is written."""
        self.path.unlink(missing_ok=True)

    def _take(self, line: bytes) -> None:
        try:
            record: dict[str, Any] = json.loads(line)
            key = record.pop("key")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            return
        if isinstance(key, str) and record.keys() == set(COLUMNS):
            self.rows[key] = Row(**record)


def check_table(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that could not be written, or of an unknown suffix, before hours of reading."""
    writer_of(path)
    check_new(path, "answers.csv", overwrite=overwrite)


@typed
def write_table(
    index: Index,
    questions: Iterable[str],
    path: str | os.PathLike[str],
    *,
    per: Per = "document",
    documents: Name | Iterable[Name] | None = None,
    min_score: float = PROBABLE,
    rerank: bool = True,
    overwrite: bool = False,
    on_row: Callable[[int, int], None] = lambda done, of: None,
) -> list[Row]:
    """Ask every question of every document, and write the best passages as a table.

    What was asked is kept in a hidden file beside the table until that is written, so that the same
    call goes on after a kill; rows of texts that have changed since are asked again.

    Args:
        index: what is asked.
        questions: in words.
        path: the table: ``.csv``, ``.jsonl`` or ``.html``.
        per: ``"document"``: a row for each document and question; ``"collection"``: a row for each
            question, which is asked of all documents together.
        documents: as in ``Index.search``.
        rerank: as in ``Index.search``.
        min_score: as in ``Index.search``; where nothing is found, the cells are empty.
        overwrite: replace the file if it is there.
        on_row: called with the rows done and in all, before the first and after each one.

    Returns:
        The rows, in order of the documents, then of the questions.

    Raises:
        InputError: the file is there or cannot be written, a document is not in the index, a
            question or ``min_score`` cannot be used.
    """
    target = Path(path)
    check_table(target, overwrite=overwrite)
    write = writer_of(target)
    with index.snapshot() as state:
        chosen = None if documents is None else resolve_names(documents, state)
        infos = state.select(DocumentSelection(chosen)) or []
    planned = plan_rows(index, questions, infos, per=per, min_score=min_score, rerank=rerank)
    with Journal(target) as journal:
        rows: list[Row] = []
        on_row(0, len(planned))
        for asked in planned:
            if asked.key not in journal.rows:
                journal.add(asked.key, ask(index, asked))
            rows.append(journal.rows[asked.key])
            on_row(len(rows), len(planned))
        data = write(rows).encode("utf-8", "backslashreplace")
        write_bytes(target, data, "run the same command again to continue")
        journal.remove()
    return rows
