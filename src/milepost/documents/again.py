"""Find page boxes of a stored document; its file is opened when they are requested."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from milepost.documents.readers.formats import SUFFIXES
from milepost.documents.readers.pdf import line_boxes
from milepost.errors import InputError
from milepost.objects import ObjectAddress, download, is_address
from milepost.types import Box, Document, ReadOptions


def locator(document: Document, options: ReadOptions) -> Callable[[int, int], list[Box]] | None:
    """Make the ``Document.locator`` of a stored document; None if it has no page boxes.

    The locator reads the pages of a span from the PDF, with the options of the index. For documents
    with recognised pages, it returns the stored boxes. It raises InputError if the file is missing
    or has changed since it was indexed.
    """
    source = document.source
    lines = line_boxes.locator(document.text, document.marks)
    if source is None:
        return lines
    has_pages = any(mark.kind == "page" for mark in document.marks)  # a dynamic form has none
    # With another suffix, what has pages was known as a PDF by its first bytes.
    kind = SUFFIXES.get(Path(source).suffix.lower(), "pdf")
    if lines is None and not (has_pages and kind == "pdf"):
        return None

    def boxes(start: int, end: int) -> list[Box]:
        from milepost.documents.readers.pdf.boxes import boxes_of_span

        data = stored_bytes(document)
        if lines is not None:
            return lines(start, end)
        return boxes_of_span(document, data, options.hidden == "keep", start, end)

    return boxes


def stored_bytes(document: Document) -> bytes:
    """Read the file of a stored document, if it is still the one that was indexed."""
    source = document.source
    if source is None:
        raise InputError(f"{document.name} has no file", "index the file itself")
    hint = f"milepost index {source}"
    try:
        is_object = is_address(source)
        data = download(ObjectAddress.parse(source)) if is_object else Path(source).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{source} no longer exists", hint) from error
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise InputError(f"{source} cannot be read: {reason}", "check the path") from error
    if hashlib.sha256(data).hexdigest() != document.hash:
        raise InputError(f"{source} has changed since it was read", hint)
    return data
