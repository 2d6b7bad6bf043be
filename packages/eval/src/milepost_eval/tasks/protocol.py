"""The fixed development protocol: what may be used for tuning, and how smaller tasks are drawn.

``train`` and ``dev`` are for choosing, ``test`` is for reporting, once. Who tunes asks for the task
through ``for_tuning``, which refuses a test task; nothing else in the room reads tasks to choose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.types import SETTINGS, Question, Task


def for_tuning(task: Task) -> Task:
    """Return the task if it may be used for tuning.

    Raises:
        InputError: its questions are of the test split.
    """
    if task.split == "test":
        raise InputError(
            f"task {task.name} is of the test split, which is for reports, not for tuning",
            "tune on --split dev",
        )
    return task


def take(task: Task, questions: int | None = None, documents: int | None = None) -> Task:
    """A smaller task, the same one whatever order its files had.

    Documents are put in the order of a hash of their names, each one's questions too; questions
    are then dealt document by document: the first of each, the second of each … So a task of a
    few questions spans many documents, and one of more questions holds those of fewer.

    Args:
        task: what to choose from.
        questions: most questions; None for all.
        documents: most documents that are asked of; the collection is then the documents that
            the chosen questions need. None leaves the collection whole, since every document
            taken away makes a search of the collection easier.

    Raises:
        InputError: a number under 1.
    """
    for what, number in (("questions", questions), ("documents", documents)):
        if number is not None and number < 1:
            raise InputError(f"{number} {what} of {task.name}: nothing to ask", "1 or more")
    asked: dict[str, list[Question]] = {}
    for question in task.questions:
        asked.setdefault(question.document, []).append(question)
    names = sorted(asked, key=_hashed)[:documents]
    columns = [sorted(asked[name], key=lambda question: _hashed(question.name)) for name in names]
    dealt = [each for each in chain.from_iterable(zip_longest(*columns)) if each is not None]
    chosen = tuple(dealt[:questions])
    needed = {name for question in chosen for name in (question.document, *question.relevant)}
    kept = sorted(task.documents, key=lambda document: _hashed(document.name))
    if documents is not None:
        kept = [document for document in kept if document.name in needed]
    return replace(
        task,
        documents=tuple(kept),
        questions=chosen,
        facts={each.name: task.facts[each.name] for each in kept if each.name in task.facts},
    )


def together(tasks: Sequence[Task]) -> Task:
    """One task of several, whose collection holds the documents of all of them.

    Documents and questions are named after their task, which is also the type of its questions.
    Documents with the same text are one, named after the first task that has it.

    Args:
        tasks: at least one, all of one split.
    """
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    facts: dict[str, Mapping[str, Any]] = {}
    for task in tasks:
        names: dict[str, str] = {}
        for document in task.documents:
            renamed = replace(document, name=f"{task.name}/{document.name}")
            names[document.name] = documents.setdefault(document.text, renamed).name
        facts = {names[name]: known for name, known in task.facts.items()} | facts
        questions += [
            replace(
                each,
                name=f"{task.name}/{each.name}",
                document=names[each.document],
                relevant={names[name]: grade for name, grade in each.relevant.items()},
                kind=task.name,
            )
            for each in task.questions
        ]
    return Task(
        name="+".join(task.name for task in tasks),
        split=tasks[0].split,
        documents=tuple(documents.values()),
        questions=tuple(questions),
        facts=facts,
        settings=tuple(each for each in SETTINGS if all(each in task.settings for task in tasks)),
        notes=tuple(f"{task.name}: {note}" for task in tasks for note in task.notes),
    )


def _hashed(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
