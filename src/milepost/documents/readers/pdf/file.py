"""Open the bytes of a PDF, or say why that is not possible; read what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from milepost.documents.readers import metadata
from milepost.documents.readers.pdf.native import text_of
from milepost.errors import UnreadableFile
from milepost.properties import Properties, iso_date

_LAYER = re.compile(rb"/OC\s*(?:\d+\s+\d+\s+R|<<)")
_PRINTED = re.compile(r"^Microsoft (?:Word|Excel|PowerPoint) - ")
_SUFFIX = re.compile(
    r"\.(?:docx?|xlsx?|pptx?|odt|rtf|wpd|pages|indd|tmp|pdf|ps|dvi)$", re.IGNORECASE
)
_LONGEST_LABEL = 20  # longer ones are names of files
_HEADER_WITHIN = 1024  # readers accept other bytes before "%PDF-" up to this offset


class OpenPdf(pypdfium2.PdfDocument):  # type: ignore[misc] # it has no types
    """A document of pypdfium2, and what pdfium does not tell of it."""

    def __init__(self, data: bytes) -> None:
        """Open the bytes of a PDF."""
        super().__init__(data)
        self._data = data

    @cached_property
    def layers(self) -> bool | None:
        """Whether forms, parts of pages, may be in layers by themselves; None without layers.

        What is said of a form is never compressed, the list of layers only with other objects.
        """
        if b"/OCProperties" not in self._data and b"/ObjStm" not in self._data:
            return None
        return _LAYER.search(self._data) is not None


@contextmanager
def open_pdf(data: bytes, name: str) -> Iterator[OpenPdf]:
    """Open a document and close it at the end; the lock of ``glyphs`` must be held."""
    if not data:
        raise UnreadableFile(f"{name} is empty (0 bytes)", "save or download it again")
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise UnreadableFile(f"{name} is not a PDF", "check the type of the file")
    try:
        document = OpenPdf(data)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        raise _refusal(name) from error
    try:
        if not pages:
            raise UnreadableFile(f"{name} has no pages", "open and save it again")
        yield document
    finally:
        document.close()


def refuse_damaged(path: Path) -> None:
    """Open a PDF, of which little is read; the lock of ``glyphs`` must be held."""
    try:
        pypdfium2.PdfDocument(path).close()
    except pypdfium2.PdfiumError as error:
        raise _refusal(str(path)) from error


def _refusal(name: str) -> UnreadableFile:
    reason = pdfium.FPDF_GetLastError()
    if reason == pdfium.FPDF_ERR_PASSWORD:
        return UnreadableFile(
            f"{name} needs a password to open",
            "save a copy without one, e.g. qpdf --password=… --decrypt IN OUT",
            "password",
        )
    if reason == pdfium.FPDF_ERR_SECURITY:
        return UnreadableFile(
            f"{name} is encrypted in a way that cannot be read", "save a copy without encryption"
        )
    return UnreadableFile(f"{name} is damaged or truncated", "open and save it again")


def _title(said: str) -> str:
    """The title without what printing from a program adds; empty if it is only the name of a file.

    >>> _title("Microsoft Word - Bees and wax.docx"), _title("a9R_bg.tmp")
    ('Bees and wax', '')
    """
    title = _PRINTED.sub("", said, count=1)
    name = _SUFFIX.sub("", title)
    return name if name == title or " " in name else ""


def read_properties(document: Any) -> Properties:
    """The properties of an open document; the lock of ``glyphs`` must be held."""

    def said(key: str) -> str | None:
        return text_of(pdfium.FPDF_GetMetaText, document.raw, key.encode()) or None

    return metadata.properties(
        title=_title(said("Title") or ""),
        author=said("Author"),
        date=iso_date(said("CreationDate") or "") or iso_date(said("ModDate") or ""),
        language=text_of(pdfium.FPDFCatalog_GetLanguage, document.raw),
        keywords=said("Keywords"),
        own={"subject": said("Subject")},
    )


def read_labels(document: OpenPdf) -> dict[int, str]:
    """What viewers call the pages of an open document, where that is not the number of the page."""
    labels: dict[int, str] = {}
    for number in range(1, len(document) + 1):
        label = " ".join(document.get_page_label(number - 1).split())
        if label != str(number) and 0 < len(label) <= _LONGEST_LABEL:
            labels[number] = label
    return labels
