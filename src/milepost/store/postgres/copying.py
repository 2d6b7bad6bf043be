"""Rows in the binary form of ``COPY``: made by NumPy where all are of one size.

See PostgreSQL's documentation of COPY, "Binary Format", and pgvector's ``halfvec_send``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"


def vector_rows(document: int, scales: NDArray[np.float32], values: NDArray[np.int8]) -> bytes:
    """Rows ``(document, number, scale, halfvec)`` of the table ``vectors``.

    Args:
        document: its id.
        scales: ``(n,)`` float32.
        values: ``(n, d)`` int8; each is a whole number that ``halfvec`` holds exactly.
    """
    n, width = values.shape
    form = np.dtype(
        [
            ("fields", ">i2"),
            ("document_size", ">i4"),
            ("document", ">i8"),
            ("number_size", ">i4"),
            ("number", ">i4"),
            ("scale_size", ">i4"),
            ("scale", ">f4"),
            ("vector_size", ">i4"),
            ("width", ">i2"),
            ("unused", ">i2"),
            ("values", ">f2", (width,)),
        ]
    )
    rows = np.zeros(n, form)
    rows["fields"] = 4
    rows["document_size"], rows["document"] = 8, document
    rows["number_size"], rows["number"] = 4, np.arange(n)
    rows["scale_size"], rows["scale"] = 4, scales
    rows["vector_size"], rows["width"] = 4 + 2 * width, width
    rows["values"] = values
    return rows.tobytes()
