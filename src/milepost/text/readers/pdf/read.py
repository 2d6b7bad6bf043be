"""Bytes of a PDF → a document: text in reading order, pages, headings, and boxes on demand."""

from __future__ import annotations

import hashlib

from milepost.errors import UnreadableFile
from milepost.text.readers.pdf.boxes import from_source, locator
from milepost.text.readers.pdf.file import open_pdf
from milepost.text.readers.pdf.furniture import mark_furniture
from milepost.text.readers.pdf.glyphs import PDFIUM
from milepost.text.readers.pdf.headings import find_headings, read_outline
from milepost.text.readers.pdf.hidden import HiddenText
from milepost.text.readers.pdf.join import Joined, join_pages
from milepost.text.readers.pdf.page import Page, load_page, named
from milepost.types import READ_DEFAULTS, Document, Mark, ReadOptions


def read_pdf(
    data: bytes, name: str, source: str | None, options: ReadOptions = READ_DEFAULTS
) -> Document:
    """Read the bytes of a PDF.

    Args:
        data: the whole file.
        name: name of the document, used in messages.
        source: the file, read again when boxes are requested; if None, ``data`` is kept for that.
        options: whether hidden text is kept.

    Raises:
        UnreadableFile: empty, not a PDF, damaged, a password is needed, or no page has text.
    """
    digest = hashlib.sha256(data).hexdigest()
    pages: list[Page] = []
    broken: list[int] = []
    hidden = HiddenText()
    keep_hidden = options.hidden == "keep"
    with PDFIUM, open_pdf(data, name) as document:
        count = len(document)
        for index in range(count):
            try:
                page, glyphs = load_page(document, index, keep_hidden=keep_hidden)
                pages.append(page)
                hidden.count(page.number, glyphs.hidden)
            except ValueError:
                broken.append(index + 1)
        outline = read_outline(document)
    empty = [page.number for page in pages if not page.frame.lines]
    empty = [number for number in empty if number not in hidden.pages]
    if not any(page.frame.lines for page in pages):
        if hidden.pages:
            raise UnreadableFile(f"{name} has only hidden text", "--hidden keep")
        raise UnreadableFile(
            f"{name} has no text on any page (scanned?)", "run OCR first, e.g. ocrmypdf IN OUT"
        )
    mark_furniture(pages)
    for page in pages:
        page.arrange()
    joined = join_pages(pages, find_headings(pages, outline))
    notes = [
        *([f"{named(empty)} no text (scanned?)"] if empty else []),
        *([f"{named(broken)} no readable text (damaged)"] if broken else []),
        *([hidden.note(named(hidden.pages), kept=keep_hidden)] if hidden.pages else []),
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
        locator=locator(joined.printed, name, digest, read, keep_hidden=keep_hidden),
    )


def _marks(joined: Joined) -> tuple[Mark, ...]:
    marks = [Mark(offset, "page", str(page)) for page, offset in joined.pages]
    marks += [Mark(at, "heading", head.title, head.level) for at, head in joined.headings]
    return tuple(sorted(marks, key=lambda mark: (mark.offset, mark.kind == "heading")))
