"""Page boxes of a stored document: its file is opened when boxes are requested."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from milepost.errors import InputError
from milepost.text.readers import SUFFIXES, read_bytes
from milepost.text.readers.pdf import line_boxes
from milepost.types import Box, Document, ReadOptions


def locator(document: Document, options: ReadOptions) -> Callable[[int, int], list[Box]] | None:
    """Make the ``Document.locator`` of a document that was stored; None if it has no pages.

    The file of a PDF is opened and read as it was for the index. Where pages were read from
    pictures, the boxes are those that were stored.

    The callable raises InputError if the file is missing or has changed since it was indexed.
    """
    source = document.source
    lines = line_boxes.locator(document.text, document.marks)
    if source is None:
        return lines
    if lines is None and SUFFIXES.get(Path(source).suffix.lower()) != "pdf":
        return None

    def boxes(start: int, end: int) -> list[Box]:
        data = _unchanged(source, document)
        if lines is not None:
            return lines(start, end)
        return read_bytes(data, source, source, options).boxes(start, end)

    return boxes


def _unchanged(source: str, document: Document) -> bytes:
    """The bytes of the file, if they are those that were indexed."""
    hint = f"milepost index {source}"
    try:
        data = Path(source).read_bytes()
    except FileNotFoundError as error:
        raise InputError(
            f"{source} does not exist any more, so its page boxes are unknown", hint
        ) from error
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror}", hint) from error
    if hashlib.sha256(data).hexdigest() != document.hash:
        raise InputError(f"{source} has changed since it was indexed", hint)
    return data
