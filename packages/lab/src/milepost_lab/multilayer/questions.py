"""Questions of the shared data with the passage that answers each, as token ids.

A passage begins up to 120 characters before the evidence and has at most 64 tokens. Questions whose
evidence is in the same passage share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.errors import InputError
from milepost_eval.tasks.shared import read_folder
from milepost_eval.types import Split
from milepost_lab.data.long_documents import Words, stable

TASKS = ("written", "squad_articles", "covid_papers", "trials", "policies")
"""Tasks in English whose evidence is short."""

TOKENS = 64
"""Maximum tokens of a passage and of a question, without special tokens."""

_BEFORE = 120  # characters in front of the evidence
_SHARED = 200  # characters from a passage's beginning in which other evidence may begin
_READ = 8 * TOKENS  # characters from which a passage is cut


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions and passages.

    Attributes:
        questions: token ids of each.
        passages: token ids of each, none twice.
        right: number of each question's passage.
        documents: task and document of each question.
    """

    questions: list[list[int]]
    passages: list[list[int]]
    right: list[int]
    documents: list[str]

    def pairs(self) -> Asked:
        """The first question of each passage, so that question i has passage i.

        Documents are in an order that depends only on their names; pairs of a document stay
        together.
        """
        first: dict[int, int] = {}
        for question, passage in enumerate(self.right):
            first.setdefault(passage, question)
        kept = sorted(first.values(), key=lambda question: stable(self.documents[question]))
        return Asked(
            [self.questions[question] for question in kept],
            [self.passages[self.right[question]] for question in kept],
            list(range(len(kept))),
            [self.documents[question] for question in kept],
        )


def asked(data: Path, part: Split, words: Words, most: int | None = None) -> Asked:
    """Read the questions of a split and their passages.

    Args:
        data: folder with ``tasks``.
        part: the split.
        words: the network's tokenizer.
        most: maximum number of questions per task, drawn by their names; None for all.

    Raises:
        InputError: a task cannot be read, or no question is left.
    """
    found = Asked([], [], [], [])
    for name in TASKS:
        task = read_folder(data / "tasks" / name, part)
        texts = {document.name: document.text for document in task.documents}
        known: dict[str, list[tuple[int, int]]] = {}  # beginning and number of each passage
        drawn = sorted(task.questions, key=lambda question: stable(question.name))[:most]
        for question in drawn:
            ids = words.ids([question.text])[0][:TOKENS]
            if not ids or not question.spans:
                continue
            start, text = question.spans[0][0], texts[question.document]
            own = known.setdefault(question.document, [])
            number = next((n for at, n in own if at <= start <= at + _SHARED), None)
            if number is None:
                begin = _beginning(text, start)
                passage = words.ids([text[begin : begin + _READ]])[0][:TOKENS]
                if not passage:
                    continue
                number = len(found.passages)
                found.passages.append(passage)
                own.append((begin, number))
            found.questions.append(ids)
            found.right.append(number)
            found.documents.append(f"{name}/{question.document}")
    if len(found.passages) < 2:
        raise InputError(f"{data / 'tasks'} has no {part} questions", "--data FOLDER with tasks/")
    return found


def _beginning(text: str, start: int) -> int:
    """Find the word at which a passage with evidence at ``start`` begins."""
    begin = max(0, start - _BEFORE)
    if begin == 0:
        return begin
    space = text.find(" ", begin, start)
    return begin if space < 0 else space + 1
