"""What the reader's process does: read a file, find boxes, draw a page.

Its functions are called through ``Isolated``, so that PDFium runs in no thread of the server.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

from milepost.errors import InputError, MissingExtra, UnreadableFile
from milepost.text import read_file, recognition
from milepost.text.readers.formats import read_bytes
from milepost.text.readers.pdf import spans
from milepost.text.readers.pdf.boxes import Locator, from_source
from milepost.text.readers.pdf.file import open_pdf
from milepost.text.sidecar import sidecar, with_sidecar
from milepost.types import Box, Document, ReadOptions, Span

_KEPT = 4
"""Documents whose printed lines stay in memory: people click through one at a time."""

_locators: OrderedDict[tuple[str, str, str], Locator] = OrderedDict()

LONGEST_SIDE = 4000
"""Pixels of a picture's longer side; a page of a poster is drawn smaller than asked."""


def reading_seconds(options: ReadOptions, *, locked: bool = False) -> float:
    """Seconds that a file may take to be read: recognising text takes some for each page."""
    return 600.0 if options.ocr == "never" and not locked else 4 * 3600.0


@dataclass(frozen=True, slots=True)
class Place:
    """Boxes of a span, and the size of each page that has some.

    Attributes:
        boxes: in text order, one a line of print.
        sizes: width and height in points by page number.
    """

    boxes: tuple[Box, ...]
    sizes: dict[int, tuple[float, float]]


def read_plain(
    path: Path, options: ReadOptions, lines: Path | None = None, password: str | None = None
) -> Document:
    """``milepost.read`` without what cannot be sent to another process.

    Args:
        path: the file.
        options: how it is read.
        lines: folder in which the printed lines of a PDF are kept: which characters of the text
            are on which line. To learn it again, the whole file must be read, seconds for each
            hundred pages.
        password: what opens a PDF that does not open without one.
    """
    if password is not None:
        return replace(_read_locked(path, options, password), locator=None)
    document = read_file(path, options)
    if lines is not None and isinstance(document.locator, Locator):
        _keep(document.locator, options, lines)
    return replace(document, locator=None)


def check_password(path: Path, password: str) -> None:
    """Refuse a password that does not open a PDF.

    Raises:
        UnreadableFile: it is wrong, or the file is not a PDF.
    """
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
    """``read_plain`` of a file that is in one of the folders, links followed.

    Raises:
        UnreadableFile: a link leads out of the folders.
    """
    for each in (path, sidecar(path)):
        real = each.resolve() if each else None
        if real and not any(real.is_relative_to(root.resolve()) for root in roots):
            raise UnreadableFile(
                f"{each} is a link that leaves the folder", "name its target as PATH"
            )
    return read_plain(path, options)


def place(
    path: Path,
    digest: str,
    options: ReadOptions,
    start: int,
    end: int,
    lines: Path | None = None,
    stored: tuple[Box, ...] | None = None,
) -> Place:
    """Where a span of a PDF is printed.

    Args:
        path: the file.
        digest: its sha256 (hex) when it was indexed.
        options: how it was read.
        start: offset into the document's text.
        end: offset behind the span.
        lines: see ``read_plain``.
        stored: the boxes, where they are known.

    Raises:
        InputError: not a PDF, or changed since.
    """
    import pypdfium2

    boxes = stored
    if boxes is None:
        boxes = tuple(_locator(path, digest, options, lines)(start, end))
    with pypdfium2.PdfDocument(path) as pdf:
        sizes = {page: pdf[page - 1].get_size() for page in sorted({box.page for box in boxes})}
    return Place(boxes, sizes)


def sizes(path: Path) -> list[tuple[float, float]]:
    """Width and height in points of every page of a PDF, as a reader shows it.

    Raises:
        UnreadableFile: the file is damaged or needs a password.
    """
    with open_pdf(path.read_bytes(), path.name) as pdf:
        return [pdf.get_page_size(index) for index in range(len(pdf))]


def lines_of_page(path: Path, page: int, text: str, options: ReadOptions) -> list[tuple[Span, Box]]:
    """Span and box of each printed line of a page; see ``spans.lines_of_page``."""
    hidden = options.hidden == "keep"
    return spans.lines_of_page(path.read_bytes(), path.name, page, text, keep_hidden=hidden)


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


def _locator(path: Path, digest: str, options: ReadOptions, lines: Path | None) -> Locator:
    """What finds spans in a PDF, by the lines that were kept or by reading it again."""
    key = str(path), digest, str(options)
    if key not in _locators:
        kept = _kept(path, digest, options, lines)
        _locators[key] = kept or _made(path, digest, options, lines)
        if len(_locators) > _KEPT:
            _locators.popitem(last=False)
    _locators.move_to_end(key)
    return _locators[key]


def _made(path: Path, digest: str, options: ReadOptions, lines: Path | None) -> Locator:
    document = read_file(path, options)
    if document.hash != digest:
        raise InputError("the file has changed since it was indexed", "index it again")
    if not isinstance(document.locator, Locator):
        raise InputError(f"{path.name} is not a PDF", "a PDF file")
    if lines is not None:
        _keep(document.locator, options, lines)
    return document.locator


def _kept(path: Path, digest: str, options: ReadOptions, lines: Path | None) -> Locator | None:
    import numpy as np

    if lines is None:
        return None
    try:
        # NumPy would leave a file open that it opened itself and found damaged.
        with (lines / _name(digest, options)).open("rb") as file:
            table = np.load(file, allow_pickle=False)["lines"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # missing, or cut by a crash
        return None
    if table.dtype != np.int32 or table.ndim != 2 or table.shape[1] != 4:
        return None
    return Locator(table, str(path), digest, from_source(str(path)), options.hidden == "keep")


def _keep(locator: Locator, options: ReadOptions, lines: Path) -> None:
    """Best effort: without the lines, boxes are found by reading the file again."""
    import numpy as np

    with suppress(OSError):
        lines.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(prefix=".part-", dir=lines)
        try:
            with os.fdopen(handle, "wb") as out:
                np.savez_compressed(out, lines=locator.lines)
            Path(part).replace(lines / _name(locator.digest, options))
        except OSError:
            Path(part).unlink(missing_ok=True)


def _name(digest: str, options: ReadOptions) -> str:
    """The file of a document's lines; another way of reading makes other lines."""
    way = str(options)
    return f"{digest}{'-' if way else ''}{way.replace(' ', '-')}.npz"
