"""Training pairs and tasks: short passages, and documents at three lengths.

    sentences        a query → a passage of at most 64 tokens, among all held-out ones
    documents-512    a question or title → its document cut to 512 tokens, among all documents
    documents-2k     the same questions and documents, cut to 2,048
    documents-8k     and to 8,192
    images           digits, see ``images.py``

Documents at three lengths share one training on passages of 256 tokens, as LMK's authors train on
short texts and read long ones (arXiv 2601.21525). Each cut contains the shorter ones
(``data/long_documents.py``). A hash of the passage splits pairs: eight in ten train, one is for
development and measured here, one is left for tests. Tasks of other data: ``pairs.py``,
``judged.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from milepost.errors import InputError, nearest
from milepost_eval.types import Split
from milepost_lab.compare.images import TASK as IMAGES
from milepost_lab.compare.images import there
from milepost_lab.compare.reading import Text
from milepost_lab.data.long_documents import (
    Words,
    gather,
    queries_by_passage,
    short_pairs,
    stable,
    stretch,
)

LENGTHS = {"documents-512": 512, "documents-2k": 2048, "documents-8k": 8192}
"""Tasks of documents → tokens of a document."""

TASKS = ("sentences", *LENGTHS, *((IMAGES,) if there() else ()))
"""Every task; ``images`` where its digits can be read."""

SHORT, PASSAGE = 64, 256
"""Most tokens of the passages of ``sentences``; tokens of those that ``documents`` train on."""

SETS = (
    "corpus-headings",
    "docs-headings",
    "law-headings",
    "medquad-questions",
    "meeting-queries",
    "pubmedqa",
    "textbook-terms",
)
"""Sets of pairs: queries and the passages that answer them."""

QUERY = 64
"""Tokens of a query that are read."""

_PER_DOCUMENT = 10  # questions of one document, at most: others have one

Pair = tuple[Text, Text]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the material.

    Attributes:
        pairs: of training, each task's.
        asked: held-out pairs of ``sentences``, and queries of other data.
        documents: of the tasks of documents, the longest of those that have 8,192 tokens.
        tokens: of a passage or document of other data; longer ones are cut.
        texts: that are ranked of a collection of other data.
    """

    pairs: int = 600
    asked: int = 300
    documents: int = 64
    tokens: int = 256
    texts: int = 1000


@dataclass(frozen=True, slots=True)
class Material:
    """A task.

    Attributes:
        name: of ``TASKS``, or that of other data.
        training: what it is trained on: tasks with the same are trained once.
        pairs: query and passage, to train on.
        queries: that are asked.
        names: theirs.
        clusters: the document each is about; intervals resample these.
        texts: that are ranked.
        right: of each query the number of its text.
        grades: of each query its relevant texts, number → grade; empty where ``right`` is all.
        split: of the queries.
    """

    name: str
    training: str
    pairs: Sequence[Pair]
    queries: Sequence[Text]
    names: Sequence[str]
    clusters: Sequence[str]
    texts: Sequence[Text]
    right: Sequence[int]
    # Not in the text of a material, by whose hash published runs are keyed; see ``Session``.
    grades: Sequence[Mapping[int, int]] = field(default=(), repr=False)
    split: Split = field(default="dev", repr=False)


def of_pairs(
    name: str, training: str, pairs: Sequence[Pair], held: Sequence[tuple[str, Pair]]
) -> Material:
    """A task of pairs whose held-out queries are asked, each about a document of its own.

    Args:
        name: of the task.
        training: see ``Material``.
        pairs: to train on.
        held: name, query and passage of those that are asked.
    """
    names = [number for number, _ in held]
    return Material(
        name,
        training,
        pairs,
        [query for _, (query, _) in held],
        names,
        names,
        [text for _, (_, text) in held],
        range(len(held)),
    )


def checked_tasks(text: str | None, known: Sequence[str] = TASKS) -> list[str]:
    """Names of a comma-separated list, each once, in the order of ``known``; all where None.

    Raises:
        InputError: one is not known, or none is named.
    """
    if text is None:
        return list(known)
    named = [name.strip() for name in text.split(",") if name.strip()]
    for name in named:
        if name not in known:
            raise InputError(
                f"unknown task {name!r}", f"{nearest(name, known)}one of {', '.join(known)}"
            )
    if not named:
        raise InputError("no task is named", f"one of {', '.join(known)}")
    return [name for name in known if name in named]


def materials(data: Path, words: Words, tasks: Sequence[str], sizes: Sizes) -> list[Material]:
    """The material of tasks.

    Args:
        data: folder with ``pairs``, ``corpus`` and ``tasks``.
        words: of the model that reads.
        tasks: names; tasks on other data than text are skipped.
        sizes: how much.

    Raises:
        InputError: the folder lacks one of them, or has too little for what is wanted.
    """
    if not {"sentences", *LENGTHS}.intersection(tasks):
        return []
    if not (data / "pairs").is_dir():
        raise InputError(
            f"{data} holds no training text", "--data FOLDER with pairs/, corpus/ and tasks/"
        )
    found = [sentences(data, words, sizes)] if "sentences" in tasks else []
    return found + documents(data, words, [task for task in tasks if task in LENGTHS], sizes)


def sentences(data: Path, words: Words, sizes: Sizes) -> Material:
    """Short passages; a query with several passages keeps the first."""
    queries = queries_by_passage(data / "pairs", SETS)
    training: list[Pair] = []
    held: list[tuple[str, Pair]] = []
    asked: set[str] = set()
    for passage in sorted(queries, key=stable):
        if len(training) >= sizes.pairs and len(held) >= sizes.asked:
            break
        query, part = queries[passage], int(stable(passage), 16) % 10
        if len(passage) > 8 * SHORT or query in asked or part == 9:
            continue
        if len(held if part == 8 else training) >= (sizes.asked if part == 8 else sizes.pairs):
            continue
        text, _ = words.sentences(passage)
        ids = stretch(words.ids([query]), 0, QUERY)
        if not ids or not 4 <= sum(map(len, text)) <= SHORT:
            continue
        asked.add(query)
        if part == 8:
            held.append((stable(passage)[:16], (ids, text)))
        else:
            training.append((ids, text))
    if len(held) < 2:
        raise InputError(f"{data / 'pairs'} has no short passages to ask for", "--data FOLDER")
    return of_pairs("sentences", "short passages", training, held)


def documents(data: Path, words: Words, tasks: Sequence[str], sizes: Sizes) -> list[Material]:
    """Long documents, one task for each length."""
    if not tasks:
        return []
    longest, shortest = max(LENGTHS.values()), min(LENGTHS.values())
    found, asked = gather(
        data,
        words,
        least=longest,
        documents=sizes.documents,
        questions=_PER_DOCUMENT,
        shortest=shortest,
    )
    if len(found) < 2:
        raise InputError(
            f"{data} has {len(found)} documents of {longest:,} tokens with a question",
            "--data FOLDER with corpus/ and tasks/",
        )
    pairs = short_pairs(data / "pairs", SETS, words, sizes.pairs, PASSAGE)
    numbers = {document.name: number for number, document in enumerate(found)}
    return [
        Material(
            task,
            f"passages of {PASSAGE} tokens",
            pairs,
            [question.text for question in asked],
            [question.name for question in asked],
            [question.document for question in asked],
            [document.cut(LENGTHS[task]) for document in found],
            [numbers[question.document] for question in asked],
        )
        for task in tasks
    ]
