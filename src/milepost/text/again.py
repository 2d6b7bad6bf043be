"""Boxes of a document that comes from an index: its file is read again when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from milepost.errors import InputError
from milepost.text.readers import SUFFIXES, read
from milepost.types import Box, Document


def locator(document: Document) -> Callable[[int, int], list[Box]] | None:
    """What ``Document.locator`` is for a stored document; None where it is no PDF file.

    The callable raises InputError where the file is gone or is not the one that was indexed.
    """
    source = document.source
    if source is None or SUFFIXES.get(Path(source).suffix.lower()) != "pdf":
        return None

    def boxes(start: int, end: int) -> list[Box]:
        hint = f"index it again: milepost index {source}"
        if not Path(source).is_file():
            raise InputError(f"{source} is gone, so its pages cannot be shown", hint)
        fresh = read(Path(source))
        if fresh.hash != document.hash:
            raise InputError(f"{source} has changed since it was indexed", hint)
        return fresh.boxes(start, end)

    return boxes
