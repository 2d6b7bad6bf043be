"""The lines of a LongBench file, checked: a question, its context and the answers to it.

A file (Bai et al. 2024, github.com/THUDM/LongBench, ``data/NAME.jsonl``) has a line a question:
``input``, ``context``, ``answers`` (any of which is right), ``dataset``, ``language``, ``_id``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost_eval.tasks.reading import Line, Named, lines, question_text


@dataclass(frozen=True, slots=True)
class Row:
    """One question.

    Attributes:
        line: where it stands, for errors.
        name: ``_id``, unique in its file.
        question: "" for a task that is asked without words, such as a summary.
        context: the text that the question is about.
        document: name of the first row with this context.
        answers: any of which is right.
        dataset: "" where the line names none.
    """

    line: Line
    name: str
    question: str
    context: str
    document: str
    answers: tuple[str, ...]
    dataset: str


def rows(path: Path) -> Iterator[Row]:
    """The questions of a file, in order.

    Raises:
        UnreadableFile: the file is missing or damaged.
        InputError: a line that cannot be used; its number is given.
    """
    names = Named("question")
    first: dict[bytes, str] = {}
    for line in lines(path):
        name = line.name("_id")
        names.add(name, line)
        asked = question_text(line, "input") if line.text("input").strip() else ""
        context = line.text("context")
        digest = hashlib.sha256(context.encode("utf-8", "surrogatepass")).digest()
        document = first.setdefault(digest, name)
        dataset = line.text("dataset") if line.fields.get("dataset") else ""
        yield Row(line, name, asked, context, document, _strings(line), dataset)


def _strings(line: Line) -> tuple[str, ...]:
    answers = line.fields.get("answers")
    if not isinstance(answers, list) or not all(isinstance(each, str) for each in answers):
        raise line.wrong("'answers' is not a list of strings", "download the file again")
    return tuple(answers)
