"""Records of documents as the stores on a disk or a server keep them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.filters.fact_rows import Fact, kept_facts
from milepost.properties import Properties, checked
from milepost.store import packing, postings
from milepost.store.base import DocumentInfo, Entry
from milepost.store.strings import escape, unescape
from milepost.types import Value

COLUMNS = (
    *("id", "name", "source", "hash", "size", "mtime_ns", "characters", "sentences", "first"),
    *("notes", "options", "properties"),
)
"""What ``document_info`` reads, in its order."""

TOUCHED = ("size", "mtime_ns", "options", "properties")
"""Of these, what changes while the text of a document stays."""

KEYS = (
    "WITH RECURSIVE known (key) AS (SELECT min(key) FROM facts UNION ALL "
    "SELECT (SELECT min(key) FROM facts WHERE key > known.key) FROM known "
    "WHERE known.key IS NOT NULL) SELECT key FROM known WHERE key IS NOT NULL"
)
"""A query of the keys of the table ``facts``; its index is asked for the next one each time."""


def record(entry: Entry) -> dict[str, Any]:
    """The record of a new document, all but its id and its first row."""
    document = entry.document
    return {
        "name": escape(document.name),
        "source": None if document.source is None else escape(document.source),
        "hash": escape(document.hash),
        "characters": len(document.text),
        "sentences": len(entry.spans),
        "terms": sum(map(len, entry.terms)),
        "notes": json.dumps(document.notes),
        **touched(entry.signature, entry.options, document.properties),
    }


def touched(
    signature: tuple[int, int] | None, options: str, properties: Mapping[str, Value]
) -> dict[str, Any]:
    """The values of ``TOUCHED``."""
    size, mtime = signature or (None, None)
    return dict(zip(TOUCHED, (size, mtime, options, checked(properties).as_json()), strict=True))


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entry as stores with a table of postings keep it: ``(n,)`` scales, ``(n, d)`` values."""

    record: dict[str, Any]
    facts: list[Fact]
    body: packing.Body
    pieces: tuple[bytes, ...]
    terms: list[tuple[str, int, bytes]]
    scales: NDArray[np.float32]
    values: NDArray[np.int8]


def prepare(entry: Entry) -> Prepared:
    """Round, compress and invert, before a transaction begins."""
    return Prepared(
        record(entry),
        kept_facts(entry.document),
        packing.body(entry),
        packing.pieces(entry.document.text),
        list(postings.packed(entry.terms)),
        *packing.rounded(entry.vectors),
    )


def document_info(values: Sequence[Any]) -> DocumentInfo:
    """The record of a stored document, of the values of ``COLUMNS``."""
    number, name, source, digest, size, mtime, characters, count, first = values[:9]
    notes, options, properties = values[9:]
    return DocumentInfo(
        name=unescape(name),
        source=None if source is None else unescape(source),
        hash=unescape(digest),
        signature=None if size is None else (size, mtime),
        characters=characters,
        sentences=count,
        first=first,
        notes=tuple(json.loads(notes)) if notes != "[]" else (),
        id=number,
        options=options,
        properties=Properties.stored(properties),
    )


def in_order(infos: Sequence[DocumentInfo], rows: NDArray[np.int64]) -> list[DocumentInfo]:
    """The owners of some rows, which ascend by their first row, in the order of the rows."""
    firsts = np.array([info.first for info in infos], np.int64)
    at = np.searchsorted(firsts, rows, side="right") - 1
    return [infos[place] for place in dict.fromkeys(at.tolist())]
