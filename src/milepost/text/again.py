"""Page boxes of a stored document: its file is opened when boxes are requested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from milepost.errors import InputError
from milepost.text.readers import SUFFIXES, read_file
from milepost.types import Box, Document, ReadOptions


def locator(document: Document, options: ReadOptions) -> Callable[[int, int], list[Box]] | None:
    """Make the ``Document.locator`` of a document that was stored; None if it is not a PDF file.

    The file is read with the options with which it was indexed.

    The callable raises InputError if the file is missing or has changed since it was indexed.
    """
    source = document.source
    if source is None or SUFFIXES.get(Path(source).suffix.lower()) != "pdf":
        return None

    def boxes(start: int, end: int) -> list[Box]:
        hint = f"milepost index {source}"
        if not Path(source).is_file():
            raise InputError(
                f"{source} does not exist any more, so its page boxes are unknown", hint
            )
        fresh = read_file(Path(source), options)
        if fresh.hash != document.hash:
            raise InputError(f"{source} has changed since it was indexed", hint)
        return fresh.boxes(start, end)

    return boxes
