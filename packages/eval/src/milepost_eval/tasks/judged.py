"""Public collections that judge whole documents, in BEIR's layout.

BEIR (Thakur et al. 2021, github.com/beir-cellar/beir) has ``corpus.jsonl`` (``_id``, ``title``,
``text``), ``queries.jsonl`` (``_id``, ``text``), ``qrels/{train,dev,test}.tsv`` with a head line
and the columns query-id, corpus-id, score. Copies of it on the Hugging Face hub, MTEB's among
them, have ``qrels/SPLIT.jsonl`` instead, or Parquet (``corpus/*.parquet``, ``queries/*.parquet``,
and ``qrels`` or ``data/SPLIT-*.parquet``); all are read.

The whole corpus is the collection: leaving documents out would make a task easier.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.errors import UnreadableFile, nearest
from milepost.types import Document
from milepost.wording import counted
from milepost_eval.tasks.reading import (
    Line,
    Named,
    lines,
    need_questions,
    question_text,
    table_lines,
)
from milepost_eval.types import Question, Split, Task

_Judgements = dict[str, dict[str, int]]


def read_beir(folder: Path, split: Split) -> Task:
    """A BEIR folder; a document's title is put above its text, as a paragraph of its own."""
    documents, facts = _corpus(_part(folder, "corpus", split), "_id", "id")
    queries = _queries(_part(folder, "queries", split), "_id", "id")
    judged = _judgements(_qrels(folder, split), queries, documents)
    task = _task(f"beir:{folder.name}", split, documents, facts, queries, judged, folder)
    twins = sum(question.name in documents for question in task.questions)
    if not twins:
        return task
    note = (
        f"{counted(twins, 'question')} with the name of a document: BEIR's own scorer drops that "
        "document from the answers, here it counts"
    )
    return replace(task, notes=(*task.notes, note))


def _corpus(
    rows: Iterable[Line], *keys: str
) -> tuple[dict[str, Document], dict[str, dict[str, Any]]]:
    documents: dict[str, Document] = {}
    facts: dict[str, dict[str, Any]] = {}
    names = Named("document")
    for line in rows:
        name, text = line.name(*keys), line.text("text")
        names.add(name, line)
        title = line.fields.get("title") or ""
        if not isinstance(title, str):
            raise line.wrong("'title' is not a string", "a string in quotes")
        documents[name] = Document(name=name, text=f"{title}\n\n{text}" if title else text)
        facts[name] = {"title": title} if title else {}
    return documents, facts


def _queries(rows: Iterable[Line], *keys: str) -> dict[str, str]:
    queries: dict[str, str] = {}
    names = Named("question")
    for line in rows:
        name = line.name(*keys)
        names.add(name, line)
        queries[name] = question_text(line, "text")
    return queries


def _judged_tables(folder: Path, split: Split) -> list[Path]:
    """Parquet files with a split's judgements; MTEB has them in ``qrels`` or ``data``."""
    tables = [sorted((folder / part).glob(f"{split}-*.parquet")) for part in ("qrels", "data")]
    return tables[0] or tables[1]


def _part(folder: Path, stem: str, split: Split) -> Iterator[Line]:
    """Corpus or queries: JSON lines, or Parquet of the split where files are named by splits."""
    tables = sorted((folder / stem).glob("*.parquet"))
    if tables:
        own = [table for table in tables if table.name.startswith(f"{split}-")]
        return (line for table in own or tables for line in table_lines(table))
    return lines(_file(folder, stem))


def _qrels(base: Path, split: Split) -> Iterator[tuple[Line, str, str, int]]:
    folder = base / "qrels"
    table = folder / f"{split}.tsv"
    others: Iterable[Line] = ()
    if not table.is_file() and (folder / f"{split}.jsonl").is_file():
        others = lines(folder / f"{split}.jsonl")
    elif not table.is_file() and (tables := _judged_tables(base, split)):
        others = (line for each in tables for line in table_lines(each))
    if others:
        for line in others:
            query, document = line.name("query-id"), line.name("corpus-id")
            yield line, query, document, _grade(line, line.fields.get("score"))
        return
    try:
        with table.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            for number, row in enumerate(rows, 1):
                line = Line(table, number, {})
                if not any(row):
                    continue
                if number == 1:
                    _check_head(line, row)
                    continue
                if len(row) != 3:
                    raise line.wrong(
                        f"{counted(len(row), 'column')}, not query-id, corpus-id and score",
                        "divide columns by tabs",
                    )
                yield line, row[0], row[1], _grade(line, row[2])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        there = sorted(path.stem for path in folder.glob("*.tsv"))
        raise UnreadableFile(
            f"{table} cannot be read: {reason}",
            f"the folder has judgements for {', '.join(there)}"
            if there
            else "download the set again",
        ) from error


def _check_head(line: Line, row: list[str]) -> None:
    """Refuse a table without names of columns: its first judgement would be lost."""
    if row[-1].lstrip("-").isdigit():
        raise line.wrong(
            "a judgement in place of the names of the columns",
            "a first line with query-id, corpus-id, score",
        )


def _grade(line: Line, score: Any) -> int:
    try:
        grade = float(score)
        whole = int(grade)
    except (TypeError, ValueError, OverflowError) as error:
        raise line.wrong(f"{score!r} is not a score", "a whole number") from error
    if grade != whole:
        raise line.wrong(f"{score!r} is not a whole number", "0, 1, 2 …")
    return whole


def _judgements(
    rows: Iterable[tuple[Line, str, str, int]],
    queries: Mapping[str, str],
    documents: Mapping[str, Document],
) -> _Judgements:
    """Grades of each question's documents.

    A judgement of a missing document is an error: a corpus that was cut off while it was downloaded
    would otherwise give plausible figures.
    """
    judged: _Judgements = {}
    for line, query, document, grade in rows:
        for what, name, known in (("question", query, queries), ("document", document, documents)):
            if name not in known:
                raise line.wrong(
                    f"unknown {what} {name!r}",
                    f"{nearest(name, known)}download the set again: it is not complete",
                )
        judged.setdefault(query, {})[document] = grade
    return judged


def _task(
    name: str,
    split: Split,
    documents: Mapping[str, Document],
    facts: Mapping[str, Mapping[str, Any]],
    queries: Mapping[str, str],
    judged: _Judgements,
    source: Path,
) -> Task:
    questions: list[Question] = []
    counts: Counter[str] = Counter()
    for query, grades in judged.items():
        relevant = {document: grade for document, grade in grades.items() if grade > 0}
        if not relevant:
            counts["without a relevant document"] += 1
            continue
        best = max(relevant, key=lambda document: relevant[document])
        questions.append(Question(query, queries[query], best, (), relevant))
    need_questions(questions, split, source)
    return Task(
        name=name,
        split=split,
        documents=tuple(documents.values()),
        questions=tuple(questions),
        facts=facts,
        settings=("collection",),
        notes=tuple(
            f"left out: {counted(count, 'question')} {why}" for why, count in counts.items()
        ),
    )


def _file(folder: Path, stem: str) -> Path:
    """``STEM.jsonl``, or the gzipped one where only that is there."""
    plain, packed = folder / f"{stem}.jsonl", folder / f"{stem}.jsonl.gz"
    return packed if packed.is_file() and not plain.is_file() else plain
