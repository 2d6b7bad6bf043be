"""The calls of a search, made of a snapshot's simpler ones, where each of those costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from milepost.store.base import EVERYWHERE, Among, DocumentInfo, Measured, Snapshot
from milepost.types import Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LocalSnapshot(Snapshot):
    """``choose``, ``measure`` and ``excerpts`` for a store in this process."""

    def choose(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        *,
        most: int,
        candidates: int,
        among: Among = EVERYWHERE,
    ) -> tuple[list[DocumentInfo], bool]:
        """Choose the documents that a search scores; those without sentences are left out."""
        every = self.documents()
        documents = [info for info in every if info.sentences and among.holds(info)]
        if sum(info.sentences for info in documents) <= most:
            return documents, True
        limit = None if len(documents) == len(every) else documents
        nearest, matching = self.candidates(vector, terms, candidates, limit)
        firsts = np.array([info.first for info in documents], np.int64)
        owners = np.searchsorted(firsts, in_turn(nearest, matching), side="right") - 1
        return [documents[owner] for owner in dict.fromkeys(owners.tolist())], False

    def candidates(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        n: int,
        documents: Sequence[DocumentInfo] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of ``nearest`` and of ``matching``."""
        nearest, _ = self.nearest(vector, n, documents)
        return nearest, self.matching(terms, n, documents)

    def measure(
        self,
        vector: NDArray[np.float32],
        terms: Sequence[str],
        documents: Sequence[DocumentInfo],
    ) -> Measured:
        """Measure a question's vector and terms against the sentences of some documents."""
        sentences = self.sentences(documents)
        firsts = np.array([info.first for info in documents], np.int64)
        held = self.postings(terms)
        return Measured(
            sentences,
            self.similarity(vector, documents),
            {
                term: _placed(rows, often, firsts, sentences.document_offsets)
                for term, (rows, often) in held.items()
            },
            {term: len(rows) for term, (rows, _) in held.items()},
            self.statistics(),
        )

    def excerpts(
        self, parts: Sequence[tuple[DocumentInfo, int, int]]
    ) -> list[tuple[str, tuple[Mark, ...]]]:
        """``texts`` of the parts, each with the ``marks`` of its document."""
        marks = self.marks([info for info, _, _ in parts])
        return list(zip(self.texts(parts), marks, strict=True))


def in_turn(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of two lists in turn, best first; the longer one goes on alone."""
    both = min(len(one), len(other))
    turns = np.stack((one[:both], other[:both]), axis=1).reshape(-1)
    return np.concatenate((turns, one[both:], other[both:]))


def _placed(
    rows: NDArray[np.int64],
    often: NDArray[np.int32],
    firsts: NDArray[np.int64],
    document_offsets: NDArray[np.int64],
) -> NDArray[np.float32]:
    """A term's counts on the sentences of some documents, ``(n,)``."""
    placed = np.zeros(int(document_offsets[-1]), np.float32)
    if not len(rows) or not len(firsts):
        return placed
    # Documents come in order of their first row, so rows are found by bisection.
    document = np.searchsorted(firsts, rows, side="right") - 1
    inside = document >= 0
    document, rows, often = document[inside], rows[inside], often[inside]
    offset = rows - firsts[document]
    inside = offset < (document_offsets[document + 1] - document_offsets[document])
    placed[document_offsets[document[inside]] + offset[inside]] = often[inside]
    return placed
