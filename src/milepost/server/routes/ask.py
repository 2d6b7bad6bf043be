"""``/ask``: an answer of a language model from passages, streamed, its citations checked."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import anyio
from anyio import from_thread
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from milepost.answers import Answer, Citation, Piece, Thinking, answer
from milepost.chat import Endpoint
from milepost.errors import MilepostError
from milepost.exports.records import answer_record, shared_record
from milepost.search import SearchResult
from milepost.server.documents.library import Library
from milepost.server.failures import Failure, HttpError, message_of, shown
from milepost.server.routes.search import Question, found, searched
from milepost.server.state import FOLLOWED, ServerState, State
from milepost.types import Passage
from milepost.verdicts import CheckResult

log = logging.getLogger("milepost.server")

router = APIRouter(tags=["answers"], dependencies=[FOLLOWED])

_AT_ONCE = 8
"""Answers that are written at the same time; each holds a thread while it waits for words."""

_writers = anyio.CapacityLimiter(_AT_ONCE)


@router.post(
    "/ask",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Events until ``answer``."},
        409: {
            "model": Failure,
            "description": "The server was started without a language model.",
        },
    },
)
async def ask(request: Request, state: ServerState, asked: Question) -> StreamingResponse:
    """Let the server's language model answer from passages, and check its citations.

    Server-sent events: ``passages`` (as ``/search`` gives them; [1] in the text is the first),
    ``thinking`` (what a model thinks first; with ``restart`` the text until now was thought, too),
    ``text`` (piece by piece), ``citation`` (a sentence, the number it cites, and the verdict:
    verbatim, near, supported, contradicted, related, unsupported, unquoted, misquoted, missing;
    ``support`` is what supports it, with the probability), then ``answer`` (the whole) or
    ``error``.
    """
    remote = state.settings.language_model
    if remote is None:
        raise HttpError(
            409,
            "no language model is set, so no answer can be written",
            "milepost serve --endpoint http://localhost:11434/v1 --model-name NAME",
        )
    passages, listed = await searched(request, state, asked, _passages)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        _events(state, asked.question, passages, listed, remote.another()),
        media_type="text/event-stream",
        headers=headers,
    )


def _passages(
    state: State, result: SearchResult
) -> tuple[tuple[Passage, ...], list[dict[str, Any]]]:
    return result.passages, [each.model_dump() for each in found(state.library, result.passages)]


async def _events(
    state: State,
    question: str,
    passages: tuple[Passage, ...],
    listed: list[dict[str, Any]],
    remote: Endpoint,
) -> AsyncIterator[str]:
    yield _written("passages", {"passages": listed})
    if not passages:
        yield _written("answer", answer_record(Answer("", (), ())))
        return

    def check(text: str, documents: Sequence[str], **options: Any) -> CheckResult:
        work = partial(state.library.index.check, text, documents, **options)
        return from_thread.run(partial(state.searching, work, patient=True))

    written = answer(question, passages, remote, check)
    try:
        # A client that leaves cancels this; the thread may wait for a word and is not waited for.
        following = partial(next, written, None)
        while event := await run_sync(following, limiter=_writers, abandon_on_cancel=True):
            yield await run_sync(_event, event, state.library)
    except MilepostError as error:
        yield _error(state, message_of(error))
    except Exception:
        # The status has been sent; without an event the answer would only break off.
        log.exception("an answer failed")
        yield _error(state, "the server failed on this answer; its log has the reason")
    finally:
        remote.cut()


def _error(state: State, message: str) -> str:
    return _written("error", {"message": shown(state.library.without_path(message))})


def _event(event: Thinking | Piece | Citation | Answer, library: Library) -> str:
    if isinstance(event, Thinking):
        return _written("thinking", {"text": event.text, "restart": event.restart})
    if isinstance(event, Piece):
        return _written("text", {"text": event.text})
    if isinstance(event, Citation):
        record = asdict(event)
        if (support := event.support) is not None:
            record["support"] = shared_record(support, library.shown_names([support.document]))
        return _written("citation", record)
    return _written("answer", answer_record(event))


def _written(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
