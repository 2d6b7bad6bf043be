"""Tasks as vectors: landmarks of each document, and a vector and the document of each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost.types import Document, Landmarks
from milepost_eval.tasks.protocol import take
from milepost_eval.tasks.shared import read_folder
from milepost_eval.types import Split, Task
from milepost_lab.runner import Progress
from milepost_train.data import barred


class Reader(Protocol):
    """Encodes texts and questions into one vector space, as ``milepost.Encoder`` does."""

    def encode(self, text: str | Document) -> Landmarks:
        """Encode a text."""

    def encode_query(self, question: str) -> NDArray[np.float32]:
        """Encode a question: ``(d,)``, unit length."""


@dataclass(frozen=True, slots=True)
class Landmarked:
    """Documents and questions of some tasks, as vectors.

    Attributes:
        documents: task and name of each.
        states: ``(landmarks, d)`` float32, documents one behind the other.
        lengths: ``(documents,)``: landmarks of each.
        queries: ``(questions, d)`` float32.
        answers: ``(questions,)``: the number of each question's document.
        evidence: of each question the numbers of the landmarks, in its document, that answer it.
        tasks: the task of each question.
    """

    documents: tuple[str, ...]
    states: NDArray[np.float32]
    lengths: NDArray[np.int64]
    queries: NDArray[np.float32]
    answers: NDArray[np.int64]
    evidence: tuple[tuple[int, ...], ...]
    tasks: tuple[str, ...]

    def document(self, number: int) -> NDArray[np.float32]:
        """The landmarks of one document, ``(n, d)``."""
        end = int(self.lengths[: number + 1].sum())
        return self.states[end - int(self.lengths[number]) : end]

    def texts(self) -> list[NDArray[np.float32]]:
        """The landmarks of each document."""
        return np.split(self.states, np.cumsum(self.lengths)[:-1])


def read(
    folders: Sequence[Path],
    split: Split,
    encoder: Reader,
    *,
    documents: int | None = None,
    questions: int | None = None,
    allow_nc: bool = True,
    progress: Progress = lambda task, done, of: None,
) -> Landmarked:
    """Read tasks and encode their documents and questions.

    Args:
        folders: with ``documents.jsonl.gz`` and ``questions.jsonl.gz``, one a task.
        split: which questions; the documents are those that they ask of.
        encoder: gives the vectors.
        documents: most documents of a task; None for all.
        questions: most questions of a task; None for all.
        allow_nc: whether documents whose licence forbids commercial use are read.
        progress: called with task, documents read and documents of the task.

    Raises:
        InputError: a task that cannot be read, or of which nothing is left.
    """
    names: list[str] = []
    states: list[NDArray[np.float32]] = []
    queries: list[NDArray[np.float32]] = []
    answers: list[int] = []
    evidence: list[tuple[int, ...]] = []
    tasks: list[str] = []
    for folder in folders:
        task = take(_allowed(read_folder(folder, split), allow_nc), questions, documents)
        numbers: dict[str, int] = {}
        spans: dict[str, NDArray[np.int64]] = {}
        for done, document in enumerate(task.documents):
            progress(f"reading {task.name} ({split})", done, len(task.documents))
            landmarks = encoder.encode(document)
            if len(landmarks.vectors):
                numbers[document.name] = len(names)
                spans[document.name] = landmarks.spans
                names.append(f"{task.name}/{document.name}")
                states.append(landmarks.vectors)
        for question in task.questions:
            if question.document in numbers:
                queries.append(encoder.encode_query(question.text))
                answers.append(numbers[question.document])
                starts, ends = spans[question.document].T
                hit = [(starts < end) & (ends > start) for start, end in question.spans]
                evidence.append(tuple(np.flatnonzero(np.any(hit, 0)).tolist()) if hit else ())
                tasks.append(task.name)
    if not queries:
        raise InputError(f"no {split} question is left", "allow more documents or questions")
    return Landmarked(
        tuple(names),
        np.concatenate(states),
        np.array([len(each) for each in states]),
        np.stack(queries),
        np.array(answers),
        tuple(evidence),
        tuple(tasks),
    )


def spliced(
    data: Landmarked, foreign: NDArray[np.float32], share: float, seed: int = 0
) -> Landmarked:
    """The same documents with a stretch of foreign landmarks in the middle of each.

    Nothing of a document is taken away, so what answered a question still does.

    Args:
        data: documents and questions.
        foreign: ``(n, d)`` landmarks of documents that are not among them.
        share: foreign part of each document afterwards, in [0, 1).
        seed: where stretches are taken from and put in.

    Raises:
        InputError: a share out of bounds, or less foreign landmarks than are wanted.
    """
    if not 0 <= share < 1:
        raise InputError(f"a share of {share} cannot be foreign", "give 0 or more, under 1")
    random = np.random.default_rng(seed)
    more = np.rint(data.lengths * share / (1 - share)).astype(np.int64)
    if more.max() > len(foreign):
        raise InputError(
            f"{more.max()} foreign landmarks are wanted, there are {len(foreign)}",
            "train on more documents, or splice less",
        )
    parts: list[NDArray[np.float32]] = []
    moved: list[tuple[int, int]] = []
    for own, count in zip(data.texts(), more.tolist(), strict=True):
        at, start = random.integers(len(own) + 1), random.integers(len(foreign) - count + 1)
        parts += [own[:at], foreign[start : start + count], own[at:]]
        moved.append((int(at), count))
    evidence = []
    for places, answer in zip(data.evidence, data.answers, strict=True):
        at, count = moved[answer]
        evidence.append(tuple(place + (count if place >= at else 0) for place in places))
    return replace(
        data, states=np.concatenate(parts), lengths=data.lengths + more, evidence=tuple(evidence)
    )


def _allowed(task: Task, allow_nc: bool) -> Task:
    """The task without documents under a non-commercial licence, and what is asked of them."""
    if allow_nc:
        return task
    kept = {
        document.name
        for document in task.documents
        if not barred(task.facts.get(document.name, {}).get("licence"))
    }
    return replace(
        task,
        documents=tuple(each for each in task.documents if each.name in kept),
        questions=tuple(each for each in task.questions if each.document in kept),
    )
