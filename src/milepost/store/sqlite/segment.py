"""Rows of numbers in one append-only file: a float32 scale and ``d`` int8 values each.

See ``packing.rounded``. Measured (``studies/scale``): a quarter of float32's bytes for about twice
its time, seven times faster than float16, and dot products of real sentences off by 0.0004 (root
mean square).

A *place* is a row's position in the file; the tables know which rows stand where. The file has no
header and no count: the tables say how many places count. Nobody may shorten it below that: a
system ends a process that reads a map beyond the end of its file.
"""

from __future__ import annotations

import mmap
import os
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost.store.packing import rounded
from milepost.store.sqlite.kernel import Product, Rounded

BLOCK = 2048  # rows widened to float32 at a time: 3 MB at 384 dimensions, near to the caches
_SCALE = 4  # bytes of the float32 before each row


def file_name(generation: int) -> str:
    """Name of a generation's file: ``vectors.seg``, then ``vectors-1.seg`` and so on."""
    return f"vectors-{generation}.seg" if generation else "vectors.seg"


def files(folder: Path) -> dict[Path, int]:
    """All segment files of a folder, with their generations."""
    held = {}
    for path in folder.glob("vectors*.seg"):
        if found := re.fullmatch(r"vectors(?:-(\d+))?\.seg", path.name):
            held[path] = int(found[1] or 0)
    return held


def pack(vectors: NDArray[np.float32]) -> bytes:
    """Round ``(n, d)`` vectors to ``n`` rows of the file; zeros stay zeros."""
    rows = np.empty((len(vectors), _SCALE + vectors.shape[1]), dtype=np.uint8)
    scales, values = rounded(vectors)
    rows[:, :_SCALE] = scales.astype("<f4")[:, None].view(np.uint8)
    rows[:, _SCALE:] = values.view(np.uint8)
    return rows.tobytes()


def create(path: Path) -> None:
    """Make an empty file, over what a killed process may have left of that name."""
    with path.open("wb") as file:
        os.fsync(file.fileno())
    if os.name == "posix":  # a new name is durable once its folder is
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write(path: Path, place: int, dimensions: int, packed: bytes) -> None:
    """Write packed rows at ``place``, over garbage at most, and see them to disk."""
    with path.open("r+b") as file:
        file.seek(place * (_SCALE + dimensions))
        file.write(packed)
        file.flush()
        os.fsync(file.fileno())


def trim(path: Path, places: int, dimensions: int) -> None:
    """Cut off what a failed or killed write has left: on a full disk it may be the last space."""
    end = places * (_SCALE + dimensions)
    with suppress(OSError):  # gone, or held by a reader on Windows; garbage does no harm
        if path.stat().st_size > end:
            os.truncate(path, end)


class Segment:
    """A mapped view of a file's first ``places`` rows; it never changes and needs no lock.

    An ``EOFError`` says that the file is shorter than that.
    """

    def __init__(self, path: Path, places: int, dimensions: int) -> None:
        self.places = places
        stride = _SCALE + dimensions
        with path.open("rb") as file:
            held = os.fstat(file.fileno()).st_size
            if held < places * stride:
                raise EOFError(f"{path.name} has {held} bytes and should have {places * stride}")
            # Bytes where a map is impossible: a map of nothing.
            raw: mmap.mmap | bytes = b""
            if places:
                raw = mmap.mmap(file.fileno(), places * stride, access=mmap.ACCESS_READ)
        self._rows = np.frombuffer(raw, np.uint8).reshape(places, stride)
        self._values = self._rows[:, _SCALE:].view(np.int8)
        self._scales = np.ndarray((places,), "<f4", buffer=raw, strides=(stride,))

    def packed(self, start: int, end: int) -> memoryview:
        """The rows as they lie in the file."""
        return self._rows[start:end].data

    def vectors(self, start: int, end: int) -> NDArray[np.float32]:
        """``(end - start, d)`` float32: the vectors."""
        wide = self._values[start:end].astype(np.float32)
        wide *= self._scales[start:end, None]
        return wide

    def dot(self, vector: NDArray[np.float32], start: int, end: int) -> NDArray[np.float32]:
        """``(end - start,)`` float32: dot products with ``vector`` ``(d,)``, block by block.

        Not by the matrix product: einsum sums each row alike wherever it stands, so that equal
        rows tie, and its one thread is not held up where other processes keep the cores busy
        (the matrix product's threads were, by seventy times, see ``studies/scale``).
        """
        query = np.ascontiguousarray(vector, dtype=np.float32)
        out = np.empty(end - start, dtype=np.float32)
        wide = np.empty((min(BLOCK, end - start), len(query)), dtype=np.float32)
        for at in range(start, end, BLOCK):
            to = min(at + BLOCK, end)
            np.copyto(wide[: to - at], self._values[at:to])
            np.einsum("ij,j->i", wide[: to - at], query, out=out[at - start : to - start])
        out *= self._scales[start:end]
        return out

    def dot_rounded(
        self, query: Rounded, product: Product, start: int, end: int
    ) -> NDArray[np.float32]:
        """``(end - start,)`` float32: dot products with a rounded query, see ``kernel``."""
        out = product(self._values[start:end], query.values)[:, 0].astype(np.float32)
        out *= self._scales[start:end]
        out *= np.float32(query.scale)
        return out

    def dot_at(self, vector: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
        """``(n,)`` float32: what ``dot`` gives for the rows at some places."""
        query = np.ascontiguousarray(vector, dtype=np.float32)
        wide = self._values[places].astype(np.float32)
        out: NDArray[np.float32] = np.einsum("ij,j->i", wide, query)
        out *= self._scales[places]
        return out
