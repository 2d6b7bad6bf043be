"""What a document is in the tables: rows for each of them, made before anything is written."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from milepost.properties import checked
from milepost.store import packing, postings
from milepost.store.base import DocumentInfo, Entry
from milepost.store.lance import schema
from milepost.store.records import record
from milepost.store.strings import escape
from milepost.types import Value

COLUMNS, MARKS = -2, -1
"""Numbers of the parts of a document that are no piece of its text."""


@dataclass(frozen=True)
class Prepared:
    """An entry in the form in which it is kept, all but its id, its rows and the time."""

    record: dict[str, Any]
    parts: list[tuple[int, bytes]]
    terms: list[tuple[str, int, bytes]]
    scales: Any
    values: Any

    def rows(self, document: int) -> dict[str, pa.Table]:
        """The rows of each table but the log."""
        written = int(time.time())

        def table(name: str, size: int, **columns: Any) -> pa.Table:
            ours = {"document": np.full(size, document), "written": np.full(size, written)}
            found = schema.columns(name, self.values.shape[1])
            return pa.table({**ours, **columns}, schema=found)

        numbers, data = zip(*self.parts, strict=True)
        tokens, sentences, held = zip(*self.terms, strict=True) if self.terms else ((), (), ())
        vectors = pa.FixedSizeListArray.from_arrays(
            pa.array(self.values.astype(np.float16).reshape(-1)), self.values.shape[1]
        )
        size = len(self.scales)
        return {
            schema.PARTS: table(schema.PARTS, len(numbers), number=numbers, data=data),
            schema.POSTINGS: table(
                schema.POSTINGS, len(tokens), token=tokens, sentences=sentences, held=held
            ),
            schema.VECTORS: table(
                schema.VECTORS,
                size,
                number=np.arange(size, dtype=np.int32),
                scale=self.scales,
                vector=vectors,
            ),
        }


def prepare(entry: Entry) -> Prepared:
    """Round, compress and invert; asks the storage nothing."""
    body = packing.body(entry)
    columns = body.bounds + body.lengths + body.vocab_coverage + body.paragraph_starts
    scales, values = packing.rounded(entry.vectors)
    return Prepared(
        record(entry, escape),
        [(COLUMNS, columns), (MARKS, body.marks), *enumerate(packing.pieces(entry.document.text))],
        list(postings.packed(entry.terms)),
        scales,
        values,
    )


def unpacked(data: bytes, sentences: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Bounds, lengths, coverage and starts of paragraphs, as ``packing`` has them."""
    n = sentences
    ends = np.cumsum([4 * (n + 1) if n else 0, 4 * n, n, n]).tolist()
    return data[: ends[0]], data[ends[0] : ends[1]], data[ends[1] : ends[2]], data[ends[2] :]


def event(number: int, kind: int, sequence: int, document: int, **more: Any) -> pa.Table:
    """A row of the log; what is not given is null."""
    row = {"event": number, "kind": kind, "sequence": sequence, "id": document, **more}
    return pa.Table.from_pylist([row], schema=schema.columns(schema.LOG))


def touched(
    info: DocumentInfo,
    signature: tuple[int, int] | None,
    options: str,
    properties: Mapping[str, Value] | None,
) -> dict[str, Any]:
    """What a touch says of a document: all that it may change, so that the last one counts."""
    size, mtime = signature or (None, None)
    held = info.properties if properties is None else properties
    return {
        "name": escape(info.name),
        "size": size,
        "mtime_ns": mtime,
        "options": options,
        "properties": checked(held).as_json(),
    }
