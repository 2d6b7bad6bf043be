"""Bytes of a PDF → a document: text in reading order, pages, headings, and boxes on demand."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pypdfium2.raw as pdfium

from milepost.documents import recognition
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.pdf import line_boxes, scans
from milepost.documents.readers.pdf.boxes import boxes_of_lines, boxes_of_span
from milepost.documents.readers.pdf.file import open_pdf, read_labels, read_properties
from milepost.documents.readers.pdf.furniture import mark_furniture
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.documents.readers.pdf.headings import Outline, find_headings, read_outline
from milepost.documents.readers.pdf.hidden import hidden_marks, hidden_note
from milepost.documents.readers.pdf.join import Joined, join_pages
from milepost.documents.readers.pdf.page import Page, body_size, load_page, named
from milepost.documents.readers.pdf.picture import MOSTLY
from milepost.documents.readers.pdf.xfa import read_form
from milepost.errors import UnreadableFile
from milepost.types import READ_DEFAULTS, Box, Document, Mark, OnPage, ReadOptions
from milepost.wording import counted


class _Loaded:
    def __init__(self, data: bytes, name: str, *, keep_hidden: bool) -> None:
        self.pages: dict[int, Page] = {}
        self.scanned: list[int] = []
        self.broken: list[int] = []
        self.hidden: list[int] = []  # pages with hidden text
        self.hidden_counts: Counter[int] = Counter()  # its characters by what hides them
        self.unknown: dict[int, int] = {}  # page → characters without a code point
        with PDFIUM, open_pdf(data, name) as document:
            for index in range(len(document)):
                try:
                    page, glyphs = load_page(document, index, keep_hidden=keep_hidden)
                except ValueError:
                    self.broken.append(index + 1)
                    continue
                self.pages[page.number] = page
                if glyphs.hidden.any():
                    self.hidden.append(page.number)
                    self.hidden_counts.update(glyphs.hidden[glyphs.hidden > 0].tolist())
                if glyphs.unknown:
                    self.unknown[page.number] = glyphs.unknown
                if page.pictures >= MOSTLY:
                    self.scanned.append(page.number)
            self.is_xfa = document.get_formtype() == pdfium.FORMTYPE_XFA_FULL
            self.form = TextBuilder()
            if self.is_xfa:
                with suppress(UnreadableFile, RecursionError):
                    read_form(document, name, self.form)
            self.outline = read_outline(document)
            self.labels = read_labels(document)
            self.properties = read_properties(document)


def read_pdf(
    data: bytes,
    name: str,
    source: str | None,
    options: ReadOptions = READ_DEFAULTS,
    on_page: OnPage | None = None,
) -> Document:
    """Read the bytes of a PDF.

    ``source`` is read again when boxes are requested; if it is None, ``data`` is kept for that.

    Raises:
        UnreadableFile: empty, not a PDF, damaged, a password is needed, or no page has text.
        MissingExtra: a page is to be read from its picture, and the extra ``ocr`` is not installed.
    """
    keep_hidden = options.hidden == "keep"
    loaded = _Loaded(data, name, keep_hidden=keep_hidden)
    if loaded.form.length:
        notes = ("the form (XFA) was read without its pages",)
        return loaded.form.document(name, source, notes, loaded.properties)
    pages = loaded.pages
    pictures = {"never": [], "auto": loaded.scanned, "always": list(pages)}[options.ocr]
    for done, number in enumerate(pictures):
        if on_page is not None:
            on_page(done, len(pictures))
        pages[number] = scans.recognised(data, name, number)
    if not any(page.frame.lines for page in pages.values()):
        raise _no_text(name, loaded, pictures)
    joined = assembled(list(pages.values()), loaded.outline)
    boxes: list[tuple[int, Box]] = []
    if pictures:
        with PDFIUM, open_pdf(data, name) as pdf:
            boxes = boxes_of_lines(
                joined.printed, list(pages.values()), pdf, keep_hidden=keep_hidden
            )
    said = tuple(_notes(loaded, pictures, kept=keep_hidden))
    hidden = hidden_marks(joined.printed, pages)
    document = replace(
        written(joined, name, source, said, boxes, hidden, loaded.labels),
        hash=hashlib.sha256(data).hexdigest(),
        properties=loaded.properties,
    )
    if boxes:
        return document
    kept = data if source is None else None
    return replace(document, locator=partial(boxes_of_span, document, kept, keep_hidden))


def assembled(pages: list[Page], outline: Outline) -> Joined:
    """Drop running heads, order the lines of each page, and join the pages."""
    size = body_size(pages)
    mark_furniture(pages, size)
    for page in pages:
        page.arrange()
    return join_pages(pages, find_headings(pages, outline, size), size)


def written(
    joined: Joined,
    name: str,
    source: str | None,
    notes: tuple[str, ...],
    boxes: Iterable[tuple[int, Box]],
    hidden: Iterable[Mark],
    labels: Mapping[int, str],
) -> Document:
    """Write joined pages as a document; ``boxes`` are those of its lines, if they are kept."""
    marks = [*hidden]
    for page, offset in joined.pages:
        marks.append(Mark(offset, "page", str(page)))
        if page in labels:
            marks.append(Mark(offset, "label", labels[page]))
    marks += joined.tables
    marks += [Mark(at, "heading", head.title, head.level) for at, head in joined.headings]
    marks += [line_boxes.line_mark(offset, box) for offset, box in boxes]
    marks.sort(key=lambda mark: mark.offset)
    text, blocks = "".join(joined.parts), tuple(joined.blocks)
    locate = line_boxes.locator(text, marks)
    return Document(name, text, tuple(marks), source, notes=notes, blocks=blocks, locator=locate)


def _no_text(name: str, loaded: _Loaded, pictures: Sequence[int]) -> UnreadableFile:
    if pictures:
        return UnreadableFile(f"{name}: no text was recognised on any page", "a sharper scan")
    if loaded.scanned:
        count = len(loaded.scanned)
        return UnreadableFile(
            f"{name} has no text: {counted(count, 'scanned page')}",
            f"--ocr auto (about {recognition.cost(len(loaded.scanned))}), or ocrmypdf IN OUT",
            "ocr",
        )
    if loaded.hidden:
        return UnreadableFile(f"{name} has only hidden text", "--hidden keep")
    return UnreadableFile(f"{name} has no text on any page", "--ocr always, if it shows text")


def _notes(loaded: _Loaded, pictures: Sequence[int], *, kept: bool) -> Iterable[str]:
    if loaded.is_xfa:
        yield "the form (XFA) is not read; print it to a PDF with a program that shows it"
    if pictures:
        yield f"{named(pictures)} text recognised from a picture"
    elif loaded.scanned:
        cost = recognition.cost(len(loaded.scanned))
        yield f"{named(loaded.scanned)} hardly any text (scanned?); --ocr auto takes about {cost}"
    passed = {*pictures, *loaded.scanned, *loaded.hidden}
    empty = [
        number
        for number, page in loaded.pages.items()
        if not page.frame.lines and number not in passed
    ]
    if empty:
        yield f"{named(empty)} no text"
    if loaded.broken:
        yield f"{named(loaded.broken)} no readable text (damaged)"
    if loaded.hidden:
        yield f"{named(loaded.hidden)} {hidden_note(loaded.hidden_counts, kept=kept)}"
    if unknown := {page: count for page, count in loaded.unknown.items() if page not in pictures}:
        signs = counted(sum(unknown.values()), "character")
        what = f"{named([*unknown])} {signs} without a code to Unicode, left out or maybe wrong"
        yield f"{what}; --ocr always reads them from the picture"
