"""ConTEB: chunks of documents, and questions that name the chunk that answers them.

A set (Conti et al. 2025, *Context Is Gold to Find the Gold Passage*, huggingface.co/illuin-conteb,
read by github.com/illuin-tech/conteb) is a folder with ``documents/SPLIT-*.parquet`` (``chunk_id``,
``chunk``) and ``queries/SPLIT-*.parquet`` (``query`` and ``chunk_id``, or ``chunk_ids`` where
several answer). A chunk id is ``DOCUMENT_NUMBER``; the hub calls development ``validation``.

Here a document is its chunks in order with an empty line between them, so that systems which cut
the text themselves can take part, and the evidence is the whole chunk without blanks at its edges.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from milepost.errors import UnreadableFile, nearest
from milepost.types import Document, Span
from milepost_eval.tasks.reading import (
    Line,
    Named,
    need_questions,
    question_text,
    table_lines,
)
from milepost_eval.types import Question, Split, Task

_BETWEEN = "\n\n"


def read_conteb(folder: Path, split: Split) -> Task:
    """A ConTEB folder.

    Raises:
        MissingExtra: pyarrow is not installed.
        UnreadableFile: the split is missing, or a file is damaged.
        InputError: a row that cannot be used.
    """
    documents, places = _documents(_rows(folder / "documents", split))
    questions: list[Question] = []
    counts: Counter[str] = Counter()
    for number, line in enumerate(_rows(folder / "queries", split), 1):
        text = question_text(line, "query")
        chunks = _chunk_ids(line)
        for chunk in chunks:
            if chunk not in places:
                raise line.wrong(
                    f"unknown chunk {chunk!r}",
                    f"{nearest(chunk, places)}download the set again: it is not complete",
                )
        if len({_parts(line, chunk)[0] for chunk in chunks}) > 1:
            counts["whose chunks are in several documents"] += 1
            continue
        spans = sorted({places[chunk] for chunk in chunks if places[chunk][0] < places[chunk][1]})
        if not spans:
            counts["whose chunk is blank"] += 1
            continue
        name = _parts(line, chunks[0])[0]
        questions.append(Question(f"row {number}", text, name, tuple(spans), {name: 1}))
    need_questions(questions, split, folder)
    return Task(
        name=f"conteb:{folder.name}",
        split=split,
        documents=tuple(documents.values()),
        questions=tuple(questions),
        notes=tuple(f"{count} questions {why} are left out" for why, count in counts.items()),
    )


def _documents(rows: list[Line]) -> tuple[dict[str, Document], dict[str, Span]]:
    """Texts by document, and the span of each chunk in its document."""
    chunks: dict[str, list[tuple[int, str, str]]] = {}
    names = Named("chunk")
    for line in rows:
        chunk = line.name("chunk_id")
        names.add(chunk, line)
        document, number = _parts(line, chunk)
        chunks.setdefault(document, []).append((number, chunk, line.text("chunk")))
    documents: dict[str, Document] = {}
    places: dict[str, Span] = {}
    for document, parts in chunks.items():
        at = 0
        for _, chunk, text in sorted(parts):
            start = at + len(text) - len(text.lstrip())
            places[chunk] = (start, max(start, at + len(text.rstrip())))
            at += len(text) + len(_BETWEEN)
        text = _BETWEEN.join(text for _, _, text in sorted(parts))
        documents[document] = Document(name=document, text=text)
    return documents, places


def _chunk_ids(line: Line) -> list[str]:
    many = line.fields.get("chunk_ids")
    if many is None:
        return [line.name("chunk_id")]
    if not isinstance(many, list) or not many or not all(isinstance(each, str) for each in many):
        raise line.wrong("'chunk_ids' is not a list of names", "download the set again")
    return many


def _parts(line: Line, chunk: str) -> tuple[str, int]:
    document, _, number = chunk.rpartition("_")
    if not document or not number.isdecimal():
        raise line.wrong(f"{chunk!r} is not a chunk id", "DOCUMENT_NUMBER, as in 12_0")
    return document, int(number)


def _rows(folder: Path, split: Split) -> list[Line]:
    names = {"train": ("train",), "dev": ("validation", "dev"), "test": ("test",)}[split]
    files = [path for name in names for path in sorted(folder.glob(f"{name}-*.parquet"))]
    if not files:
        there = sorted({path.name.partition("-")[0] for path in folder.glob("*.parquet")})
        raise UnreadableFile(
            f"{folder}: no {names[0]}-*.parquet",
            f"another split: it has {', '.join(there)}" if there else "download the set again",
        )
    return [line for path in files for line in table_lines(path, extra="rivals")]
