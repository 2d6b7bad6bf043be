"""Ask each question of each document, or of all together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

from milepost import __version__
from milepost.index import Index
from milepost.search import Query
from milepost.store import DocumentInfo

Per = Literal["document", "collection"]
"""A row for each document and question, or for each question."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question, and the best passage that answers it.

    ``text`` is ``document_text[start:end]``, offsets in code points; ``document``, its name, is its
    path for a file. All but the question, and ``document`` where it was asked of one, are None
    where nothing is found.

    Attributes:
        score: the probability that the passage holds evidence, 0–1.
        place: where it is, in words: ``page 4``, ``sheet Costs, row 12``.
        page: from 1, where the format has pages.
        heading: the nearest heading before it.
    """

    document: str | None
    question: str
    score: float | None = None
    text: str | None = None
    place: str | None = None
    page: int | None = None
    heading: str | None = None
    start: int | None = None
    end: int | None = None


COLUMNS = tuple(field.name for field in fields(Row))


@dataclass(frozen=True, slots=True)
class TableJob:
    """A row that is to be made of one document, or None for all.

    Its key differs where the row may differ: another text, question, model, version or limit.
    """

    key: str
    document: str | None
    query: Query


def plan_rows(
    index: Index,
    questions: Iterable[str],
    documents: Sequence[DocumentInfo],
    *,
    per: Per,
    min_score: float,
    rerank: bool,
) -> list[TableJob]:
    """The rows of a table in their order, documents first; each question is encoded once."""
    queries = [
        Query.parse(question, index.model, k=1, min_score=min_score, rerank=rerank)
        for question in questions
    ]
    settings = [__version__, index.model.fingerprint, per, repr(min_score), repr(rerank)]
    jobs: list[TableJob] = []
    for among in [documents] if per == "collection" else [[info] for info in documents]:
        name = None if per == "collection" else among[0].name
        chosen = frozenset(info.name for info in among)
        parts = [part for info in among for part in (info.name, info.hash, info.options)]
        jobs += (
            TableJob(_key(*settings, query.text, *parts), name, replace(query, documents=chosen))
            for query in queries
        )
    return jobs


def ask(index: Index, asked: TableJob) -> Row:
    """Search for what answers a question best."""
    names = asked.query.documents or ()
    found = index.search_detailed(asked.query, documents=names).passages if names else ()
    if not found:
        return Row(asked.document, asked.query.text)
    best = found[0]
    return Row(
        document=best.document,
        question=asked.query.text,
        score=round(best.score, 4),
        text=best.text,
        place=best.place,
        page=best.page,
        heading=best.heading,
        start=best.start,
        end=best.end,
    )


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
