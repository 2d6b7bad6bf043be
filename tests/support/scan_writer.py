"""Makes scans for the tests: pages drawn as pictures, in a PDF that holds nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from PIL.Image import Image


def needs_ocr() -> None:
    """Skip the test where the extra is not installed."""
    pytest.importorskip("rapidocr", reason="needs the extra ocr")


def drawn(pdf: bytes, pages: Iterable[int], dpi: int = 200) -> list[Image]:
    import pypdfium2

    with pypdfium2.PdfDocument(pdf) as document:
        return [document[n - 1].render(scale=dpi / 72).to_pil().convert("L") for n in pages]


def scan(pdf: bytes, pages: Iterable[int] = (1,), dpi: int = 200) -> bytes:
    """A PDF whose pages are pictures of pages of another."""
    first, *others = drawn(pdf, pages, dpi)
    out = BytesIO()
    first.save(out, "PDF", save_all=True, append_images=others, resolution=dpi)
    return out.getvalue()


def joined(*files: bytes, pages: list[int] | None = None) -> bytes:
    """The pages of several PDFs in one: all, or those of these numbers from 0."""
    import pypdfium2

    whole = pypdfium2.PdfDocument.new()
    for data in files:
        with pypdfium2.PdfDocument(data) as part:
            whole.import_pages(part, pages)
    out = BytesIO()
    whole.save(out)
    whole.close()
    return out.getvalue()
