"""What a PDF says of itself: title, author, date, keywords, language."""

from __future__ import annotations

import ctypes
from typing import Any

from milepost.properties import Properties, iso_date
from milepost.text.readers import metadata

_MAX_BYTES = 1 << 16


def read_properties(document: Any) -> Properties:
    """The properties of an open document; the lock of ``glyphs`` must be held."""

    def said(key: str) -> str | None:
        try:
            return str(document.get_metadata_value(key)) or None
        except (ValueError, OSError):  # half a character
            return None

    return metadata.properties(
        title=said("Title"),
        author=said("Author"),
        date=iso_date(said("CreationDate") or "") or iso_date(said("ModDate") or ""),
        language=_language(document),
        keywords=said("Keywords"),
        own={"subject": said("Subject")},
    )


def _language(document: Any) -> str | None:
    """The language of the whole text, such as ``en-GB``."""
    import pypdfium2.raw as pdfium

    size = pdfium.FPDFCatalog_GetLanguage(document.raw, None, 0)
    if not 2 < size <= _MAX_BYTES:
        return None
    buffer = (ctypes.c_ushort * (size // 2))()  # UTF-16, its last unit zero
    pdfium.FPDFCatalog_GetLanguage(document.raw, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "ignore")
