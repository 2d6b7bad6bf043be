"""The application: parts, routes and guards put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import anyio
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

import milepost
from milepost.documents.isolated import Isolated
from milepost.documents.reader_process import read_plain, reading_seconds
from milepost.encoder.reranker import preload, preload_judge
from milepost.index import Index
from milepost.index.intake import Known
from milepost.server.agent_tools import AgentTools
from milepost.server.batching import Batcher
from milepost.server.documents.indexing import Indexer
from milepost.server.documents.library import Library
from milepost.server.failures import Failure, add_handlers
from milepost.server.govern import Governor
from milepost.server.guard import Guard
from milepost.server.metrics import Measured, Metrics
from milepost.server.page_files import page_file
from milepost.server.prefix import Heads
from milepost.server.routes import ask, check, documents, embeddings, pages, search, status
from milepost.server.settings import ServeSettings
from milepost.server.state import KNOWN, State
from milepost.types import Document, ReadOptions


def create_app(
    index: Index,
    settings: ServeSettings | None = None,
    *,
    uploads: Path,
    sources: Sequence[Path] = (),
    known: Known | None = None,
) -> FastAPI:
    """The server of an index, an ASGI application; the caller closes the index when it has ended.

    Uploaded files are kept in a folder, and found again at the next start. With ``sources``, files
    and folders, the index is brought up to date in the background; ``known`` is as in
    ``Index.add``.
    """
    settings = settings or ServeSettings()
    metrics = Metrics()
    app = FastAPI(
        title="Milepost",
        description="Finds the exact sentences that answer a question. A request may have 1 MiB, "
        "one for embeddings 16 MiB, an upload what `GET /ready` says.",
        version=milepost.__version__,
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        responses={"default": {"model": Failure}},
        redirect_slashes=False,  # ``Guard`` takes a slash off: behind TLS a redirect may leave it
        lifespan=_lifespan,
    )
    state = app.state.milepost = _state(index, settings, metrics, uploads, sources, known)
    for routes in (search, ask, check, documents, pages):
        app.include_router(routes.router, dependencies=[KNOWN])
    for routes in (embeddings, status):  # OpenAI's clients and probes add parameters of their own
        app.include_router(routes.router)
    app.add_api_route("/", partial(page_file, "index.html"), include_in_schema=False)
    app.add_api_route("/page/{name}", page_file, include_in_schema=False)
    if find_spec("mcp") is not None:
        app.state.tools = AgentTools(state)
        app.router.routes.append(Route("/mcp", app.state.tools))
    add_handlers(app)
    app.add_middleware(Guard, settings=settings)
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.allowed_origins),
            allow_methods=["GET", "HEAD", "POST", "DELETE"],
            # Clients of OpenAI and MCP send a dozen of their own, and more with each version.
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id", "Retry-After", "WWW-Authenticate"],
        )
    app.add_middleware(Measured, metrics=metrics)
    app.add_middleware(Heads)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: State = app.state.milepost
    tasks = [asyncio.create_task(state.batcher.run())]
    if hasattr(app.state, "tools"):
        tasks.append(asyncio.create_task(app.state.tools.run()))
    state.indexer.start()
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(state.indexer.stop)
        state.pages.close()


def _state(
    index: Index,
    settings: ServeSettings,
    metrics: Metrics,
    uploads: Path,
    sources: Sequence[Path],
    known: Known | None,
) -> State:
    governor = Governor(active=settings.govern)
    reader = Isolated()
    library = Library(index, uploads, sources, pictures=settings.ocr not in (None, "never"))

    def read(path: Path, options: ReadOptions, password: str | None = None) -> Document:
        seconds = reading_seconds(options, locked=password is not None)
        return reader.call_within(seconds, read_plain, path, options, password)

    indexer = Indexer(index, read, governor.bulk(), end=reader.close, ocr=settings.ocr, known=known)
    encoder = index.model
    preload(encoder)
    preload_judge(encoder)
    folders = list(sources)  # whoever started the server names these: they are read in any case
    if not settings.read_only:
        library.sweep()
        folders += [library.uploads] if library.uploads.is_dir() else []
    if folders:
        indexer.add(folders, prune=True)
    return State(
        settings=settings,
        library=library,
        encoder=encoder,
        batcher=Batcher(encoder, observe=metrics.run.observe, between=governor.bulk()),
        indexer=indexer,
        pages=Isolated(seconds=60.0),
        metrics=metrics,
        governor=governor,
        searches=anyio.CapacityLimiter(settings.search_threads),
    )
