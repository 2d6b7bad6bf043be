"""``/search``: passages that answer a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from milepost.exports import references
from milepost.exports.records import shared_record
from milepost.filters import as_filter
from milepost.index.naming import document_id
from milepost.search import Limits, SearchResult
from milepost.search.heat import peaks, strip
from milepost.server.documents.library import Library
from milepost.server.routes.bodies import Documents, RequestBody, Where
from milepost.server.state import FOLLOWED, ServerState, State, while_connected
from milepost.store import DocumentInfo
from milepost.types import Passage, Table
from milepost.wording import nothing_reaches

router = APIRouter(tags=["search"], dependencies=[FOLLOWED])

T = TypeVar("T")


class Question(RequestBody):
    """A question, and which passages may answer it."""

    question: Annotated[str, Field(min_length=1, max_length=10_000)]
    k: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None, description="Maximum number of passages; 5, or with a budget as many as it holds."
    )
    budget: Annotated[str, Field(max_length=100)] | int | None = Field(
        None, description="Maximum length of all passages: 1600c characters, 400t tokens."
    )
    min_score: Annotated[float, Field(ge=0.0, le=1.0)] | None = Field(
        0.0,
        description="Least probability that anything answers; below, there are no passages. Those "
        "that are less probable are left out, but for the best.",
    )
    documents: Documents = None
    where: Where = None
    rerank: bool | None = Field(True, description="Use the model's reranker: better, and slower.")


class SearchRequest(Question):
    """A question, and what the answer is to hold."""

    heat: bool | None = Field(False, description="Add where in each document the matches are.")


class Hit(BaseModel):
    """A sentence of a passage."""

    text: str
    start: int
    end: int
    score: float = Field(description="Probability, 0 to 1, that it is evidence.")


class Best(Hit):
    """The sentence of a passage that answers best."""

    page: int | None


class Author(BaseModel):
    """A person, or an institution."""

    family: str
    given: str = Field(description="Empty for an institution.")


class Reference(BaseModel):
    """A work that a document is a copy of: what Zotero says of it, else the file itself."""

    title: str = Field(description="Empty where the file has none.")
    authors: list[Author]
    date: str | None = Field(description="YYYY, YYYY-MM or YYYY-MM-DD.")


class Found(BaseModel):
    """A passage: whole sentences of one document."""

    text: str
    document: str = Field(description="Name of the document.")
    id: str = Field(description="Id of the document.")
    start: int = Field(description="Offset in the document's text, in code points.")
    end: int
    score: float = Field(description="Probability, 0 to 1, that it holds evidence.")
    best: Best
    hits: list[Hit] = Field(description="Its sentences, best first.")
    page: int | None
    place: str | None = Field(description="Page, slide, sheet and row … in words.")
    heading: str | None
    lead_in: str | None = Field(
        description="Of the best sentence's list, or the question in front."
    )
    table: Table | None = Field(description="If the best sentence is in a table.")
    reference: Reference | None = Field(description="Author, title and date.")


class SearchAnswer(BaseModel):
    """What ``POST /search`` gives."""

    passages: list[Found] = Field(description="Best first.")
    best_score: float = Field(description="Probability of the best passage, returned or not.")
    answerable: float | None = Field(description="Probability that any passage answers.")
    calibrated: bool = Field(description="Whether scores are probabilities, or only order.")
    terms: dict[str, float] = Field(description="Words of the question: idf, 0 if not in the text.")
    notes: list[str]
    indexing: bool = Field(description="Whether files are still being read: ask again for all.")
    heat: dict[str, list[float]] | None = Field(
        None, description="Best score in each 64th of a document, by id."
    )
    peaks: dict[str, list[int]] | None = Field(
        None, description="With heat: an offset inside the best sentence of each 64th, by id."
    )


@router.post("/search")
async def search(request: Request, state: ServerState, asked: SearchRequest) -> SearchAnswer:
    """Find the passages that answer a question, best first."""
    return await searched(request, state, asked, partial(_answer, asked=asked))


def _answer(state: State, result: SearchResult, asked: SearchRequest) -> SearchAnswer:
    names = {passage.document for passage in result.passages}
    notes = state.library.notes(result.notes, names)
    if not result.passages and result.best_score > 0.0:
        notes.append(nothing_reaches(asked.min_score or 0.0, result.best_score, result.answerable))
    heat = highest = None
    if asked.heat:
        curves = result.relevance
        heat = {document_id(name): list(strip(curve)) for name, curve in curves.items()}
        highest = {
            document_id(info.name): list(peaks(curves[info.name], info.characters))
            for info in state.library.index.documents(names)
            if info.name in curves
        }
    return SearchAnswer(
        passages=found(state.library, result.passages),
        best_score=result.best_score,
        answerable=result.answerable,
        calibrated=result.calibrated,
        terms=result.terms,
        notes=notes,
        indexing=not state.indexer.progress().idle,
        heat=heat,
        peaks=highest,
    )


async def searched(
    request: Request, state: State, asked: Question, made: Callable[[State, SearchResult], T]
) -> T:
    """What ``made`` makes of a search, in its thread; given up when the client leaves."""
    min_score, rerank = asked.min_score or 0.0, asked.rerank is not False
    Limits.parse(asked.k, asked.budget, min_score)  # before it waits for its turn
    where = as_filter(asked.where)

    def work() -> T:
        result = state.library.index.search_detailed(
            asked.question,
            asked.k,
            asked.budget,
            state.library.chosen(asked.documents),
            rerank=rerank,
            min_score=min_score,
            where=where,
        )
        return made(state, result)

    return await while_connected(request, state.searching(work))


def found(library: Library, passages: Sequence[Passage]) -> list[Found]:
    """Passages as the API gives them."""
    names = {passage.document for passage in passages}
    shown = library.shown_names(names)
    known = {info.name: reference_of(info) for info in library.index.documents(names)}
    return [
        Found(**shared_record(passage, shown), reference=known.get(passage.document))
        for passage in passages
    ]


def reference_of(info: DocumentInfo) -> Reference | None:
    """The reference of a document; None where nothing but its name is known."""
    known = references.reference_of(info)
    if known is None:
        return None
    return Reference(
        title=known.title,
        authors=[Author(family=family, given=given) for family, given in known.authors],
        date=known.date,
    )
