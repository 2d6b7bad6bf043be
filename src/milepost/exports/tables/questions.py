"""Read files of questions, one in each line."""

from __future__ import annotations

import os
from pathlib import Path

from milepost._typed import typed
from milepost.documents.encoding import decode
from milepost.errors import BadQuestion, InputError, UnreadableFile

_RECORDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


@typed
def read_questions(path: str | os.PathLike[str]) -> list[str]:
    """Read the questions of a text file, one in each line, each once, in their order.

    Raises:
        UnreadableFile: the file cannot be read, or its suffix says that its lines are records.
        InputError: it has no questions.
        BadQuestion: a question has neither letter nor digit.
    """
    path = Path(path)
    if path.suffix.lower() in _RECORDS:
        raise UnreadableFile(
            f"{path} is no text with a question in each line", "the questions alone, in a .txt"
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror or error}", "check the path"
        ) from error
    text = decode(data, str(path))[0]
    questions: dict[str, None] = {}
    for line, given in enumerate(text.split("\n"), 1):
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
