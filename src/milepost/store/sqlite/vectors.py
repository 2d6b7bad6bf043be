"""Similarity and nearest rows over the mapped segment: an exact scan, block by block.

A ``View`` is a mapped segment file: it needs neither lock nor connection, so the long part of a
search runs beside anything. ``Segments`` keeps the newest map for the next snapshot.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost._forking import free_in_child
from milepost.store.base import DocumentInfo
from milepost.store.sqlite import schema, segment
from milepost.store.sqlite.kernel import LEAST, products, rounded

GAP = 512  # rows between two wanted runs that are cheaper to scan than to step over
_FIRST, _COUNT, _PLACE, _CRC = range(4)


def mapped(folder: Path, meta: schema.Meta) -> segment.Segment:
    """Map the segment file of a generation, which may be gone (``FileNotFoundError``)."""
    path = folder / segment.file_name(meta.generation)
    try:
        return segment.Segment(path, meta.next_place, meta.dimensions)
    except EOFError as error:
        raise schema.damaged(folder, str(error)) from error


class Segments:
    """Maps of segment files, shared by all snapshots of a store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = free_in_child(threading.Lock())
        self._key: tuple[int, ...] = ()
        self._view: View | None = None

    def view(self, connection: sqlite3.Connection, stamp: tuple[int, ...]) -> View:
        """Map what a snapshot sees; ``stamp`` tells one file of the index from the next.

        ``FileNotFoundError``: a vacuum has just removed the file; take a new snapshot.
        """
        meta = schema.read_meta(connection, self._folder)
        key = *stamp, meta.generation
        with self._lock:
            view = self._view
            if view is None or self._key != key:
                view = View(self._folder, meta, mapped(self._folder, meta), set())
            elif view.meta.change != meta.change:
                old = view.segment
                held = old if old.places >= meta.next_place else mapped(self._folder, meta)
                view = View(self._folder, meta, held, view.sound)
            self._key, self._view = key, view
            return view

    def close(self) -> None:
        """Let go of the map; a view in use keeps its own hold."""
        with self._lock:
            self._view = None


@dataclass(slots=True)
class View:
    """A segment, mapped, as one state sees it; it needs neither lock nor connection.

    ``sound`` are first rows of the runs whose checksum was seen to hold, ``all_sound`` whether
    those are all. ``runs`` and ``documents`` are all of them, once a snapshot has read them.
    """

    folder: Path
    meta: schema.Meta
    segment: segment.Segment
    sound: set[int]
    all_sound: bool = False
    runs: NDArray[np.int64] | None = None
    documents: list[DocumentInfo] | None = None

    def similarity(
        self, runs: NDArray[np.int64], vector: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """``(n,)`` float32: dot products with all rows of some runs, ascending."""
        if not len(runs):
            return np.empty(0, np.float32)
        self.verify(runs)
        return self._scan(runs, partial(self.segment.dot, vector))[1]

    def vectors(self, runs: NDArray[np.int64], dimensions: int) -> NDArray[np.float32]:
        """``(n, d)`` float32: all rows of some runs."""
        self.verify(runs)
        parts = [self.segment.vectors(place, place + count) for _, count, place, _ in runs.tolist()]
        return np.concatenate([np.empty((0, dimensions), np.float32), *parts])

    def nearest(
        self, runs: NDArray[np.int64], vector: NDArray[np.float32], n: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` rows of ``runs`` most similar to ``vector``, ties to the lower row."""
        total = int(runs[:, _COUNT].sum())
        n = min(n, total)
        if n <= 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if not self.all_sound:
            self.verify(runs)
            self.all_sound = runs is self.runs
        product = products()
        if product is None or total < max(LEAST, 2 * n):
            places, scores = self._scan(runs, partial(self.segment.dot, vector))
        else:
            query = rounded(vector)
            places, scores = self._scan(runs, partial(self.segment.dot_rounded, query, product))
            places = places[scores >= _nth_best(scores, n) - 2 * query.error]
            scores = self.segment.dot_at(vector, places)
        close = np.flatnonzero(scores >= _nth_best(scores, n))  # more than n where the last tie
        best = close[np.lexsort((close, -scores[close]))[:n]]
        # Places ascend with rows, so a place leads to its run and the run to the row.
        run = np.searchsorted(runs[:, _PLACE], places[best], side="right") - 1
        return runs[run, _FIRST] + places[best] - runs[run, _PLACE], scores[best]

    def _scan(
        self, runs: NDArray[np.int64], dot: Callable[[int, int], NDArray[np.float32]]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the places of the runs, ascending, and their scores, which ``dot`` gives.

        Runs that lie close together are scanned as one, since a thousand small products cost
        more than one large one.
        """
        ends = runs[:, _PLACE] + runs[:, _COUNT]
        breaks = np.flatnonzero(runs[1:, _PLACE] - ends[:-1] > GAP) + 1
        places, scores = [], []
        for group in np.split(runs, breaks):
            counts = group[:, _COUNT]
            skipped = group[:, _PLACE] + counts - np.cumsum(counts)  # places that are none of ours
            wanted = np.repeat(skipped, counts) + np.arange(counts.sum())
            found = dot(int(wanted[0]), int(wanted[-1]) + 1)
            places.append(wanted)
            scores.append(found if len(found) == len(wanted) else found[wanted - wanted[0]])
        return np.concatenate(places), np.concatenate(scores)

    def verify(self, runs: NDArray[np.int64]) -> None:
        """Compare each run with its checksum, the first time it is used."""
        for first, count, place, crc in runs.tolist():
            if first not in self.sound:
                if zlib.crc32(self.segment.packed(place, place + count)) != crc:
                    raise schema.damaged(
                        self.folder, f"rows {first}–{first + count - 1} fail their checksum"
                    )
                self.sound.add(first)


def _nth_best(scores: NDArray[np.float32], n: int) -> np.float32:
    best: np.float32 = np.partition(scores, len(scores) - n)[len(scores) - n]
    return best


def runs(
    connection: sqlite3.Connection, firsts: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """``(m, 4)`` int64: first row, rows, place and checksum of documents' runs, ascending.

    Those that begin with some rows, or all.
    """
    chosen = "live" if firsts is None else "first IN (SELECT value FROM json_each(?))"
    # One string for each column: NumPy reads them three times faster than Python fetches rows.
    found = connection.execute(
        "SELECT group_concat(first), group_concat(count), group_concat(place), group_concat(crc) "
        f"FROM (SELECT first, count, place, crc FROM runs WHERE {chosen} ORDER BY first)",
        () if firsts is None else (json.dumps(firsts.tolist()),),
    ).fetchone()
    return numbers(found)


def numbers(columns: Sequence[str | None]) -> NDArray[np.int64]:
    """``(m, columns)`` int64 of what ``group_concat`` gives."""
    read = [np.fromstring(each, np.int64, sep=",") for each in columns if each is not None]
    return np.stack(read, axis=1) if read else np.empty((0, len(columns)), np.int64)
