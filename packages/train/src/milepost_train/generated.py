"""Generated questions, and the task file they are written to.

The file is one that ``milepost eval run --tasks FILE`` and training read
(``milepost_eval.tasks.own``). Two keys of a document line say more:

    "ignore": [[0, 31], …]           headings: for no question evidence, for none a negative;
    "beside": {"ID": [[90, 410]]}    what may answer the question ID too: for it no negative.

A ``Journal`` writes such a file piece by piece, and a second run continues it: beside ``FILE`` the
folder ``.FILE.run`` holds the settings and each finished piece of work (``milepost_eval.runs``);
``FILE`` is written from it when the command ends, finished or not. So a run in two goes gives the
bytes of a run in one; a run that wrote nothing leaves no record.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from milepost.documents import files, read
from milepost.errors import InputError, nearest
from milepost.exports.writing import replacing
from milepost.types import Document, Span
from milepost_eval.runs import Run
from milepost_eval.tasks.own import with_spans
from milepost_eval.tasks.reading import (
    ELSEWHERE,
    Line,
    Named,
    is_table,
    lines,
    question_text,
    spans_of,
    split_of,
)
from milepost_eval.types import Split
from milepost_train.data import barred, held_out

_FACTS = ("title", "kind", "licence", "source")
"""Keys of a document line that are copied to the task: origin and licence."""


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """One question about a document.

    Attributes:
        spans: the evidence, ascending, white space at the edges left out.
        kind: ``type`` in the task file.
        beside: what may answer it too.
    """

    question: str
    spans: tuple[Span, ...]
    kind: str
    beside: tuple[Span, ...] = ()


@dataclass(slots=True)
class Source:
    """A document to ask about.

    Attributes:
        facts: what its line in the made task keeps.
        ignore: spans that are neither evidence nor a negative of any question.
        beside: by question, spans that may answer it too.
    """

    document: Document
    title: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    ignore: tuple[Span, ...] = ()
    beside: dict[str, tuple[Span, ...]] = field(default_factory=dict)


@contextmanager
def collected(bad: list[InputError]) -> Iterator[None]:
    """Keep the error of what cannot be used, so that all else is read."""
    try:
        yield
    except InputError as error:
        bad.append(error)


def first_of(bad: Sequence[InputError], most: int = 20) -> Iterator[str]:
    """A line for each of the first errors, and one that counts the rest."""
    yield from map(str, bad[:most])
    if len(bad) > most:
        yield f"… and {len(bad) - most:,} more that cannot be used"


def sources(
    paths: Iterable[Path],
    dropped: Counter[str],
    bad: list[InputError],
    *,
    split: Split = "train",
    allow_nc: bool = False,
    questions: bool = False,
) -> Iterator[Source]:
    """Documents one at a time, in a fixed order.

    ``paths`` are files of JSON lines or tables (``id``, ``text``, and ``title``, ``licence``,
    ``split`` where they are known), other files of any format, folders. ``dropped`` gets the
    documents left out, by reason, ``bad`` an error for each line or file that cannot be used. Lines
    of another split are left out; a line that names none is in every split. ``allow_nc`` keeps
    documents whose licence is non-commercial or not recognised. With ``questions`` the files may
    hold lines with a ``question`` as well, which are not for here.

    Raises:
        UnreadableFile: a path is not there, or a file of JSON lines is damaged.
    """
    names = Named("document")
    paths = list(paths)
    above = _folder_of_all(paths)
    for file in _files(paths):
        if not (file.name.removesuffix(".gz").endswith(".jsonl") or is_table(file)):
            with collected(bad):
                document = read(file)
                # A name that says nothing of this machine, so that the task is the same anywhere.
                name = Path(os.path.relpath(file.resolve(), above)).as_posix()
                title = str(document.properties.get("title", ""))
                yield Source(replace(document, name=name), title=title)
            continue
        for line in lines(file, bad):
            asks = "question" in line.fields
            if asks and questions:
                continue
            with collected(bad):
                if asks:
                    raise line.wrong(
                        "a 'question' among documents",
                        "leave the key out, or put the line among the questions",
                    )
                if questions:
                    line.text("text", "question")  # says so where it has neither
                source, own = _source(line, names)
                if own not in (None, split):
                    dropped["document of another split"] += 1
                elif not allow_nc and (kind := barred(source.facts.get("licence"))):
                    dropped[f"document with {kind} licence"] += 1
                else:
                    yield source


def question_lines(
    path: Path, bad: list[InputError], *, documents: bool
) -> Iterator[tuple[str, str, Line, Split]]:
    """Names, documents, lines and splits of questions; one that names no split is of ``dev``.

    ``documents``: the file holds documents as well; ``sources`` names the lines that are neither.
    """
    names = Named("question")
    for line in lines(path, [] if documents else bad):
        if documents and "question" not in line.fields:
            continue
        with collected(bad):
            name = line.name("id") if "id" in line.fields else f"line {line.number}"
            names.add(name, line)
            question_text(line, "question")
            yield name, line.name("document"), line, split_of(line, "dev")


def asked_documents(
    documents: Path,
    questions: Path,
    counts: Counter[str],
    bad: list[InputError],
    *,
    split: Split = "train",
    allow_nc: bool = False,
    hold_out: float = 0.0,
) -> Iterator[tuple[Source, list[tuple[str, Line]]]]:
    """Documents, each with the names and lines of the questions of a split about it.

    Documents of which only other splits ask are left out, and questions that nothing answers.
    ``documents`` and ``questions`` may be one file; ``hold_out`` is the share of the documents
    whose questions are left out, see ``held_out``. The rest is as in ``sources``.
    """
    both = documents.resolve() == questions.resolve()
    asked: dict[str, list[tuple[str, Line]]] = {}
    elsewhere: set[str] = set()
    for name, document, line, own in question_lines(questions, bad, documents=both):
        if own != split:
            counts[ELSEWHERE] += 1
            elsewhere.add(document)
        elif held_out(document, hold_out):
            counts["questions about documents held out"] += 1
        elif line.fields.get("spans") == []:
            counts["questions that nothing answers, not used"] += 1
        else:
            asked.setdefault(document, []).append((name, line))
    elsewhere -= asked.keys()
    options: Any = {"split": split, "allow_nc": allow_nc, "questions": both}
    for source in sources([documents], counts, bad, **options):
        if source.document.name not in elsewhere:
            yield source, asked.pop(source.document.name, [])
    there = (line.fields for line in (lines(documents, []) if asked else ()))
    known = {str(each["id"]) for each in there if {"id", "text"} <= each.keys()}
    for name, about in asked.items():
        if name in known:
            counts["questions about a document that is left out"] += len(about)
            continue
        hint = f"{nearest(name, known)}add its line to {documents}"
        bad.extend(line.wrong(f"no document {name!r}", hint) for _, line in about)


def evidence_of(line: Line, document: Document) -> tuple[Span, ...]:
    """The evidence of a question line, by its spans or its answer; raises ``InputError``."""
    line = with_spans(line, document)
    return spans_of(line, line.fields.get("spans"), document)


def task_rows(
    source: Source, made: Sequence[GeneratedQuestion], ignore: Sequence[Span], split: Split
) -> Iterator[Mapping[str, Any]]:
    """Lines of the task file: the document, then its questions; nothing where none was made."""
    if not made:
        return
    name = source.document.name
    asked = [(f"{name}:{each.kind}:{number}", each) for number, each in enumerate(made)]
    row: dict[str, Any] = {"id": name, "text": source.document.text, **source.facts}
    if ignore:
        row["ignore"] = [list(span) for span in ignore]
    beside = {key: [list(s) for s in each.beside] for key, each in asked if each.beside}
    if beside:
        row["beside"] = beside
    yield row
    for key, each in asked:
        yield {
            "id": key,
            "document": name,
            "question": each.question,
            "type": each.kind,
            "spans": [list(span) for span in each.spans],
            "split": split,
        }


def checked_kinds(given: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Kinds of question by name, each once."""
    found = tuple(dict.fromkeys(given))
    for name in found:
        if name not in known:
            raise InputError(
                f"unknown kind {name!r}", f"{nearest(name, known)}one of {', '.join(known)}"
            )
    if not found:
        raise InputError("no kind of question is named", f"kinds: {', '.join(known)}")
    return found


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are named; folders walked as ``milepost index`` walks them, and JSON lines."""
    for path in paths:
        if is_table(path):
            yield path
        elif path.is_dir():
            found = {*files([path]), *path.rglob("*.jsonl.gz")}
            yield from sorted(found)
        else:
            yield from files([path])


def _folder_of_all(paths: Sequence[Path]) -> Path:
    parents = [path.resolve().parent for path in paths]
    try:
        return Path(os.path.commonpath(parents)) if parents else Path.cwd()
    except ValueError:  # several drives of Windows
        return Path.cwd()


def _source(line: Line, names: Named) -> tuple[Source, Split | None]:
    name = line.name("id")
    names.add(name, line)
    text = line.text("text")
    if not text.strip():
        raise line.wrong("'text' is empty", "leave the line out or give it a text")
    meta = line.fields.get("meta")
    fields = {**meta, **line.fields} if isinstance(meta, dict) else line.fields
    facts = {key: fields[key] for key in _FACTS if key in fields}
    split = split_of(line) if "split" in line.fields else None
    beside = line.fields.get("beside", {})
    if not isinstance(beside, dict):
        raise line.wrong("'beside' is not an object", 'write {"QUESTION ID": [[start, end]]}')
    return Source(
        Document(name=name, text=text),
        str(fields.get("title", "")),
        facts,
        _spans(line, line.fields.get("ignore", []), "ignore"),
        {key: _spans(line, value, "beside") for key, value in beside.items()},
    ), split


def _spans(line: Line, value: Any, key: str) -> tuple[Span, ...]:
    if not isinstance(value, list) or not all(
        isinstance(s, list) and len(s) == 2 and all(type(edge) is int for edge in s) for s in value
    ):
        raise line.wrong(f"{key!r} is not a list of spans", "a span is [start, end]")
    return tuple((start, end) for start, end in value)


@dataclass(slots=True)
class Written:
    """What came of a command that writes a journal: what was written or dropped, and bad lines."""

    counts: Counter[str]
    bad: list[InputError]


class Journal:
    """Rows of a file, piece by piece. Used as a context manager.

    ``settings`` are everything that the rows depend on, as JSON can hold it.

    Attributes:
        done: the pieces that are finished, by their names.
        dev: a document whose questions are written with the split ``dev``; None for none.
        counts: what all of them counted, summed.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        record = path.with_name(f".{path.name}.run")
        if path.suffix == ".gz":
            raise InputError(f"{path} is not compressed, so it cannot be gzipped", "drop the .gz")
        if path.exists() and path.stat().st_size and not record.is_dir():
            raise InputError(
                f"{path} exists, but {record.name} does not", "give another --out, or delete it"
            )
        try:
            self.done = Run(record, {"format": 2, **settings})
        except InputError as error:
            again = f"another --out, or delete {path.name} and {record.name}"
            raise InputError(error.problem, again) from error
        pieces = (Counter(piece["counts"]) for piece in self.done.values())
        self.counts = sum(pieces, Counter[str]())
        self.dev: str | None = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        wrote = any(self.rows()) if kind is None else bool(self.done)
        try:
            if wrote or kind is None:
                with replacing(self.path, self.path.with_name(f".{self.path.name}.part")) as file:
                    for row in self.rows():
                        file.write(_line(row))
        except OSError as error:
            if kind is None:
                raise InputError(
                    f"{self.path} cannot be written: {error.strerror}",
                    "remove the cause and run the same command; finished work is kept",
                ) from error
        if not wrote:  # no work is lost, and other settings may follow
            shutil.rmtree(self.done.folder)

    def write(
        self, piece: str, rows: Iterable[Mapping[str, Any]], counts: Mapping[str, int]
    ) -> None:
        """Keep the rows of a piece of work; they are on the disk when this returns."""
        self.done.add(piece, {"rows": list(rows), "counts": dict(counts)})
        self.counts.update(counts)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The rows of all finished pieces, in order."""
        for piece in self.done.values():
            for row in piece["rows"]:
                moved = self.dev is not None and row.get("document") == self.dev
                yield {**row, "split": "dev"} if moved else row


def _line(row: Mapping[str, Any]) -> bytes:
    try:
        return (json.dumps(row, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no bytes for
        return (json.dumps(row) + "\n").encode()
