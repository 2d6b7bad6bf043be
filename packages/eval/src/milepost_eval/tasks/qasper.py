"""Qasper: questions about scientific papers, evidence given as copies of paragraphs.

``qasper-{train,dev,test}-v0.3.json`` (Dasigi et al. 2021, allenai.org/data/qasper) is one object:
paper → ``title``, ``abstract``, ``full_text`` (a list of ``section_name``, ``paragraphs``) and
``qas`` (``question``, ``question_id``, ``answers``: each an ``answer`` with ``unanswerable`` and
``evidence``, a list of paragraphs; ``FLOAT SELECTED: …`` names a figure or table).

Here a paper's text is title, abstract, section names and paragraphs with empty lines between, and
a question's spans are the paragraphs that any annotator gave, anywhere in the text.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from milepost.errors import InputError, UnreadableFile
from milepost.types import Document, Span
from milepost_eval.tasks.reading import need_questions
from milepost_eval.types import Question, Split, Task

_FLOAT = "FLOAT SELECTED"


def read_qasper(source: Path, split: Split) -> Task:
    """Questions whose evidence occurs in the text; the others are counted in ``notes``.

    Args:
        source: the folder of ``qasper-SPLIT-v0.3.json``, or the file itself.
        split: which of them.

    Raises:
        UnreadableFile: no such file, or no JSON.
        InputError: a paper or question of another shape.
    """
    path = source if source.is_file() else source / f"qasper-{split}-v0.3.json"
    if split not in path.name:
        raise InputError(f"{path.name} is not the {split} file", "the folder")
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    counts: Counter[str] = Counter()
    for name, paper in _papers(path).items():
        try:
            text, places = _text(paper)
            asked = [
                (str(qa["question_id"]), qa["question"].strip(), _evidence(qa))
                for qa in paper["qas"]
            ]
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}: paper {name} is damaged: {error!r}", "download the file again"
            ) from error
        for key, words, evidence in asked:
            spans, why = _spans(evidence, places)
            if not any(letter.isalnum() for letter in words):
                counts["without words are left out"] += 1
            elif not spans:
                counts[f"{why} are left out"] += 1
            else:
                if why:
                    counts["are asked without the part of their evidence that is not text"] += 1
                questions.append(Question(key, words, name, spans, {name: 1}))
                documents[name] = Document(name=name, text=text)
    need_questions(questions, split, path)
    repeated = [name for name, count in Counter(q.name for q in questions).items() if count > 1]
    if repeated:
        raise InputError(f"{path}: question {repeated[0]} appears twice", "download the file again")
    return Task(
        name="qasper",
        split=split,
        documents=tuple(documents.values()),
        questions=tuple(questions),
        notes=tuple(f"{count} questions {what}" for what, count in counts.items()),
    )


def _papers(path: Path) -> dict[str, Any]:
    try:
        papers = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(
            f"{path} cannot be read: {reason}", "unpack qasper-train-dev-v0.3.tgz there"
        ) from error
    if not isinstance(papers, dict):
        raise InputError(f"{path}: not an object of papers", "download the file again")
    return papers


def _text(paper: dict[str, Any]) -> tuple[str, dict[str, list[Span]]]:
    """The text, and the positions of each paragraph in it (a paragraph may occur twice)."""
    parts = [paper["title"], paper["abstract"]]
    for section in paper["full_text"]:
        parts += [section["section_name"] or "", *section["paragraphs"]]
    places: dict[str, list[Span]] = {}
    at = 0
    kept = [part.strip() for part in parts if part and part.strip()]
    for part in kept:
        places.setdefault(_folded(part), []).append((at, at + len(part)))
        at += len(part) + 2
    return "\n\n".join(kept), places


def _evidence(qa: dict[str, Any]) -> list[str] | None:
    """Paragraphs that an annotator gave; None where all say that the paper does not answer."""
    answers = [answer["answer"] for answer in qa["answers"]]
    if answers and all(answer["unanswerable"] for answer in answers):
        return None
    return [piece for answer in answers for piece in answer["evidence"] if piece.strip()]


def _spans(
    evidence: list[str] | None, places: dict[str, list[Span]]
) -> tuple[tuple[Span, ...], str]:
    """Spans of the evidence, and why some of it was not found ("" if all was)."""
    if evidence is None:
        return (), "that the paper does not answer"
    if not evidence:
        return (), "without evidence"
    found: set[Span] = set()
    lost = False
    for piece in evidence:
        here = places.get(_folded(piece), ())
        found.update(here)
        lost |= not here and not piece.startswith(_FLOAT)
    floats = any(piece.startswith(_FLOAT) for piece in evidence)
    why = "whose evidence is not in the text" if lost else ""
    return tuple(sorted(found)), why or ("whose evidence is in figures or tables" if floats else "")


def _folded(paragraph: str) -> str:
    """A paragraph by its words: copies differ in white space."""
    return " ".join(paragraph.split())
