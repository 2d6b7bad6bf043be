"""``/``: the page for people."""

from __future__ import annotations

from fastapi import APIRouter, Response

from milepost.server.page_files import page_file

router = APIRouter(include_in_schema=False)


@router.get("/")
async def index() -> Response:
    """The page."""
    return page_file("index.html")


@router.get("/page/{name}")
async def part(name: str) -> Response:
    """A file that the page needs."""
    return page_file(name)
