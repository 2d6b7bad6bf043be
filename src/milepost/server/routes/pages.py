"""``/documents/ID/pages`` and ``/boxes``: the pages of PDFs, and where text is printed on them."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from milepost.documents import SUFFIXES, reader_process
from milepost.objects import is_address
from milepost.server.failures import HttpError
from milepost.server.state import ServerState, State
from milepost.store import DocumentInfo
from milepost.types import Box, ReadOptions

router = APIRouter(prefix="/documents", tags=["documents"])

Offset = Annotated[int, Query(ge=0, le=2**53)]  # an offset into a text, in code points


class Size(BaseModel):
    """Size of a page in points."""

    page: int
    width: float
    height: float


class Pages(BaseModel):
    """The pages of a PDF, those without text too."""

    pages: list[Size]


class Boxes(BaseModel):
    """Where a span is printed."""

    boxes: list[Box]
    pages: list[Size]


@dataclass(frozen=True, slots=True)
class Line(Box):
    """A printed line."""

    start: int
    end: int


class PageText(BaseModel):
    """The text of a page, and its lines in the order of the text."""

    start: int = Field(description="Offset in the document's text, in code points.")
    end: int
    text: str
    lines: list[Line]


@router.get("/{identity}/pages")
def pages(state: ServerState, identity: str) -> Pages:
    """The pages of a PDF and their sizes."""
    path = _pdf(state, state.library.info(identity))
    found = state.pages.call(reader_process.sizes, path)
    return Pages(pages=[Size(page=n, width=w, height=h) for n, (w, h) in enumerate(found, 1)])


@router.get("/{identity}/boxes")
def boxes(state: ServerState, identity: str, start: Offset, end: Offset) -> Boxes:
    """Where a span of a PDF is printed: one box for each line."""
    info = state.library.info(identity)
    if not start <= end <= info.characters:
        raise HttpError(422, f"end: {end}", f"{start} to {info.characters}")
    path = _pdf(state, info)
    plain = replace(state.library.index.document(info.name), locator=None)
    options = ReadOptions.parse(info.options)
    place = state.pages.call(reader_process.place, path, plain, options, start, end)
    return Boxes(
        boxes=list(place.boxes),
        pages=[Size(page=n, width=size[0], height=size[1]) for n, size in place.sizes.items()],
    )


@router.get("/{identity}/pages/{page}/lines")
def lines(state: ServerState, identity: str, page: int) -> PageText:
    """The text of a page of a PDF, and where each of its lines is printed."""
    info = state.library.info(identity)
    path = _pdf(state, info)
    (start, end), text, printed = state.library.page(info, page)
    if not text:  # a page without text, or none
        last = len(state.pages.call(reader_process.sizes, path))
        if not 1 <= page <= last:
            raise HttpError(
                404, f"{state.library.shown_name(info)} has no page {page}", f"1 to {last}"
            )
    if not printed and text:
        options = ReadOptions.parse(info.options)
        laid = state.pages.call(reader_process.lines_of_page, path, page, text, options)
        printed = [((start + low, start + high), box) for (low, high), box in laid]
    return PageText(
        start=start,
        end=end,
        text=text,
        lines=[Line(**asdict(box), start=low, end=high) for (low, high), box in printed],
    )


@router.get(
    "/{identity}/pages/{page}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
def picture(
    state: ServerState,
    identity: str,
    page: int,
    scale: Annotated[float, Query(ge=0.1, le=4.0)] = 1.5,
    version: Annotated[str, Query(description="For caches: another for a changed file.")] = "",
) -> Response:
    """A page of a PDF as a picture; ``scale`` is pixels a point."""
    path = _pdf(state, state.library.info(identity))
    png = state.pages.call(reader_process.picture, path, page, scale)
    return Response(png, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})


def is_pdf(info: DocumentInfo) -> bool:
    """Whether the pages of a document can be shown as pictures."""
    suffix = os.path.splitext(info.source or "")[1]  # noqa: PTH122 - a name, not a path
    kind = SUFFIXES.get(suffix.lower())
    return kind == "pdf" or (kind is None and _begins_as_pdf(info.source))


def _begins_as_pdf(source: str | None) -> bool:
    """Whether the reader of PDFs took a file without a suffix of its own."""
    if source is None or is_address(source):
        return False
    try:
        with Path(source).open("rb") as file:
            return b"%PDF-" in file.read(1024)
    except OSError:
        return False


def _pdf(state: State, info: DocumentInfo) -> Path:
    if not is_pdf(info):
        raise HttpError(
            422, f"{state.library.shown_name(info)} is not a PDF, so it has no pages", "…/text"
        )
    return state.library.file(info)
