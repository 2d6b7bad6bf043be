"""Vectors and words together, as users set it up: by score or by rank, over the same units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from milepost.search.fusion import standard
from milepost.types import Document
from milepost_eval.systems.units import Scored, Units
from milepost_eval.types import Opened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

By = Literal["score", "rank"]

RANK_CONSTANT = 60
"""``k`` of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


class Scorer(Opened, Protocol):
    """An opened system that can score all its units."""

    units: Units

    def scores(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """``(q, n)`` float32."""


class ScoringSystem(Protocol):
    """A system whose opened form is a ``Scorer``."""

    name: str
    fingerprint: str

    def open(self, documents: Sequence[Document]) -> Scorer:
        """Read the documents."""


class Fused:
    """Two systems over the same units.

    By score: ``weight · z(first) + z(second)`` with standard scores over the units opened; where
    no word of the question occurs, the vectors decide alone.
    By rank: ``Σ 1 / (60 + rank)`` over the lists that contain a unit. Every unit is in the
    vectors' list, and in the words' those that hold a word of the question: a search engine gives
    no rank to what it does not find, so such a unit gets nothing from there.

    Args:
        name: the system's name.
        first: vectors, which score every unit.
        second: words, which score 0 what they do not match; over the same units.
        by: how they are joined.
        weight: of the first, by score.
    """

    def __init__(
        self,
        name: str,
        first: ScoringSystem,
        second: ScoringSystem,
        by: By = "score",
        weight: float = 1.0,
    ) -> None:
        self.name = name
        self.fingerprint = f"{first.fingerprint}+{second.fingerprint}"
        self._first, self._second = first, second
        self._by, self._weight = by, weight

    def open(self, documents: Sequence[Document]) -> _OpenFused:
        """See ``System.open``."""
        first, second = self._first.open(documents), self._second.open(documents)
        if first.units.spans.tolist() != second.units.spans.tolist():
            raise ValueError(f"{self.name}: the two systems have other units")
        return _OpenFused(first, second, self._by, self._weight)


class _OpenFused:
    def __init__(self, first: Scorer, second: Scorer, by: By, weight: float) -> None:
        self.units, self.tokens = first.units, first.tokens + second.tokens
        self._first, self._second, self._by, self._weight = first, second, by, weight

    def search(self, questions: Sequence[str]) -> Iterator[Scored]:
        import numpy as np

        for first, second in zip(
            self._first.scores(questions), self._second.scores(questions), strict=True
        ):
            joined = (
                self._weight * standard(first) + standard(second)
                if self._by == "score"
                else reciprocal(first) + np.where(second > 0, reciprocal(second), np.float32(0))
            )
            yield Scored(self.units, joined)


def reciprocal(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """``1 / (60 + rank)``, ranks from 1; equal scores in the order of the text."""
    import numpy as np

    ranks = np.empty(len(scores), np.float32)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1, dtype=np.float32)
    values: NDArray[np.float32] = 1.0 / (RANK_CONSTANT + ranks)
    return values
