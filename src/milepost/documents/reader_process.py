"""What the reader's process does: read a file, find boxes, draw a page.

Its functions are called through ``Isolated``, so that PDFium runs in no thread of the server.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from milepost.documents import locator, read_file, recognition
from milepost.documents.readers.formats import read_bytes
from milepost.documents.sidecar import sidecar, with_sidecar
from milepost.errors import InputError, MissingExtra, UnreadableFile
from milepost.types import Box, Document, ReadOptions, Span

LONGEST_SIDE = 4000
"""Pixels of a picture's longer side; a page of a poster is drawn smaller than asked."""


def reading_seconds(options: ReadOptions, *, locked: bool = False) -> float:
    """Seconds that a file may take to be read: recognising text takes some for each page."""
    return 600.0 if options.ocr == "never" and not locked else 4 * 3600.0


@dataclass(frozen=True, slots=True)
class Place:
    """Boxes of a span, one a line of print, and width and height in points of their pages."""

    boxes: tuple[Box, ...]
    sizes: dict[int, tuple[float, float]]


def read_plain(path: Path, options: ReadOptions, password: str | None = None) -> Document:
    """``milepost.read`` without what cannot be sent to another process.

    ``password`` opens a PDF that does not open without one.
    """
    if password is None:
        document = read_file(path, options)
    else:
        document = _read_locked(path, options, password)
    return replace(document, locator=None)


def check_password(path: Path, password: str) -> None:
    """Refuse a password that does not open a PDF."""
    import pypdfium2

    try:
        pypdfium2.PdfDocument(path, password=password).close()
    except pypdfium2.PdfiumError:
        problem = f"{path.name} does not open with this password"
        raise UnreadableFile(problem, "another password", "password") from None


def _read_locked(path: Path, options: ReadOptions, password: str) -> Document:
    """Read a PDF with its password, its text recognised if it is a scan.

    What it protects is in memory alone, so that it could not be asked for in a second step.
    """
    import pypdfium2
    from pypdfium2.raw import FPDF_REMOVE_SECURITY

    check_password(path, password)
    opened = BytesIO()
    with pypdfium2.PdfDocument(path, password=password) as pdf:
        pdf.save(opened, flags=FPDF_REMOVE_SECURITY)
    try:
        document = read_bytes(opened.getvalue(), str(path), str(path), options)
    except UnreadableFile as error:
        if error.remedy != "ocr":
            raise
        try:
            recognition.check_installed()
        except MissingExtra:
            raise error from None
        scan = options.changed(ocr="auto")
        document = read_bytes(opened.getvalue(), str(path), str(path), scan)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return with_sidecar(replace(document, hash=digest), str(path))


def read_inside(path: Path, options: ReadOptions, roots: tuple[Path, ...]) -> Document:
    """``read_plain`` of a file in one of the folders; links that lead out of them are refused."""
    for each in (path, sidecar(path)):
        real = each.resolve() if each else None
        if real and not any(real.is_relative_to(root.resolve()) for root in roots):
            raise UnreadableFile(
                f"{each} is a link that leaves the folder", "name its target as PATH"
            )
    return read_plain(path, options)


def place(path: Path, document: Document, options: ReadOptions, start: int, end: int) -> Place:
    """Where a span of a PDF is printed; ``document`` is as it is stored, without a locator."""
    from milepost.documents.readers.pdf.boxes import page_sizes

    found = locator(document, options)
    if found is None:
        raise InputError(f"{path.name} is not a PDF", "a PDF file")
    boxes = tuple(found(start, end))
    pages = sorted({box.page for box in boxes})
    return Place(boxes, page_sizes(path.read_bytes(), path.name, pages))


def sizes(path: Path) -> list[tuple[float, float]]:
    """Width and height in points of every page of a PDF, as a reader shows it."""
    from milepost.documents.readers.pdf.file import open_pdf

    with open_pdf(path.read_bytes(), path.name) as pdf:
        return [pdf.get_page_size(index) for index in range(len(pdf))]


def lines_of_page(path: Path, page: int, text: str, options: ReadOptions) -> list[tuple[Span, Box]]:
    """Span and box of each printed line of a page; see ``boxes.lines_of_page``."""
    from milepost.documents.readers.pdf import boxes

    hidden = options.hidden == "keep"
    return boxes.lines_of_page(path.read_bytes(), path.name, page, text, keep_hidden=hidden)


def picture(path: Path, page: int, scale: float) -> bytes:
    """A page of a PDF (from 1) as PNG, drawn with ``scale`` pixels a point (1/72 inch)."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        if not 1 <= page <= len(pdf):
            raise InputError(f"there is no page {page}", f"1 to {len(pdf)}")
        drawn = pdf[page - 1]
        fits = LONGEST_SIDE / max(1.0, *drawn.get_size())
        image = drawn.render(scale=min(scale, fits)).to_pil()
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
