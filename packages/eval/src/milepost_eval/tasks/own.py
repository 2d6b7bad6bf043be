r"""A task of your own: one file of JSON lines, gzipped or not, or a table (``is_table``).

There are two kinds of line, those with and those without a ``question``:

    {"id": "handbook", "text": "The whole text …"}
    {"document": "handbook", "question": "Who signs leave?", "answer": "The head of office"}

A line with ``id`` and ``text`` and no question is a document; it may come before or after the
questions about it. A line with ``question`` needs one of

    "answer": "The head of office"     words of the document, which it has in one place (case, white
                                       space and typography are ignored); or a list of such,
    "spans": [[120, 164]]              a list of ``[start, end]``, code points of the document's
                                       text (Python string offsets), end exclusive, not empty, apart

and one of

    "document": "handbook"             the ``id`` of a document line,
    "document": "papers/leave.pdf"     else a file beside this one, read as ``milepost index``
                                       reads it (any format); spans count its extracted text,
    "text": "The whole text …"         the text itself; equal texts are one document.

A question line may also have

    "id": "q17"          its name, unique; else ``line N``,
    "split": "dev"       ``train``, ``dev`` (where it says nothing) or ``test``,
    "type": "scattered"  a word by which results are grouped,
    "twins": [[9, 40]]   spans that say the same of another subject, for the metric ``twins``,
    "distance": 3        sentences between the evidence and the name of its subject.

``"spans": []`` says that nothing answers: ``milepost eval`` then measures probabilities, and
``milepost fit`` calibrates them.

Documents of which only another split asks are left out; one of which nobody asks is in every
split's collection, to be searched and never the answer. Other keys of a document line are kept as
its facts; other keys of a question line are an error, since a misspelt ``splt`` would otherwise be
``dev``. So a file is written:

    file.write(json.dumps({"id": name, "text": text}) + "\n")
    file.write(json.dumps({"document": name, "question": asked, "answer": words}) + "\n")
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from milepost.documents import read
from milepost.errors import nearest
from milepost.quotes import Folded, fold, occurrences, stripped
from milepost.types import Document
from milepost_eval.tasks.reading import (
    Line,
    Named,
    NoQuestions,
    lines,
    need_questions,
    question_of,
    question_text,
    split_of,
    task_name,
)
from milepost_eval.types import Question, Split, Task

_KEYS = (
    "question",
    "document",
    "text",
    "answer",
    "spans",
    "id",
    "split",
    "type",
    "twins",
    "distance",
)


def read_own(path: Path, split: Split) -> Task:
    """The questions of one split and the documents they ask of.

    Lines of other splits are checked too, but for the spans in files that only they ask of: those
    files are not read.

    Args:
        path: the file.
        split: of the questions.

    Raises:
        UnreadableFile: the file, or a document's file, cannot be read.
        InputError: a line that cannot be used, or no question of the split.
    """
    documents: dict[str, Document] = {}
    facts: dict[str, Mapping[str, Any]] = {}
    asking: list[Line] = []
    names = Named("document")
    for line in lines(path):
        if "question" in line.fields:
            asking.append(line)
            continue
        line.text("text", "question")  # says so where it has neither
        name, text = line.name("id"), _text(line)
        names.add(name, line)
        documents[name] = Document(name=name, text=text)
        facts[name] = {k: v for k, v in line.fields.items() if k not in ("id", "text")}
    asked = Named("question")
    questions: list[Question] = []
    shelf = _Shelf(path.parent, documents)
    for line in asking:
        _check_keys(line)
        name = line.name("id") if "id" in line.fields else f"line {line.number}"
        asked.add(name, line)
        question_text(line, "question")
        wanted = split_of(line, "dev") == split
        document = shelf.document(line, fetch=wanted)
        if document is None:  # a file of another split
            continue
        question = question_of(with_spans(line, document), name, document)
        if wanted:
            questions.append(question)
    if not asking:
        raise NoQuestions(f"{path} holds no question", "a line with 'question'")
    need_questions(questions, split, path, elsewhere=len(asking))
    wanted_by_any = {str(line.fields.get("document")) for line in asking}
    used = dict.fromkeys(question.document for question in questions)
    used |= dict.fromkeys(name for name in documents if name not in wanted_by_any)
    return Task(
        name=task_name(path),
        split=split,
        documents=tuple(shelf.known[name] for name in used),
        questions=tuple(questions),
        facts={name: facts.get(name, {}) for name in used},
        notes=tuple(f"{name}: {note}" for name in used for note in shelf.known[name].notes),
    )


class _Shelf:
    """Documents by name; files are read when they are first asked of."""

    def __init__(self, folder: Path, documents: Mapping[str, Document]) -> None:
        self._folder = folder
        self._given = set(documents)
        self.known = dict(documents)

    def document(self, line: Line, *, fetch: bool) -> Document | None:
        """The document of a question line; None for an unread file where ``fetch`` is False."""
        if "text" in line.fields:
            if "document" in line.fields:
                raise line.wrong("both 'document' and 'text'", "one of them")
            text = _text(line)
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            name = f"text {digest[:12]}"
            return self.known.setdefault(name, Document(name=name, text=text))
        name = line.name("document")
        if name in self.known:
            return self.known[name]
        if "\n" in name or len(name) > 255:
            raise line.wrong("'document' is a text, not a name", "the text under 'text'")
        file = self._folder / name
        if not file.is_file():
            raise line.wrong(
                f"no document {name!r}: neither the 'id' of a line with 'text' nor a file "
                f"in {self._folder}",
                f"{nearest(name, self._given)}a line with this 'id' and its 'text'",
            )
        if not fetch:
            return None
        self.known[name] = replace(read(file), name=name)
        return self.known[name]


def with_spans(line: Line, document: Document) -> Line:
    """A question line whose answer, if it has one, is replaced by the spans of it.

    Raises:
        InputError: both, no text, or words that its document has not, or in several places.
    """
    if "answer" not in line.fields:
        return line
    if "spans" in line.fields:
        raise line.wrong("both 'answer' and 'spans'", "one of them")
    given = line.fields["answer"]
    answers = [given] if isinstance(given, str) else given
    if not (
        isinstance(answers, list)
        and answers
        and all(isinstance(each, str) and each.strip() for each in answers)
    ):
        raise line.wrong(
            "'answer' has no words", 'words of the document, or "spans": [] if nothing answers'
        )
    spans = []
    for answer in answers:
        found = list(occurrences(stripped(answer), _folded(document.text)))
        if len(found) != 1:
            raise line.wrong(
                f"document {document.name!r} has the answer {answer!r:.60} in {len(found)} places",
                "more words of the sentence that answers, or 'spans'"
                if found
                else "words as the document has them",
            )
        spans.append([found[0].start, found[0].end])
    return replace(line, fields={**line.fields, "spans": spans})


@lru_cache(maxsize=8)
def _folded(text: str) -> Folded:
    return fold(text)


def _text(line: Line) -> str:
    text = line.text("text")
    if not text.strip():
        raise line.wrong("'text' is empty", "a text, or the file without this line")
    return text


def _check_keys(line: Line) -> None:
    for key in line.fields:
        if key not in _KEYS:
            raise line.wrong(
                f"unknown key {key!r} in a question line",
                f"{nearest(key, _KEYS)}one of {', '.join(_KEYS)}",
            )
