"""What is typed and drawn on a page of a PDF becomes a part of it.

A viewer shows the values of form fields, text boxes and stamps, but pdfium's text functions do not
know them, nor the boxes that hide words. pdfium can draw them into the page that it holds in
memory; the file stays as it is. The lock of ``glyphs`` must be held.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import pypdfium2.raw as pdfium

from milepost.documents.readers.pdf.native import text_of
from milepost.documents.readers.pdf.writing import runs_left

_SHOWS_TEXT = ("Tj", "TJ", "'", '"', " Do")  # a stamp may hold its text in a part of its own
_FILLS = re.compile(r"\b[fFbB]\b")
"""A box that is drawn over words hides them."""
_NORMAL = pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL
_NOT_SHOWN = 2 | 32  # flags: hidden, not viewed
_TEXTS = (
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
)
_DRAWN = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_SIGNATURE)
"""Fields that may have a drawing alone, without a value."""
_COMB = 1 << 24  # flag of a field: each letter in a box of its own
_STAND_INS = "ðþÐÞ×÷¦¬¶¸¤¯¨´µ¹²³¼½¾ªº¿¡ƒŒœŠšŽžŸ" + "".join(map(chr, range(0xC0, 0xFF)))
"""Letters of the font that stand for those that it has not, rare ones first."""
_BESIDE = (pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_LINK)
"""Annotations whose words are not on the page: comments."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What is typed on a page: the number of its first character, and what stands for others.

    ``letters`` maps code points as they are drawn to those that are meant.
    """

    first: int
    letters: dict[int, int]


def clear_drawings(page: Any, forms: Any) -> None:
    """Take drawings without words from fields, which pdfium would not draw anew."""
    for _, annotation in _annotations(page):
        is_text = pdfium.FPDFAnnot_GetFormFieldType(forms, annotation) in _TEXTS
        if is_text and not _shows_text(_drawing(annotation)):
            pdfium.FPDFAnnot_SetAP(annotation, _NORMAL, None)


def draw_in(page: Any, forms: Any) -> Typed | None:
    """Draw typed text into a page, which must then be loaded again; the lock must be held.

    Returns:
        None if the page has not changed.
    """
    letters: dict[str, str] = {}
    typed = {number for number, each in _annotations(page) if _is_typed(each, forms, letters)}
    if not typed:
        return None
    text = pdfium.FPDFText_LoadPage(page)
    before = max(0, pdfium.FPDFText_CountChars(text))
    pdfium.FPDFText_ClosePage(text)
    for number in reversed(range(pdfium.FPDFPage_GetAnnotCount(page))):
        if number not in typed:
            pdfium.FPDFPage_RemoveAnnot(page, number)
    if pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) != pdfium.FLATTEN_SUCCESS:
        return None
    return Typed(before, {ord(drawn): ord(letter) for letter, drawn in letters.items()})


def _annotations(page: Any) -> Iterator[tuple[int, Any]]:
    """Yield the number and the handle of each annotation, which is closed before the next."""
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        if annotation := pdfium.FPDFPage_GetAnnot(page, number):
            try:
                yield number, annotation
            finally:
                pdfium.FPDFPage_CloseAnnot(annotation)


def _drawing(annotation: Any) -> str:
    """The instructions that draw an annotation."""
    return text_of(pdfium.FPDFAnnot_GetAP, annotation, _NORMAL)


def _shows_text(drawing: str) -> bool:
    return any(sign in drawing for sign in _SHOWS_TEXT)


def _is_typed(annotation: Any, forms: Any, letters: dict[str, str]) -> bool:
    """Whether an annotation shows text of the document, or a box that may hide some."""
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind in _BESIDE or pdfium.FPDFAnnot_GetFlags(annotation) & _NOT_SHOWN:
        return False
    drawing = _drawing(annotation)
    if kind == pdfium.FPDF_ANNOT_SQUARE:
        return bool(_FILLS.search(drawing))
    shows = _shows_text(drawing)
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        field = forms, annotation
        type_ = pdfium.FPDFAnnot_GetFormFieldType(*field)
        if not _has_value(annotation):
            return shows and type_ in _DRAWN
        if pdfium.FPDFAnnot_GetFormFieldFlags(*field) & _COMB:
            value = text_of(pdfium.FPDFAnnot_GetFormFieldValue, *field)
            return _write(annotation, value, letters)
        if type_ == pdfium.FPDF_FORMFIELD_LISTBOX:
            return _write(annotation, ", ".join(_chosen(*field)), letters) or shows
        if not shows and pdfium.FPDFAnnot_IsChecked(*field):
            return _write(annotation, "[x]", letters)
    if kind == pdfium.FPDF_ANNOT_FREETEXT and not drawing:
        said = text_of(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
        return _write(annotation, said, letters)
    return shows


def _chosen(forms: Any, field: Any) -> list[str]:
    """The options chosen in a list, which is drawn with all of them."""
    return [
        text_of(pdfium.FPDFAnnot_GetOptionLabel, forms, field, number)
        for number in range(pdfium.FPDFAnnot_GetOptionCount(forms, field))
        if pdfium.FPDFAnnot_IsOptionSelected(forms, field, number)
    ]


def _write(annotation: Any, words: str, letters: dict[str, str]) -> bool:
    """Let an annotation show words in Helvetica; returns whether there are any.

    ``letters`` that this font has not are drawn as others, and added to.
    """
    place = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, place)
    wide, high = place.right - place.left, abs(place.top - place.bottom)
    size = max(1.0, min(12.0, 0.8 * high))
    lines = [
        part for line in words.splitlines() for part in wrap(line, max(10, int(2 * wide / size)))
    ]
    shown = "".join(
        f"({''.join(f'{chr(92)}{byte:03o}' for byte in _drawn(line, letters))}) Tj T* "
        for line in lines
    )
    top = max(place.top, place.bottom) - size
    instructions = (
        f"BT /Helv {size:.1f} Tf {1.2 * size:.1f} TL {place.left:.1f} {top:.1f} Td {shown}ET"
    )
    units = (ctypes.c_ushort * (len(instructions) + 1))(*map(ord, instructions))
    return bool(lines) and bool(pdfium.FPDFAnnot_SetAP(annotation, _NORMAL, units))


def _drawn(line: str, letters: dict[str, str]) -> bytes:
    """A line in the order in which it is printed, in the codes of the font."""
    if runs_left(line):
        line = "".join(re.findall(r"[\d.,]+|[A-Za-z]+|.", line)[::-1])
    for letter in line:
        free = len(letters) < len(_STAND_INS)
        if letter not in letters and free and not letter.encode("cp1252", "ignore"):
            letters[letter] = _STAND_INS[len(letters)]
    return "".join(letters.get(letter, letter) for letter in line).encode("cp1252", "replace")


def _has_value(annotation: Any) -> bool:
    """Whether a form field is filled in; it may have its value in the field it belongs to."""
    if text_of(pdfium.FPDFAnnot_GetStringValue, annotation, b"V"):
        return True
    if pdfium.FPDFAnnot_GetValueType(annotation, b"V") == pdfium.FPDF_OBJECT_ARRAY:
        return True
    if pdfium.FPDFAnnot_HasKey(annotation, b"AS"):
        return text_of(pdfium.FPDFAnnot_GetStringValue, annotation, b"AS") not in ("", "Off")
    return bool(pdfium.FPDFAnnot_HasKey(annotation, b"Parent"))
