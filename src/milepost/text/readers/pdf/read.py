"""Bytes of a PDF → a document: text in reading order, pages, headings, and boxes on demand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from milepost.errors import UnreadableFile
from milepost.text.readers.pdf.boxes import from_source, locator
from milepost.text.readers.pdf.file import open_pdf
from milepost.text.readers.pdf.furniture import mark_furniture
from milepost.text.readers.pdf.glyphs import PDFIUM
from milepost.text.readers.pdf.headings import find_headings, read_outline
from milepost.text.readers.pdf.join import Joined, join_pages
from milepost.text.readers.pdf.page import Page, load_page
from milepost.types import Document, Mark


def read_pdf(data: bytes, name: str, source: str | None) -> Document:
    """Read the bytes of a PDF.

    Args:
        data: the whole file.
        name: name of the document, used in messages.
        source: the file, read again when boxes are requested; if None, ``data`` is kept for that.

    Raises:
        UnreadableFile: empty, not a PDF, damaged, a password is needed, or no page has text.
    """
    digest = hashlib.sha256(data).hexdigest()
    pages: list[Page] = []
    broken: list[int] = []
    with PDFIUM, open_pdf(data, name) as document:
        count = len(document)
        for index in range(count):
            try:
                pages.append(load_page(document, index)[0])
            except ValueError:
                broken.append(index + 1)
        outline = read_outline(document)
    empty = [page.number for page in pages if not page.frame.lines]
    if len(empty) == len(pages):
        raise UnreadableFile(
            f"{name} has no text on any page (scanned?)", "run OCR first, e.g. ocrmypdf IN OUT"
        )
    mark_furniture(pages)
    for page in pages:
        page.arrange()
    joined = join_pages(pages, find_headings(pages, outline))
    notes = [
        *([f"{_pages(empty)} no text (scanned?)"] if empty else []),
        *([f"{_pages(broken)} no readable text (damaged)"] if broken else []),
    ]
    stored = data if source is None else None
    read = from_source(source) if source is not None else lambda: stored or b""
    return Document(
        name=name,
        text="".join(joined.parts),
        marks=_marks(joined),
        source=source,
        hash=digest,
        notes=tuple(notes),
        blocks=tuple(joined.blocks),
        locator=locator(joined.printed, name, digest, read),
    )


def _marks(joined: Joined) -> tuple[Mark, ...]:
    marks = [Mark(offset, "page", str(page)) for page, offset in joined.pages]
    marks += [Mark(at, "heading", head.title, head.level) for at, head in joined.headings]
    return tuple(sorted(marks, key=lambda mark: (mark.offset, mark.kind == "heading")))


def _pages(numbers: Sequence[int]) -> str:
    """Name pages in runs, with the verb: ``page 3 has``, ``pages 3-4, 7 have``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"page {named} has" if len(numbers) == 1 else f"pages {named} have"
