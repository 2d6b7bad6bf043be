"""Draw a page of a PDF as an array of grey values."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def draw(
    pdfium: Any, page: Any, size: tuple[int, int], window: tuple[int, int, int, int] | None = None
) -> NDArray[np.uint8]:
    """Draw a page as it is printed, without its annotations; the lock must be held.

    Args:
        pdfium: the library.
        page: the page.
        size: width and height of the picture of the whole page in pixels.
        window: left, top, right, bottom of the part that is drawn; None for the whole.

    Returns:
        ``(height, width)`` grey values, 0 black to 255 white.

    Raises:
        MemoryError: there is no room for the picture.
    """
    import numpy as np

    left, top, right, bottom = window or (0, 0, *size)
    width, height = right - left, bottom - top
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_Gray, None, 0)
    if not bitmap:
        raise MemoryError(f"no room for a picture of {width} x {height} pixels")
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, -left, -top, *size, 0, 0)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        data = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    return np.frombuffer(data, np.uint8).reshape(height, stride)[:, :width]
