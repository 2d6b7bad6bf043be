"""The eight span-labelled tasks of the shared data, one folder each.

A folder holds ``documents.jsonl.gz`` (``id``, ``title``, ``text``, ``meta``) and
``questions.jsonl.gz`` (``id``, ``document``, ``question``, ``spans``, ``split`` and, in
``written``, ``type``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from milepost.errors import InputError, nearest
from milepost.types import Document
from milepost_eval.tasks.reading import (
    Line,
    Named,
    lines,
    need_questions,
    part_of,
    question_of,
    split_of,
)
from milepost_eval.types import Split, Task

SPAN_TASKS = (
    "written",
    "squad_articles",
    "covid_papers",
    "trials",
    "meetings",
    "policies",
    "multilingual",
    "long_corpora",
)
"""The folders of ``tasks/``."""

TEST_ONLY = frozenset({"long_corpora"})
"""Tasks without training and development questions: four very long documents."""


def read_folder(folder: Path, split: Split) -> Task:
    """A task from its two files.

    The collection is the documents that a question of the split names; a document lies in one
    split only, so no question of another split can ask for it.

    Args:
        folder: of the two files.
        split: of the questions.

    Raises:
        UnreadableFile: a file is missing or damaged.
        InputError: a line that cannot be used, or no question of the split.
    """
    source = part_of(folder, "questions")
    asking: list[Line] = []
    names = Named("question")
    for line in lines(source):
        names.add(line.name("id"), line)
        if split_of(line) == split:
            asking.append(line)
    need_questions(asking, split, source)
    wanted = {line.name("document") for line in asking}
    documents, facts = _documents(part_of(folder, "documents"), wanted)
    return Task(
        name=folder.name,
        split=split,
        documents=tuple(documents.values()),
        questions=tuple(
            question_of(line, line.name("id"), documents[line.name("document")]) for line in asking
        ),
        facts=facts,
    )


def _documents(
    path: Path, wanted: set[str]
) -> tuple[dict[str, Document], dict[str, dict[str, Any]]]:
    documents: dict[str, Document] = {}
    facts: dict[str, dict[str, Any]] = {}
    names = Named("document")
    known: set[str] = set()
    for line in lines(path):
        name = line.name("id")
        names.add(name, line)
        known.add(name)
        if name not in wanted:
            continue
        text = line.text("text")
        if not text.strip():
            raise line.wrong(
                f"document {name!r} has no text", "the file without it and its questions"
            )
        documents[name] = Document(name=name, text=text)
        meta = line.fields.get("meta", {})
        if not isinstance(meta, dict):
            raise line.wrong("'meta' is not an object", '{"licence": "…"}')
        facts[name] = {**meta, "title": line.fields.get("title", "")}
    missing = sorted(wanted - known)
    if missing:
        raise InputError(
            f"{path}: document {missing[0]!r} is missing, but has questions",
            f"{nearest(missing[0], known)}download both files again",
        )
    return documents, facts
