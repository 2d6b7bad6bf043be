"""``/documents``: upload, list, read, locate and remove; FastAPI runs each in a thread."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Query, Response, UploadFile
from pydantic import BaseModel, Field, SecretStr

from milepost.documents import reader_process, recognition
from milepost.documents.sidecar import described
from milepost.errors import InputError, StorageFull, UnknownDocument
from milepost.filters import as_filter
from milepost.filters.tokens import MAX_LENGTH
from milepost.index import RemovalReport
from milepost.index.naming import document_id
from milepost.server.documents.library import notes_of, safe_name
from milepost.server.failures import FULL, HttpError
from milepost.server.routes.bodies import WHERE, RequestBody
from milepost.server.routes.pages import Offset, is_pdf
from milepost.server.routes.search import Reference, reference_of
from milepost.server.state import FOLLOWED, ServerState, State
from milepost.store import DocumentInfo
from milepost.types import Mark

router = APIRouter(prefix="/documents", tags=["documents"])

_LONGEST = 200_000  # characters of one answer with text
_MOST = 10_000  # sentences of one answer

_BLOCK = 1 << 20


class Summary(BaseModel):
    """A document in a list."""

    id: str
    name: str = Field(description="Its path below what the server was given.")
    characters: int
    sentences: int
    pdf: bool = Field(description="Whether its pages can be shown as pictures.")
    uploaded: bool = Field(description="Whether its file goes when the document is removed.")
    properties: dict[str, bool | int | float | str | list[str]] = Field(
        description="Title, author, date and what else is known, for `where`."
    )
    reference: Reference | None = Field(description="Author, title and date, for people.")
    pages: int | None = Field(description="Pages or slides; null where the format has none.")
    notes: list[str] = Field(description="What could not be read, or was left out.")


class Listing(BaseModel):
    """A part of the list of documents."""

    documents: list[Summary]
    cursor: str | None = Field(description="Give it to get the next part; null at the end.")


class Details(Summary):
    """A document with its pages and headings."""

    marks: list[Mark]


class Part(BaseModel):
    """A part of a document's text."""

    start: int
    end: int
    characters: int = Field(description="Length of the whole text.")
    text: str


class Sentences(BaseModel):
    """Sentences of a part of a document."""

    sentences: list[tuple[int, int]] = Field(
        description="Start and end of each, in order, without the white space around it."
    )


class Accepted(BaseModel):
    """An upload that is kept and will be indexed; see ``GET /indexing``."""

    id: str
    name: str
    size_bytes: int


class Reading(RequestBody):
    """How a file is read that could not be read."""

    password: SecretStr | None = Field(None, max_length=200, description="What opens a PDF.")
    ocr: bool | None = Field(False, description="Recognise the text of scanned pages.")


class Uploads(BaseModel):
    """What ``POST /documents`` gives."""

    documents: list[Accepted]


class Removal(BaseModel):
    """What was removed of a document."""

    characters: int
    sentences: int = Field(description="Each had a vector.")
    words: int = Field(description="Words in the index of words.")
    files: list[str] = Field(description="Names of copies beside the index: the upload.")
    remains: str = Field(description="What still holds bytes of it, and until when.")


@router.get("", dependencies=[FOLLOWED])
def documents(
    state: ServerState,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    where: Annotated[str | None, Query(max_length=MAX_LENGTH, description=WHERE)] = None,
) -> Listing:
    """The documents of the index, in the order they were added."""
    after, filter_ = _place(cursor), as_filter(where)
    infos = state.library.index.documents(where=filter_)
    left = [info for info in infos if info.id > after]
    page = left[:limit]
    more = len(left) > limit
    marks = _marks(state, page)
    return Listing(
        documents=[_summary(state, *each) for each in zip(page, marks, strict=True)],
        cursor=str(page[-1].id) if more else None,
    )


@router.post("", status_code=202)
def upload(
    state: ServerState, file: Annotated[list[UploadFile], File(description="Files to add.")]
) -> Uploads:
    """Keep files and add them to the index; one of the same name is replaced.

    The answer comes as soon as they are on the disk. Indexing goes on after it, and after a
    restart.
    """
    _may_write(state)
    names = [  # all, before one is kept
        safe_name(each.filename or "", pictures=state.library.pictures) for each in file
    ]
    for name, number in Counter(names).items():
        if number > 1:  # each would replace the one before
            raise InputError(f"{number} files are named {name}", "one in each request")
    with state.library.changing:
        kept = [_keep(state, name, each) for name, each in zip(names, file, strict=True)]
        state.indexer.add([path for path, _ in kept])
    return Uploads(
        documents=[
            Accepted(id=document_id(str(path)), name=path.name, size_bytes=size)
            for path, size in kept
        ]
    )


@router.post("/{identity}/reading", status_code=202)
def read_again(state: ServerState, identity: str, how: Reading) -> Response:
    """Read a file that could not be read once more, with its password or text recognition.

    The password serves this reading alone: it is not kept, and the file stays as it is.
    """
    _may_write(state)
    failed = {document_id(name): name for name, _ in state.indexer.progress().failed}
    if identity not in failed or not (path := Path(failed[identity])).is_file():
        raise UnknownDocument(f"no file that could not be read has the id {identity}")
    if how.ocr:
        recognition.check_installed()
    password = how.password.get_secret_value() if how.password else None
    if password is not None:
        state.pages.call(reader_process.check_password, path, password)
    state.indexer.add([path], ocr="auto" if how.ocr else None, password=password)
    return Response(status_code=202)


@router.get("/{identity}")
def document(state: ServerState, identity: str) -> Details:
    """One document with its pages and headings."""
    info = state.library.info(identity)
    (marks,) = _marks(state, [info])
    places = [mark for mark in marks if mark.kind != "line"]
    return Details(**_summary(state, info, marks).model_dump(), marks=places)


@router.delete("/{identity}")
def remove(
    state: ServerState,
    identity: str,
    now: Annotated[bool, Query(description="Leave no byte of it in the index.")] = False,
) -> Removal:
    """Remove a document, and its file where it was uploaded; other files stay.

    An upload that could not be read is removed by its id as well.
    """
    _may_write(state)
    with state.library.changing:
        try:
            info = state.library.info(identity)
        except UnknownDocument:
            name = state.library.discard(identity)
            report = RemovalReport(files=(name,))
            if (file := described(name)) is not None:  # without the properties that it had
                state.indexer.add([file])
        else:
            name = info.name
            report = state.library.remove([info], now=now)
        state.indexer.forget(name)
    return Removal(
        characters=report.characters,
        sentences=report.sentences,
        words=report.words,
        files=list(map(state.library.short, report.files)),
        remains=report.remains,
    )


@router.get("/{identity}/text")
def text(state: ServerState, identity: str, start: Offset = 0, end: Offset | None = None) -> Part:
    """A part of the text, at most 200,000 characters."""
    info = state.library.info(identity)
    last = min(info.characters, start + _LONGEST, info.characters if end is None else end)
    if not 0 <= start <= last:
        raise HttpError(422, f"start: {start} is behind the end", f"0 to {info.characters}")
    with state.library.index.snapshot() as store:
        (part,) = store.texts([(info, start, last)])
    return Part(start=start, end=last, characters=info.characters, text=part)


@router.get("/{identity}/sentences")
def sentences(state: ServerState, identity: str, start: Offset, end: Offset) -> Sentences:
    """The sentences that overlap a part of the text, at most 10,000."""
    info = state.library.info(identity)
    if not start <= end <= info.characters:
        raise HttpError(422, f"end: {end}", f"{start} to {info.characters}")
    return Sentences(sentences=state.library.sentences(info, start, end, _MOST))


def _keep(state: State, name: str, upload: UploadFile) -> tuple[Path, int]:
    part: Path | None = None
    size = 0
    try:
        part = state.library.part()
        with part.open("wb") as out:
            while block := upload.file.read(_BLOCK):
                size += out.write(block)
                if size > state.settings.max_upload:
                    raise HttpError(
                        413, f"{name} is larger than {state.settings.max_upload:,} bytes"
                    )
            out.flush()
            os.fsync(out.fileno())
        return state.library.keep(name, part), size
    except OSError as error:
        hint = "free some space" if error.errno in FULL else "a folder that can be written"
        raise StorageFull(f"{name} cannot be kept: {error.strerror}", hint) from error
    finally:
        if part is not None:  # nothing is left of it where it was kept
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _may_write(state: State) -> None:
    if state.settings.read_only:
        raise HttpError(403, "this server only reads", "milepost serve without --read-only")


def _marks(state: State, infos: Sequence[DocumentInfo]) -> list[tuple[Mark, ...]]:
    with state.library.index.snapshot() as store:
        return store.marks(infos)


def _summary(state: State, info: DocumentInfo, marks: Sequence[Mark]) -> Summary:
    pages = [int(mark.value) for mark in marks if mark.kind in ("page", "slide")]
    return Summary(
        id=document_id(info.name),
        name=state.library.shown_name(info),
        characters=info.characters,
        sentences=info.sentences,
        pdf=is_pdf(info),
        uploaded=state.library.is_upload(info),
        properties={
            key: list(value) if isinstance(value, tuple) else value
            for key, value in info.properties.items()
        },
        reference=reference_of(info),
        pages=max(pages, default=None),
        notes=notes_of(info),
    )


def _place(cursor: str | None) -> int:
    try:
        return -1 if cursor is None else int(cursor[:20])
    except ValueError:
        raise HttpError(422, "cursor: not one of this list", "leave it out to begin") from None
