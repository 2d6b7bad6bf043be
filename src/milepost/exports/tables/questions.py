"""Read files of questions: text, CSV or JSONL."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

from milepost._typed import typed
from milepost.documents.encoding import decode
from milepost.errors import BadQuestion, InputError, UnreadableFile

_FIELD = "question"


@typed
def read_questions(path: str | os.PathLike[str]) -> list[str]:
    """Read the questions of a file, each once, in their order.

    ``.csv`` and ``.tsv`` have a column ``question``, ``.jsonl`` and ``.ndjson`` a field of that
    name in each line; any other file has a question in each line.

    Raises:
        UnreadableFile: the file cannot be read, or is not what its suffix says.
        InputError: it has no questions.
        BadQuestion: a question has neither letter nor digit.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror or error}", "check the path"
        ) from error
    text = decode(data, str(path))[0]
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        found = _of_table(text, path, "\t" if suffix == ".tsv" else None)
    elif suffix in (".jsonl", ".ndjson"):
        found = _of_records(text, path)
    else:
        found = enumerate(text.split("\n"), 1)
    questions: dict[str, None] = {}
    for line, given in found:
        question = " ".join(given.split())
        if not question:
            continue
        if not any(map(str.isalnum, question)):
            raise BadQuestion(
                f"{path}, line {line}: {question[:40]!r} has neither letter nor digit",
                "ask in words",
            )
        questions[question] = None
    if not questions:
        raise InputError(f"{path} has no questions", "one in each line")
    return list(questions)


def _of_table(text: str, path: Path, delimiter: str | None) -> Iterator[tuple[int, str]]:
    """Line number and question of each row; the delimiter is found out where it is None."""
    head = text.partition("\n")[0]
    if delimiter is None:
        delimiter = max(",;\t", key=head.count)  # a comma where there is none of them
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [name.strip().lower() for name in next(rows, [])]
        if _FIELD not in names:
            raise UnreadableFile(
                f"{path} has no column named {_FIELD!r}", f"{_FIELD!r} in its first line"
            )
        at = names.index(_FIELD)
        for row in rows:
            yield rows.line_num, row[at] if at < len(row) else ""
    except csv.Error as error:
        raise UnreadableFile(
            f"{path}, line {rows.line_num} is not CSV: {error}", "correct that line"
        ) from error


def _of_records(text: str, path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UnreadableFile(
                f"{path}, line {number} is not JSON", '{"question": "…"}'
            ) from error
        question = record.get(_FIELD) if isinstance(record, dict) else None
        if not isinstance(question, str):
            raise UnreadableFile(
                f"{path}, line {number} has no field {_FIELD!r}", '{"question": "…"}'
            )
        yield number, question
