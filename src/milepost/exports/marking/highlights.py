"""Highlights on the pages of a PDF, added by PDFium; the only file here that calls it."""

from __future__ import annotations

import ctypes
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pypdfium2.raw as pdfium

from milepost.documents.readers.pdf.file import open_pdf
from milepost.documents.readers.pdf.glyphs import PDFIUM
from milepost.errors import InputError
from milepost.types import Box

AUTHOR = "Milepost"

_MAY_ANNOTATE = 1 << 5  # the bit of a file's permissions for comments (ISO 32000-1, table 22)

_PADDING = 0.08
"""How much larger, on each side, a highlight is than the ink that it covers: a share of the height
of the line."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A highlight on one page: one box for each line of print, a comment, red, green and blue."""

    boxes: tuple[Box, ...]
    comment: str
    colour: tuple[int, int, int]

    @property
    def page(self) -> int:
        """The number of its page, from 1."""
        return self.boxes[0].page


def is_signed(data: bytes, name: str) -> bool:
    """Whether a PDF has digital signatures."""
    with PDFIUM, open_pdf(data, name) as document:
        return bool(pdfium.FPDF_GetSignatureCount(document.raw) > 0)


def highlighted(data: bytes, name: str, highlights: Sequence[Highlight]) -> bytes:
    """Add highlights to a PDF and save it incrementally, as PDFium does.

    Each has an appearance, as other viewers do not draw one of their own: its last objects, one a
    highlight, in order. They refer to a graphics state ``/GS`` that PDFium does not write. A file
    whose owner does not allow comments is refused.
    """
    with PDFIUM, open_pdf(data, name) as document:
        if not pdfium.FPDF_GetDocPermissions(document.raw) & _MAY_ANNOTATE:
            raise InputError(
                f"{name} does not allow comments to be added",
                "save a copy without restrictions, e.g. qpdf --decrypt IN OUT",
            )
        for highlight in highlights:
            page = pdfium.FPDF_LoadPage(document.raw, highlight.page - 1)
            if not page:
                raise InputError(f"page {highlight.page} of {name} cannot be loaded", "qpdf IN OUT")
            try:
                _add(page, highlight, name)
            finally:
                pdfium.FPDF_ClosePage(page)
        out = io.BytesIO()
        document.save(out, flags=pdfium.FPDF_INCREMENTAL)
    return out.getvalue()


def count_highlights(data: bytes, name: str) -> int:
    """How many highlights PDFium finds in a PDF."""
    found = 0
    with PDFIUM, open_pdf(data, name) as document:
        for number in range(len(document)):
            page = pdfium.FPDF_LoadPage(document.raw, number)
            for at in range(pdfium.FPDFPage_GetAnnotCount(page)):
                annotation = pdfium.FPDFPage_GetAnnot(page, at)
                found += pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_HIGHLIGHT
                pdfium.FPDFPage_CloseAnnot(annotation)
            pdfium.FPDF_ClosePage(page)
    return found


def _add(page: Any, highlight: Highlight, name: str) -> None:
    annotation = pdfium.FPDFPage_CreateAnnot(page, pdfium.FPDF_ANNOT_HIGHLIGHT)
    try:
        quads = [_quad(page, box) for box in highlight.boxes]
        xs = [x for quad in quads for x, _ in quad]
        ys = [y for quad in quads for _, y in quad]
        red, green, blue = highlight.colour
        done = [
            pdfium.FPDFAnnot_SetColor(
                annotation, pdfium.FPDFANNOT_COLORTYPE_Color, red, green, blue, 255
            ),
            *(
                pdfium.FPDFAnnot_AppendAttachmentPoints(
                    annotation, pdfium.FS_QUADPOINTSF(*(value for point in quad for value in point))
                )
                for quad in quads
            ),
            pdfium.FPDFAnnot_SetRect(
                annotation, pdfium.FS_RECTF(min(xs), max(ys), max(xs), min(ys))
            ),
            pdfium.FPDFAnnot_SetFlags(annotation, pdfium.FPDF_ANNOT_FLAG_PRINT),
        ]
        now = datetime.now(UTC).strftime("D:%Y%m%d%H%M%SZ")
        for key, value in ((b"Contents", highlight.comment), (b"T", AUTHOR), (b"M", now)):
            done.append(pdfium.FPDFAnnot_SetStringValue(annotation, key, _wide(value)))
        drawn = _wide(_appearance(quads, highlight.colour))
        mode = pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL
        done.append(pdfium.FPDFAnnot_SetAP(annotation, mode, drawn))
        if not all(done):
            raise InputError(f"page {highlight.page} of {name} takes no highlight", "qpdf IN OUT")
    finally:
        pdfium.FPDFPage_CloseAnnot(annotation)


_Point = tuple[float, float]


def _quad(page: Any, box: Box) -> list[_Point]:
    """Corners of a box in the space of its page, in the order of the text as it is shown.

    Top left, top right, bottom left, bottom right: what viewers expect, whatever the standard says.
    """
    bounds = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, bounds)
    turn = pdfium.FPDFPage_GetRotation(page)
    more = _PADDING * min(box.bottom - box.top, box.right - box.left)
    rows, columns = (box.top - more, box.bottom + more), (box.left - more, box.right + more)

    def placed(x: float, y: float) -> _Point:
        if turn == 0:
            return bounds.left + x, bounds.top - y
        if turn == 1:
            return bounds.left + y, bounds.bottom + x
        if turn == 2:
            return bounds.right - x, bounds.bottom + y
        return bounds.right - y, bounds.top - x

    return [placed(x, y) for y in rows for x in columns]


def _appearance(quads: Sequence[Sequence[_Point]], colour: tuple[int, int, int]) -> str:
    """Operators that fill the quads; ``/GS`` multiplies, so that the text stays readable."""
    lines = ["q /GS gs " + " ".join(f"{part / 255:.4g}" for part in colour) + " rg"]
    for quad in quads:
        around = [quad[number] for number in (0, 1, 3, 2)]
        path = " ".join(
            f"{x:.3f} {y:.3f} {'l' if number else 'm'}" for number, (x, y) in enumerate(around)
        )
        lines.append(f"{path} h f")
    return "\n".join([*lines, "Q"])


def _wide(text: str) -> Any:
    """A string as PDFium takes it: UTF-16, ended by a zero."""
    data = text.encode("utf-16-le", "replace") + b"\0\0"
    return ctypes.cast(ctypes.create_string_buffer(data), ctypes.POINTER(pdfium.FPDF_WCHAR))
