"""What a document is in the tables: rows for each of them, made before anything is written."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa

from milepost.store.lance import schema
from milepost.store.records import Prepared

COLUMNS, MARKS = -2, -1
"""Numbers of the parts of a document that are no piece of its text."""


def rows(entry: Prepared, document: int) -> dict[str, pa.Table]:
    """The rows of each table but the log."""
    written, (size, width), body = int(time.time()), entry.values.shape, entry.body
    columns = body.bounds + body.lengths + body.vocab_coverage + body.paragraph_starts
    parts = {COLUMNS: columns, MARKS: body.marks, **dict(enumerate(entry.pieces))}
    tokens, sentences, held = zip(*entry.terms, strict=True) if entry.terms else ((), (), ())
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.array(entry.values.astype(np.float16).reshape(-1)), width
    )
    numbers = np.arange(size, dtype=np.int32)
    made: dict[str, tuple[int, dict[str, Any]]] = {
        schema.PARTS: (len(parts), {"number": list(parts), "data": list(parts.values())}),
        schema.POSTINGS: (len(tokens), {"token": tokens, "sentences": sentences, "held": held}),
        schema.VECTORS: (size, {"number": numbers, "scale": entry.scales, "vector": vectors}),
    }
    return {
        name: pa.table(
            {"document": np.full(n, document), "written": np.full(n, written), **columns},
            schema=schema.columns(name, width),
        )
        for name, (n, columns) in made.items()
    }


def unpacked(data: bytes, sentences: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Bounds, lengths, coverage and starts of paragraphs, as ``packing`` has them."""
    n = sentences
    ends = np.cumsum([4 * (n + 1) if n else 0, 4 * n, n, n]).tolist()
    return data[: ends[0]], data[ends[0] : ends[1]], data[ends[1] : ends[2]], data[ends[2] :]


def event(number: int, kind: int, sequence: int, document: int, **more: Any) -> pa.Table:
    """A row of the log; what is not given is null."""
    row = {"event": number, "kind": kind, "sequence": sequence, "id": document, **more}
    return pa.Table.from_pylist([row], schema=schema.columns(schema.LOG))
