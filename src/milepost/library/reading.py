"""What the reader's process does: read a file, find boxes, draw a page.

Its functions are called through ``Isolated``, so that PDFium runs in no thread of the server.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from milepost.errors import InputError, UnreadableFile
from milepost.text import read
from milepost.types import Box, Document

_KEPT = 4
"""Documents whose printed lines stay in memory: people click through one at a time."""

_documents: OrderedDict[tuple[str, str], Document] = OrderedDict()

LONGEST_SIDE = 4000
"""Pixels of a picture's longer side; a page of a poster is drawn smaller than asked."""


@dataclass(frozen=True, slots=True)
class Place:
    """Boxes of a span, and the size of each page that has some.

    Attributes:
        boxes: in text order, one a line of print.
        sizes: width and height in points by page number.
    """

    boxes: tuple[Box, ...]
    sizes: dict[int, tuple[float, float]]


def read_file(path: Path) -> Document:
    """``milepost.read`` without what cannot be sent to another process."""
    return replace(read(path), locator=None)


def read_inside(path: Path, roots: tuple[Path, ...]) -> Document:
    """``read_file`` of a file that is in one of the folders, links followed.

    Raises:
        UnreadableFile: a link leads out of the folders.
    """
    real = path.resolve()
    if not any(real.is_relative_to(root.resolve()) for root in roots):
        raise UnreadableFile(f"{path} is a link that leaves the folder", "name its target as PATH")
    return read_file(path)


def place(path: Path, digest: str, start: int, end: int) -> Place:
    """Where a span of a PDF is printed.

    Args:
        path: the file.
        digest: its sha256 (hex) when it was indexed.
        start: offset into the document's text.
        end: offset behind the span.

    Raises:
        InputError: not a PDF, changed since, or a span outside the text.
    """
    import pypdfium2

    boxes = tuple(_document(path, digest).boxes(start, end))
    with pypdfium2.PdfDocument(path) as pdf:
        sizes = {page: pdf[page - 1].get_size() for page in sorted({box.page for box in boxes})}
    return Place(boxes, sizes)


def sizes(path: Path) -> list[tuple[float, float]]:
    """Width and height in points of every page of a PDF, as a reader shows it."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        return [pdf.get_page_size(index) for index in range(len(pdf))]


def picture(path: Path, page: int, scale: float) -> bytes:
    """A page of a PDF as PNG.

    Args:
        path: the file.
        page: its number in the file, from 1.
        scale: pixels a point (1/72 inch).

    Raises:
        InputError: there is no such page.
    """
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


def _document(path: Path, digest: str) -> Document:
    """A document with its printed lines; the last few are kept."""
    key = str(path), digest
    if key not in _documents:
        document = read(path)
        if document.hash != digest:
            raise InputError("the file has changed since it was indexed", "index it again")
        _documents[key] = document
        if len(_documents) > _KEPT:
            _documents.popitem(last=False)
    _documents.move_to_end(key)
    return _documents[key]
