"""Make what is typed on a page a part of it: values of form fields, text boxes, stamps.

A viewer shows them, but pdfium's text functions do not know them. pdfium can draw them into the
page that it holds in memory; the file stays as it is.
"""

from __future__ import annotations

from typing import Any

import pypdfium2.raw as pdfium

from milepost.documents.readers.pdf.native import text_of

_SHOWS_TEXT = ("Tj", "TJ", "'", '"')
_NOT_SHOWN = 2 | 32  # flags: hidden, not viewed


def draw_in(page: Any) -> int | None:
    """Draw typed text into a page; the lock must be held.

    Returns:
        The number of characters that the page had before, and it must be loaded again; None if it
        has not changed.
    """
    count = max(0, pdfium.FPDFPage_GetAnnotCount(page))
    typed = [_is_typed(page, number) for number in range(count)]
    if not any(typed):
        return None
    text = pdfium.FPDFText_LoadPage(page)
    before = max(0, pdfium.FPDFText_CountChars(text))
    pdfium.FPDFText_ClosePage(text)
    for number in reversed(range(count)):
        if not typed[number]:
            pdfium.FPDFPage_RemoveAnnot(page, number)
    done = pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
    return before if done == pdfium.FLATTEN_SUCCESS else None


def _is_typed(page: Any, number: int) -> bool:
    """Whether an annotation shows text on the page that belongs to the document."""
    annotation = pdfium.FPDFPage_GetAnnot(page, number)
    if not annotation:
        return False
    try:
        kinds = (pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_STAMP)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind not in kinds:
            return False
        if pdfium.FPDFAnnot_GetFlags(annotation) & _NOT_SHOWN:
            return False
        if kind == pdfium.FPDF_ANNOT_WIDGET and not _has_value(annotation):
            return False
        normal = pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL
        instructions = text_of(pdfium.FPDFAnnot_GetAP, annotation, normal)
        # A stamp or check mark may hold its text in a part of its own.
        return any(sign in instructions for sign in _SHOWS_TEXT) or " Do" in instructions
    finally:
        pdfium.FPDFPage_CloseAnnot(annotation)


def _has_value(annotation: Any) -> bool:
    """Whether a form field is filled in; it may have its value in the field it belongs to."""
    if text_of(pdfium.FPDFAnnot_GetStringValue, annotation, b"V"):
        return True
    if pdfium.FPDFAnnot_HasKey(annotation, b"AS"):
        return text_of(pdfium.FPDFAnnot_GetStringValue, annotation, b"AS") not in ("", "Off")
    return bool(pdfium.FPDFAnnot_HasKey(annotation, b"Parent"))
