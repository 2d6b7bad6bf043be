"""Sentences scored with their neighbours: what vectors find without words, at their best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from milepost.search.lexical import SCALES, averaged
from milepost.types import Document
from milepost_eval.systems.fused import Scorer, ScoringSystem
from milepost_eval.systems.units import Scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Scales:
    """A system whose sentences count with their neighbours, as those of the search do.

    A sentence's score is the mean, over ``SCALES``, of the mean score of it and so many neighbours
    on each side. Nothing is learned or tuned. Implements ``System``.

    Args:
        name: the system's name.
        inner: scores each sentence.
    """

    def __init__(self, name: str, inner: ScoringSystem) -> None:
        self.name = name
        self.fingerprint = inner.fingerprint
        self._inner = inner

    def open(self, documents: Sequence[Document]) -> _OpenScales:
        """See ``System.open``."""
        return _OpenScales(self._inner.open(documents))


class _OpenScales:
    def __init__(self, inner: Scorer) -> None:
        self.units, self.tokens = inner.units, inner.tokens
        self._inner = inner

    def search(self, questions: Sequence[str]) -> Iterator[Scored]:
        for question in questions:
            (row,) = self._inner.scores([question])
            yield Scored(self.units, with_neighbours(row, self.units.document_offsets))


def with_neighbours(
    scores: NDArray[np.float32], document_offsets: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The mean over ``SCALES`` of the mean of each score with its neighbours, ``(n,)`` float32.

    Args:
        scores: ``(n,)``.
        document_offsets: first row of each document, and ``n``; documents do not mix.
    """
    import numpy as np

    means = [averaged(scores, document_offsets, scale) for scale in SCALES]
    total: NDArray[np.float32] = np.mean(means, axis=0, dtype=np.float32)
    return total
