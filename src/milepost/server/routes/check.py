"""``/check``: whether a quotation or claim is in the documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from milepost.exports.records import shared_record
from milepost.server.documents.library import Library
from milepost.server.routes.bodies import Documents, RequestBody, Where
from milepost.server.routes.search import Found, found
from milepost.server.state import FOLLOWED, ServerState, State, while_connected
from milepost.verdicts import CheckResult, Difference, Verdict

router = APIRouter(tags=["search"], dependencies=[FOLLOWED])


class CheckRequest(RequestBody):
    """What is looked for, and where."""

    text: Annotated[str, Field(min_length=1, max_length=50_000)] = Field(
        description="A sentence, a quotation or a claim."
    )
    documents: Documents = None
    where: Where = None
    min_score: Annotated[float, Field(ge=0.0, le=1.0)] | None = Field(
        0.5, description="Least probability of a passage about the text."
    )


class FoundPlace(BaseModel):
    """Where a document holds the text, word for word or nearly."""

    document: str
    id: str
    start: int
    end: int
    text: str
    page: int | None
    place: str | None
    heading: str | None
    similarity: float = Field(description="Share of the words that are there.")
    ignored: Sequence[str] = Field(description="What differs and counts as equal.")
    differences: Sequence[Difference]


class CheckAnswer(BaseModel):
    """What ``POST /check`` gives."""

    text: str = Field(description="What was checked, without quotation marks around it.")
    verdict: Verdict
    places: list[FoundPlace]
    passages: list[Found] = Field(description="Passages about it, most probable first.")
    best_score: float = Field(description="Probability of the best passage, returned or not.")
    notes: list[str]
    parts: list[CheckAnswer] = Field(
        description="The answer for each sentence of a text that is not there as a whole."
    )


@router.post("/check")
async def check(request: Request, state: ServerState, asked: CheckRequest) -> CheckAnswer:
    """Say whether a text is in the documents: verbatim, or how a sentence judges it."""
    return await while_connected(request, state.searching(lambda: _answer(state, asked)))


def _answer(state: State, asked: CheckRequest) -> CheckAnswer:
    library = state.library
    result = library.index.check(
        asked.text,
        library.chosen(asked.documents),
        min_score=0.5 if asked.min_score is None else asked.min_score,
        where=asked.where,
    )
    return _shown(library, result)


def _shown(library: Library, result: CheckResult) -> CheckAnswer:
    names = library.shown_names(each.document for each in result.places)
    documents = [*names, *(each.document for each in result.passages)]
    return CheckAnswer(
        text=result.text,
        verdict=result.verdict,
        places=[FoundPlace(**shared_record(place, names)) for place in result.places],
        passages=found(library, result.passages),
        best_score=result.best_score,
        notes=library.notes(result.notes, documents),
        parts=[_shown(library, part) for part in result.parts],
    )
