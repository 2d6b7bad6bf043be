"""What ``serve`` and ``mcp`` share: the files and folders that they offer, and their index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.cli.sources import cached_index
from milepost.errors import UnreadableFile
from milepost.index.places import local_path

if TYPE_CHECKING:
    from milepost.cli.question import SearchOptions
    from milepost.index import Index
    from milepost.store.address import IndexPlace
    from milepost.types import Ocr


def local_sources(paths: Sequence[str]) -> list[Path]:
    """The files and folders that PATHs name.

    Raises:
        UnreadableFile: one does not exist.
        InputError: one is an address in object storage.
    """
    sources = [local_path(path) for path in paths]
    for source in sources:
        if not source.exists():
            raise UnreadableFile(f"{source} does not exist", "check the path")
    return sources


def check_recognition(ocr: Ocr | None) -> None:
    """Refuse ``--ocr`` without its extra, before anybody waits for a text."""
    if ocr not in (None, "never"):
        from milepost.documents.recognition import check_installed

        check_installed()


def served_index(
    options: SearchOptions, place: IndexPlace | None, *, create: bool, read_only: bool
) -> tuple[Index, Path]:
    """The index at a place, or that of the PATHs in the cache; and its folder."""
    from milepost.store.address import local_folder

    if place is None:
        return cached_index(options)
    return options.open_index(place, create=create, read_only=read_only), local_folder(place)
