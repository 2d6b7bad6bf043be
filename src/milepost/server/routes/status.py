"""``/health``, ``/ready``, ``/indexing`` and ``/metrics``."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

import milepost
from milepost.documents import SUFFIXES
from milepost.documents.folders import skipped
from milepost.documents.recognition import check_installed
from milepost.errors import MissingExtra
from milepost.index.naming import document_id
from milepost.server.documents.library import Library
from milepost.server.failures import shown
from milepost.server.state import ServerState, State
from milepost.wording import without_options

router = APIRouter(tags=["status"])


class Health(BaseModel):
    """That the server answers."""

    status: str = "ok"
    version: str


class Ready(BaseModel):
    """What the server can answer from."""

    model: str
    documents: int
    sentences: int
    read_only: bool
    calibrated: bool = Field(description="Whether scores are probabilities, or only order.")
    language_model: str | None = Field(
        description="Name of what writes answers; null where nothing does."
    )
    suffixes: list[str] = Field(
        description="Endings of files with a reader of their own; others are read as text."
    )
    max_upload: int = Field(description="Bytes that an uploaded file may have.")
    binary: list[str] = Field(description="Endings of files that cannot be uploaded.")


class Current(BaseModel):
    """The document that is read now."""

    id: str
    name: str
    number: int = Field(description="Its number among those given together, from 1.")
    documents: int
    sentences: int
    done: int


class Reason(BaseModel):
    """A file, and what is said of it."""

    id: str
    name: str
    reason: str


class Failure(Reason):
    """A file that could not be read."""

    remedy: str | None = Field(
        description="With what ``POST /documents/ID/reading`` could read it: password or ocr."
    )


class Indexing(BaseModel):
    """How far indexing is."""

    idle: bool
    current: Current | None
    waiting: int = Field(description="Pieces of work that wait.")
    indexed: int = Field(description="Documents added or changed since the start.")
    failed: list[Failure]
    notes: list[Reason]


@router.get("/health")
async def health() -> Health:
    """Whether the server runs."""
    return Health(version=milepost.__version__)


@router.get("/ready")
async def ready(state: ServerState) -> Ready:
    """What the server answers from; requests that come before the model is loaded wait."""
    counted = await run_in_threadpool(state.library.statistics)
    remote = state.settings.language_model
    binary = skipped(pictures=state.library.pictures)
    return Ready(
        model=state.encoder.manifest.name,
        documents=counted.documents,
        sentences=counted.sentences,
        read_only=state.settings.read_only,
        calibrated=state.library.index.calibrated,
        language_model=None if remote is None else remote.model,
        suffixes=sorted(suffix for suffix in SUFFIXES if suffix[1:] not in binary),
        max_upload=state.settings.max_upload,
        binary=sorted(f".{suffix}" for suffix in binary),
    )


@router.get("/indexing")
async def indexing(state: ServerState) -> Indexing:
    """What is being indexed, what waits, and what could not be read."""
    progress = state.indexer.progress()
    step = progress.step
    return Indexing(
        idle=progress.idle,
        current=Current(
            id=document_id(step.name),
            name=state.library.short(step.name),
            number=step.number,
            documents=step.documents,
            sentences=step.sentences,
            done=step.done,
        )
        if step is not None
        else None,
        waiting=progress.waiting,
        indexed=progress.indexed,
        failed=[
            _failure(state, name, why, progress.remedies.get(name)) for name, why in progress.failed
        ],
        notes=[_reason(state.library, name, without_options(why)) for name, why in progress.notes],
    )


@router.get("/metrics", response_class=Response)
async def metrics(state: ServerState) -> Response:
    """Figures for Prometheus."""
    counted = await run_in_threadpool(state.library.statistics)
    state.metrics.documents.set(counted.documents)
    state.metrics.sentences.set(counted.sentences)
    state.metrics.waiting.set(state.indexer.progress().waiting)
    state.metrics.paused.set(state.governor.paused)
    return Response(state.metrics.text(), media_type="text/plain; version=0.0.4")


def _failure(state: State, name: str, why: str, remedy: str | None) -> Failure:
    if remedy == "ocr":
        try:
            check_installed()
        except MissingExtra as error:
            remedy, why = None, f"{why.partition('; try: ')[0]}; try: {error.hint}"
    if state.settings.read_only:
        remedy = None
    if remedy is None:  # else the page has a field for it
        why = without_options(why)
    return Failure(**_reason(state.library, name, why).model_dump(), remedy=remedy)


def _reason(library: Library, name: str, why: str) -> Reason:
    """A reason without the path of the server's disk."""
    short = library.short(name)
    reason = shown(library.without_path(why.replace(name, short)))
    return Reason(id=document_id(name), name=short, reason=reason)
