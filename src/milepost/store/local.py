"""The calls of a search, made of a snapshot's simpler ones, where each of those costs nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from milepost.store.base import ALL, DocumentInfo, DocumentSelection, Measured, Part, Snapshot
from milepost.types import Mark

Postings = tuple[NDArray[np.int64], NDArray[np.int32]]


class LocalSnapshot(Snapshot):
    """``select_candidates``, ``score_inputs`` and ``excerpts`` for a store in this process."""

    def ranges(self, among: DocumentSelection) -> NDArray[np.int64]:
        """``(m, 2)`` int64, ascending: first row of each document, and the row behind its last."""
        raise NotImplementedError

    def similarity(
        self, vector: NDArray[np.float32], documents: Sequence[DocumentInfo]
    ) -> NDArray[np.float32]:
        """``(n,)`` float32: dot product of ``vector`` ``(d,)`` with all sentences of documents."""
        raise NotImplementedError

    def candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        n: int,
        ranges: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find ``n`` rows of each list of ``select_candidates``, in some ranges or in all."""
        raise NotImplementedError

    def select_candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        *,
        most: int,
        candidates: int,
        among: DocumentSelection = ALL,
    ) -> tuple[list[DocumentInfo], bool]:
        documents = self.select(among, most)
        if documents is not None:
            return [info for info in documents if info.sentences], True
        limit = None if among == ALL else self.ranges(among)
        nearest, matching = self.candidates(vector, terms, candidates, limit)
        return self.owners(interleave(nearest, matching)), False

    def score_inputs(
        self, vector: NDArray[np.float32], terms: Sequence[str], documents: Sequence[DocumentInfo]
    ) -> Measured:
        sentences = self.sentences(documents)
        firsts = np.array([info.first for info in documents], np.int64)
        held = self.postings(terms)
        return Measured(
            sentences,
            self.similarity(vector, documents),
            {
                term: _placed(*found, firsts, sentences.document_offsets)
                for term, found in held.items()
            },
            {term: len(rows) for term, (rows, _) in held.items()},
        )

    def excerpts(self, parts: Sequence[Part]) -> list[tuple[str, tuple[Mark, ...]]]:
        marks = self.marks([info for info, _, _ in parts])
        return list(zip(self.texts(parts), marks, strict=True))


def ranges_of(documents: Sequence[DocumentInfo]) -> NDArray[np.int64]:
    """The rows of some documents as ranges, ascending."""
    filled = sorted((each.first, each.first + each.sentences) for each in documents)
    return np.array([run for run in filled if run[0] < run[1]], np.int64).reshape(-1, 2)


def rows_of(documents: Sequence[DocumentInfo]) -> NDArray[np.int64]:
    """The rows of some documents, in their order."""
    runs = (np.arange(info.first, info.first + info.sentences) for info in documents)
    return np.concatenate([np.empty(0, np.int64), *runs])


def count(ranges: NDArray[np.int64]) -> int:
    """How many rows are in some ranges."""
    return int((ranges[:, 1] - ranges[:, 0]).sum())


def inside(rows: NDArray[np.int64], ranges: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Which rows are in one of some ranges, which ascend; None stands for all rows."""
    if ranges is None or not len(ranges):
        return np.full(len(rows), ranges is None)
    at = np.searchsorted(ranges[:, 0], rows, side="right") - 1
    there: NDArray[np.bool_] = (at >= 0) & (rows < ranges[at, 1])
    return there


def interleave(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of two lists in turn, best first; the longer one goes on alone."""
    both = min(len(one), len(other))
    turns = np.stack((one[:both], other[:both]), axis=1).reshape(-1)
    return np.concatenate((turns, one[both:], other[both:]))


def _placed(
    rows: NDArray[np.int64],
    counts: NDArray[np.int32],
    firsts: NDArray[np.int64],
    document_offsets: NDArray[np.int64],
) -> NDArray[np.float32]:
    """A term's counts on the sentences of some documents, ``(n,)``."""
    placed = np.zeros(int(document_offsets[-1]), np.float32)
    if len(placed):
        # Documents come in order of their first row, so rows are found by bisection.
        document = np.searchsorted(firsts, rows, side="right") - 1
        place = rows - firsts[document] + document_offsets[document]
        there = (document >= 0) & (place < document_offsets[document + 1])
        placed[place[there]] = counts[there]
    return placed
