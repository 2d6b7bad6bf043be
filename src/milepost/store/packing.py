"""The parts of an entry as bytes, the same in every store that keeps them on a disk.

Of ``n`` sentences ``n + 1`` bounds are kept as ``<u4``: each start, and the end of the last one; an
empty document has none. Lengths are ``<i4``, coverage is rounded to a byte, a paragraph's start is
a byte. Texts are compressed in pieces, so that little is read for a passage. A vector is
``scale * values`` with int8 values; the scale gives it back its own length, so only its direction
is rounded.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from milepost.store.base import DocumentInfo, Entry, Part, Sentences
from milepost.types import Mark

PIECE = 16_384  # code points of text that are compressed together
_BLOCK = 2048  # vectors rounded at a time

Slice = tuple[int, int, int]  # id of a document, start and end


class Body(NamedTuple):
    """The columns of a document's sentences, and its marks, compressed."""

    bounds: bytes
    lengths: bytes
    vocab_coverage: bytes
    paragraph_starts: bytes
    marks: bytes


def body(entry: Entry) -> Body:
    """Pack the columns of an entry."""
    spans = entry.spans
    coverage = np.rint(np.clip(entry.vocab_coverage, 0, 1) * 255).astype(np.uint8)
    marks = [(mark.offset, mark.kind, mark.value, mark.level) for mark in entry.document.marks]
    return Body(
        np.concatenate((spans[:1, 0], spans[:, 1])).astype("<u4").tobytes(),
        np.array([len(terms) for terms in entry.terms], dtype="<i4").tobytes(),
        coverage.tobytes(),
        entry.paragraph_starts.astype(np.uint8).tobytes(),
        zlib.compress(json.dumps(marks).encode()),
    )


def sentences(
    records: Sequence[tuple[bytes, bytes, bytes, bytes]], documents: Sequence[DocumentInfo]
) -> Sentences:
    """Unpack the first four columns of some documents' bodies, in their order."""
    bounds, lengths, coverage, starts = (
        b"".join(column) for column in (zip(*records, strict=True) if records else [()] * 4)
    )
    sizes = np.array([info.sentences for info in documents], np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    filled = sizes[sizes > 0]
    ends = np.cumsum(filled + 1)
    every = np.frombuffer(bounds, "<u4").astype(np.int64)
    spans = np.stack((np.delete(every, ends - 1), np.delete(every, ends - filled - 1)), axis=1)
    return Sentences(
        offsets,
        spans,
        np.frombuffer(lengths, "<i4").astype(np.int32),
        np.frombuffer(coverage, np.uint8).astype(np.float32) / np.float32(255),
        np.frombuffer(starts, np.uint8).astype(np.bool_),
    )


def marks(
    records: Iterable[tuple[int, bytes]], documents: Sequence[DocumentInfo]
) -> list[tuple[Mark, ...]]:
    """Unpack the marks of some documents, of ids and packed marks in any order."""
    found = {
        document: tuple(Mark(*values) for values in json.loads(zlib.decompress(packed)))
        for document, packed in records
    }
    return [found[info.id] for info in documents]


def pieces(text: str) -> tuple[bytes, ...]:
    """Compress a text in pieces."""
    return tuple(
        zlib.compress(text[at : at + PIECE].encode("utf-8", "surrogatepass"))
        for at in range(0, len(text), PIECE)
    )


def slices(parts: Sequence[Part]) -> list[Slice]:
    """Parts of texts as Python's slices mean them, within their documents."""
    return [(info.id, *slice(a, b).indices(info.characters)[:2]) for info, a, b in parts]


def wanted(parts: Sequence[Slice]) -> list[tuple[int, int]]:
    """Document and number of each piece that the slices touch, ascending."""
    return sorted(
        {(document, piece) for document, start, end in parts for piece in _touched(start, end)}
    )


def joined(parts: Sequence[Slice], found: Iterable[tuple[int, int, bytes]]) -> list[str]:
    """Cut the slices out of the pieces that they touch: document, number and packed text."""
    texts = {
        (document, number): zlib.decompress(packed).decode("utf-8", "surrogatepass")
        for document, number, packed in found
    }
    cut = []
    for document, start, end in parts:
        whole = "".join(texts[document, number] for number in _touched(start, end))
        first = start // PIECE * PIECE
        cut.append(whole[start - first : end - first])
    return cut


def _touched(start: int, end: int) -> range:
    return range(start // PIECE, (end - 1) // PIECE + 1) if start < end else range(0)


def rounded(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Round ``(n, d)`` vectors to ``(n,)`` float32 scales and ``(n, d)`` int8; zeros stay zeros."""
    scales = np.empty(len(vectors), np.float32)
    values = np.empty(vectors.shape, np.int8)
    for at in range(0, len(vectors), _BLOCK):
        wide = vectors[at : at + _BLOCK].astype(np.float64)
        largest = np.abs(wide).max(axis=1, keepdims=True)
        whole = np.rint(wide / np.where(largest > 0, largest, 1.0) * 127)
        norms = np.linalg.norm(whole, axis=1)
        scales[at : at + _BLOCK] = np.linalg.norm(wide, axis=1) / np.where(norms > 0, norms, 1.0)
        values[at : at + _BLOCK] = whole.astype(np.int8)
    return scales, values
