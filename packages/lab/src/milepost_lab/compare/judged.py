"""A task of a folder in the layout of BEIR and MTEB: corpus, queries and judgements (qrels).

Trained on the questions of ``train``, each with its best document; asked are those of ``dev``, or
of ``test`` where there are none. A large corpus is cut: what is ranked are the relevant documents
of the asked questions, and others in an order that depends on their names alone. Figures are then
higher than those published for the whole corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from milepost.errors import InputError
from milepost_eval.tasks.judged import judged_splits, read_beir
from milepost_eval.types import Question, Split, Task
from milepost_lab.compare.material import QUERY, Material, Pair, Sizes
from milepost_lab.compare.reading import Text
from milepost_lab.data.long_documents import Words, stable, stretch

_LEAST = 2  # questions, and texts to rank


def judged_task(
    folder: Path,
    name: str,
    words: Words,
    sizes: Sizes,
    note: Callable[[str], None] = lambda line: None,
) -> Material:
    """The task of a folder.

    Args:
        folder: with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/SPLIT.tsv``, or in another
            form that ``read_beir`` reads.
        name: of the task.
        words: of the model that reads.
        sizes: how many pairs, queries and documents, and tokens of a document.
        note: called with a line about each choice that changes what figures mean.

    Raises:
        InputError: a file that cannot be read, no judgements to ask by, or too few of them.
    """
    splits = judged_splits(folder)
    split = _asked(folder, splits)
    if split == "test":
        note(f"{folder} has no dev judgements: its test questions are asked")
    task = read_beir(folder, split)
    questions = sorted(task.questions, key=lambda question: stable(question.name))[: sizes.asked]
    wanted = {document for question in questions for document in question.relevant}
    texts = _texts(task, wanted, words, sizes)
    if len(task.documents) > max(len(wanted), sizes.texts):
        note(
            f"{len(texts):,} of the {len(task.documents):,} documents of {folder} are ranked: "
            "figures are higher than those for all of them"
        )
    numbers = {document: number for number, document in enumerate(texts)}
    asked: list[tuple[Question, Text, dict[int, int]]] = []
    for question in questions:
        ids = stretch(words.ids([question.text]), 0, QUERY)
        grades = {numbers[d]: grade for d, grade in question.relevant.items() if d in numbers}
        if ids and grades:
            asked.append((question, ids, grades))
    if len(asked) < _LEAST or len(texts) < _LEAST:
        raise InputError(
            f"{folder} has {len(asked)} {split} questions and {len(texts)} documents with words",
            "two of each at least",
        )
    pairs: Sequence[Pair] = []
    if "train" in splits:
        known = {question.text for question in task.questions}
        pairs = _pairs(read_beir(folder, "train"), known, words, sizes)
    return Material(
        name,
        f"train questions of {name}",
        pairs,
        [ids for _, ids, _ in asked],
        [question.name for question, _, _ in asked],
        [question.document for question, _, _ in asked],
        list(texts.values()),
        [max(grades, key=lambda number: grades[number]) for _, _, grades in asked],
        [grades for _, _, grades in asked],
        split,
    )


def _asked(folder: Path, splits: Collection[str]) -> Split:
    """The split that is asked."""
    if "dev" in splits:
        return "dev"
    if "test" in splits:
        return "test"
    raise InputError(
        f"{folder / 'qrels'} has neither dev nor test judgements",
        "dev.tsv or test.tsv in it, with the columns query-id, corpus-id and score",
    )


def _texts(task: Task, wanted: Collection[str], words: Words, sizes: Sizes) -> dict[str, Text]:
    """The ranked documents by name: those wanted, and others up to the number asked for."""
    documents = sorted(task.documents, key=lambda document: stable(document.name))
    room = max(0, sizes.texts - len(wanted))
    others = [document.name for document in documents if document.name not in wanted][:room]
    kept = {*wanted, *others}
    texts = {
        document.name: stretch(words.sentences(document.text)[0], 0, sizes.tokens)
        for document in documents
        if document.name in kept
    }
    return {name: text for name, text in texts.items() if text}


def _pairs(task: Task, known: Collection[str], words: Words, sizes: Sizes) -> Sequence[Pair]:
    """Training questions with their best documents, each of both once; none that is asked."""
    documents = {document.name: document.text for document in task.documents}
    pairs: list[Pair] = []
    used: set[str] = set()
    for question in sorted(task.questions, key=lambda question: stable(question.name)):
        if len(pairs) == sizes.pairs:
            break
        if question.text in known or question.text in used or question.document in used:
            continue
        ids = stretch(words.ids([question.text]), 0, QUERY)
        text = stretch(words.sentences(documents[question.document])[0], 0, sizes.tokens)
        if ids and text:
            used |= {question.text, question.document}
            pairs.append((ids, text))
    return pairs
