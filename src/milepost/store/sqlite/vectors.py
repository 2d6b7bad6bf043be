"""Similarity and nearest rows over the mapped segment: an exact scan, block by block.

A ``View`` is one committed state, mapped: it needs neither lock nor connection, so the long part
of a search runs beside anything. ``Views`` makes one a call and keeps what has not changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from milepost.errors import StoreError
from milepost.store.sqlite import schema, segment

GAP = 512  # rows between two wanted runs that are cheaper to scan than to step over
_FIRST, _COUNT, _PLACE, _CRC = range(4)


def mapped(folder: Path, meta: schema.Meta) -> segment.Segment:
    """Map the segment file of a generation.

    Raises:
        FileNotFoundError: it is gone.
        IndexDamaged: it is shorter than the tables say.
    """
    path = folder / segment.file_name(meta.generation)
    try:
        return segment.Segment(path, meta.next_place, meta.dimensions)
    except EOFError as error:
        raise schema.damaged(folder, str(error)) from error


class Views:
    """Makes views of the segment; to be called inside a snapshot, under its lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._state: tuple[int, int] = -1, -1
        self._meta: schema.Meta | None = None
        self._segment: segment.Segment | None = None
        self._live: NDArray[np.int64] | None = None
        self._sound: set[int] = set()

    def view(self, connection: sqlite3.Connection, epoch: int) -> View:
        """Return the state that the connection sees, its segment mapped.

        Raises:
            FileNotFoundError: a vacuum has just removed the file; take a new snapshot.
        """
        state = epoch, int(connection.execute("PRAGMA data_version").fetchone()[0])
        if state != self._state or self._meta is None or self._segment is None:
            meta = schema.read_meta(connection, self._folder)
            self._live = None
            if self._meta is None or (state[0], meta.generation) != (
                self._state[0],
                self._meta.generation,
            ):
                self._segment, self._sound = None, set()
            if self._segment is None or self._segment.places < meta.next_place:
                self._segment = mapped(self._folder, meta)
            self._state, self._meta = state, meta
        return View(self._folder, self._segment, self._sound)

    def runs(self, connection: sqlite3.Connection, first: int, count: int) -> NDArray[np.int64]:
        """``(m, 4)`` int64: the runs, of living and dead, that cover some rows, ascending."""
        return _runs(
            connection,
            "first >= ifnull((SELECT max(first) FROM runs WHERE first <= ?), 0) AND first < ?",
            (first, first + count),
        )

    def live(self, connection: sqlite3.Connection) -> NDArray[np.int64]:
        """``(m, 4)`` int64: the runs of all documents, ascending."""
        if self._live is None:
            self._live = _runs(connection, "live", ())
        return self._live

    def close(self) -> None:
        """Let go of the map; a view in use keeps its own hold."""
        self._segment = self._meta = self._live = None


@dataclass(frozen=True, slots=True)
class View:
    """One committed state of the segment.

    Attributes:
        sound: first rows of the runs whose checksum was seen to hold.
    """

    folder: Path
    segment: segment.Segment
    sound: set[int]

    def similarity(
        self, runs: NDArray[np.int64], vector: NDArray[np.float32], first: int, count: int
    ) -> NDArray[np.float32]:
        """``(count,)`` float32: dot products with rows ``first …``, which ``runs`` cover."""
        out = np.empty(count, dtype=np.float32)
        self._each(
            runs, first, count, lambda at, a, b: _set(out, at, self.segment.dot(vector, a, b))
        )
        return out

    def vectors(
        self, runs: NDArray[np.int64], first: int, count: int, dimensions: int
    ) -> NDArray[np.float32]:
        """``(count, d)`` float32: rows ``first …``, which ``runs`` cover."""
        out = np.empty((count, dimensions), dtype=np.float32)
        self._each(runs, first, count, lambda at, a, b: _set(out, at, self.segment.vectors(a, b)))
        return out

    def nearest(
        self, runs: NDArray[np.int64], vector: NDArray[np.float32], n: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the ``n`` rows of ``runs`` most similar to ``vector``, ties to the lower row."""
        n = min(n, int(runs[:, _COUNT].sum()))
        if n <= 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        self._verify(runs)
        places, scores = self._scan(runs, vector)
        least = np.partition(scores, len(scores) - n)[len(scores) - n]
        close = np.flatnonzero(scores >= least)  # more than n where the last ones tie
        best = close[np.lexsort((close, -scores[close]))[:n]]
        # Places ascend with rows, so a place leads to its run and the run to the row.
        run = np.searchsorted(runs[:, _PLACE], places[best], side="right") - 1
        return runs[run, _FIRST] + places[best] - runs[run, _PLACE], scores[best]

    def _scan(
        self, runs: NDArray[np.int64], vector: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the places of the runs, ascending, and their scores.

        Runs that lie close together are scanned as one, since a thousand small products cost
        more than one large one.
        """
        starts, ends = runs[:, _PLACE], runs[:, _PLACE] + runs[:, _COUNT]
        breaks = np.flatnonzero(starts[1:] - ends[:-1] > GAP) + 1
        places, scores = [], []
        for group in np.split(np.arange(len(runs)), breaks):
            low, high = int(starts[group[0]]), int(ends[group[-1]])
            step = np.zeros(high - low + 1, dtype=np.int8)
            step[starts[group] - low] += 1
            step[ends[group] - low] -= 1
            wanted = np.flatnonzero(np.cumsum(step[:-1], dtype=np.int8))
            places.append(wanted + low)
            scores.append(self.segment.dot(vector, low, high)[wanted])
        return np.concatenate(places), np.concatenate(scores)

    def _each(
        self,
        runs: NDArray[np.int64],
        first: int,
        count: int,
        take: Callable[[int, int, int], None],
    ) -> None:
        """Call ``take(offset, start, end)`` with the places of each stretch of the rows."""
        done = first
        for run in runs:
            start, end = int(run[_FIRST]), int(run[_FIRST] + run[_COUNT])
            if not start <= done < end:
                break
            shift, to = int(run[_PLACE]) - start, min(end, first + count)
            self._verify(run[None])
            take(done - first, done + shift, to + shift)
            done = to
        if done < first + count:
            raise StoreError(
                f"the index {self.folder} holds no rows {done}–{first + count - 1}",
                "it has changed since; ask again",
            )

    def _verify(self, runs: NDArray[np.int64]) -> None:
        """Compare each run with its checksum, the first time it is used."""
        for first, count, place, crc in runs.tolist():
            if first not in self.sound:
                if self.segment.checksum(place, place + count) != crc:
                    raise schema.damaged(
                        self.folder, f"rows {first}–{first + count - 1} fail their checksum"
                    )
                self.sound.add(first)


def _set(out: NDArray[np.float32], at: int, values: NDArray[np.float32]) -> None:
    out[at : at + len(values)] = values


def _runs(connection: sqlite3.Connection, where: str, values: tuple[int, ...]) -> NDArray[np.int64]:
    found = connection.execute(
        f"SELECT first, count, place, crc FROM runs WHERE {where} ORDER BY first", values
    ).fetchall()
    return np.array(found, dtype=np.int64).reshape(-1, 4)
