"""Which sentences hold the answer, and how likely: the last word on every score.

``fusion.py`` puts all sentences of the scope in an order. The best of them are then looked at
closely: trees over what is measured of each sentence (``features.py``), and the fused scores of the
sentence and of its paragraph's best beside them, tell the log-odds that it is evidence. A model
folder without trees keeps the fused order; two numbers, not fitted to it, bring its scores to the
scale of log-odds, so that its chances order passages and say little more.

Where the model has a reranker, the best places are then read again with the question in front of
them (``reranking.py``), and what a sentence is found to hold is added to its log-odds:

    known · weight · max(0, (1 - near) · cosine + near · mean - least)

with ``known`` from 0 to 1, as far as the tokenizer knows question and documents, and ``mean`` over
the sentence and three neighbours on each side, as far as they were read.

The chance that a *passage* holds evidence follows from its sentences:

    chance = 1 / (1 + e^{-(c0 + c1 · best + c2 · ln(1 + rest) + c3 · added + c4 · (1 - known))})

with ``best`` the greatest log-odds of its sentences before anything is read again, ``rest`` the sum
of the chances that the others have by these, and ``added`` the most that was added to one of them;
``c3`` and ``c4`` stand only where there is a reranker. The second reading finds the right place of
a document; whether a document answers at all, the first tells better, so it keeps a number of its
own (``docs/decisions``, page 27). The numbers were fitted on development questions asked of their
document, of a whole collection and of a document that does not answer them
(``bench/fit_ranking.py``, ``bench/fit_reranker.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.search.features import FEATURES, features
from milepost.search.fusion import Fused, Fusion, Reranking, fuse
from milepost.search.lexical import windowed
from milepost.search.trees import FILE, Trees, read_trees

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.search.scope import Scope

Again = Callable[["NDArray[np.int64]"], "NDArray[np.float32]"]
"""Numbers of sentences, best first → cosines of all sentences; NaN for what was not read again."""

CLOSELY = 600
"""Sentences that are looked at closely: the best by fused score. Set by hand, and what the trees
were learned for: ``bench/fit_ranking.py`` chooses its candidates by it."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a model has learned about searching: numbers of its manifest, and trees.

    Attributes:
        fusion: the first order.
        trees: the close look, or None.
    """

    fusion: Fusion
    trees: Trees | None = None

    @staticmethod
    def read(fields: Mapping[str, Any], folder: Path | None) -> Ranking:
        """From a manifest's ``fusion`` and the model folder.

        Raises:
            ModelError: the folder's trees are damaged or of another version.
        """
        trees = None if folder is None else read_trees(folder / FILE, tuple(FEATURES))
        return Ranking(Fusion.from_fields(fields), trees)


class Ranked:
    """The sentences of a scope with their scores.

    Attributes:
        score: ``(n,)`` float32: log-odds that a sentence is evidence. Sentences beyond the
            closely looked at lie under all of them, unless they stand beside one of these and were
            read again with it.
        fused: the first order, with the question's signals and weights.
        numbers: the learned ones that go with these scores.

    Args:
        scope: the sentences.
        vocab_coverage: how well the tokenizer knows the question, 0–1.
        ranking: what the model has learned about searching.
        again: reads the best of them again; None for what stands without it.
    """

    def __init__(
        self, scope: Scope, vocab_coverage: float, ranking: Ranking, again: Again | None = None
    ) -> None:
        import numpy as np

        self.fused: Fused = fuse(scope, vocab_coverage, ranking.fusion)
        self.numbers = ranking.fusion if again is None else ranking.fusion.reranked
        self._odds = ranking.fusion.odds
        self._close: _Close | None = None
        self.score = self._before = self._looked_at(scope, ranking)
        self._added: NDArray[np.float32] | None = None
        if again is not None:
            order = np.argsort(-self.score, kind="stable")[:CLOSELY]
            share = 1.0 - self.fused.signals["out of vocabulary"]
            self._added = reranked(
                again(order), scope.document_offsets, ranking.fusion.rerank, share
            )
            self.score = self._before + self._added

    def _looked_at(self, scope: Scope, ranking: Ranking) -> NDArray[np.float32]:
        """Scores before anything is read again."""
        import numpy as np

        if ranking.trees is None:
            odds = self._odds[0] + self._odds[1] * self.fused.score
            return odds.astype(np.float32)
        rows = np.sort(np.argsort(-self.fused.score, kind="stable")[:CLOSELY])
        columns = features(scope, self.fused, rows)
        self._close = _Close(ranking.trees, ranking.fusion.base_score_weight, rows, columns)
        close = self._close.score()
        # Below what was looked at, in the order of the fused score.
        below = 1.0 + self.fused.score.max() - self.fused.score
        score: NDArray[np.float32] = (close.min() - 1e-3 * below).astype(np.float32)
        score[rows] = close
        return score

    def parts(self, number: int) -> dict[str, float]:
        """What a sentence's score is the sum of, by kind."""
        parts = self._parts(number)
        return parts if self._added is None else {**parts, "reranker": float(self._added[number])}

    def _parts(self, number: int) -> dict[str, float]:
        """The parts of what a sentence scored before anything was read again."""
        if self._close is None or not self._close.holds(number):
            slope = self._odds[1]
            parts = {
                name: slope * float(values[number]) for name, values in self.fused.parts.items()
            }
            return {**parts, "always": float(self._before[number]) - sum(parts.values())}
        moved = self._close.parts(number)
        summed = {"always": moved.pop("")}
        for name, value in moved.items():
            summed[FEATURES[name]] = summed.get(FEATURES[name], 0.0) + value
        return summed

    def chance(self, numbers: Sequence[int]) -> float:
        """The chance, 0–1, that one of these sentences holds evidence."""
        scores = sorted((float(self._before[number]) for number in numbers), reverse=True)
        rest = sum(_logistic(score) for score in scores[1:])
        base, best, more, *again = self.numbers.calibration
        odds = base + best * scores[0] + more * math.log1p(rest)
        if self._added is not None:
            added = max(float(self._added[number]) for number in numbers)
            odds += again[0] * added + again[1] * self.fused.signals["out of vocabulary"]
        return _logistic(odds)


@dataclass(frozen=True, slots=True)
class _Close:
    """The sentences looked at closely, ascending, and what was measured of each."""

    trees: Trees
    base_score_weight: tuple[float, float]
    rows: NDArray[np.int64]
    columns: NDArray[np.float32]

    def score(self) -> NDArray[np.float32]:
        return closely(self.trees, self.base_score_weight, self.columns)

    def holds(self, number: int) -> bool:
        place = self._place(number)
        return place < len(self.rows) and int(self.rows[place]) == number

    def parts(self, number: int) -> dict[str, float]:
        """What the score is the sum of, by column; ``""`` is the mean."""
        row = self.columns[self._place(number)]
        moved = self.trees.parts(row)
        for name, weight in zip(_STEADY, self.base_score_weight, strict=True):
            moved[name] += weight * float(row[_COLUMN[name]])
        return moved

    def _place(self, number: int) -> int:
        return int(self.rows.searchsorted(number))


def closely(
    trees: Trees, base_score_weight: tuple[float, float], columns: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Log-odds of sentences from what is measured of them, ``(n,)`` float32.

    Args:
        trees: the learned ones.
        base_score_weight: see ``Fusion.base_score_weight``.
        columns: ``(n, len(FEATURES))``.
    """
    score = trees.predict(columns)
    for name, weight in zip(_STEADY, base_score_weight, strict=True):
        score += weight * columns[:, _COLUMN[name]]
    return score


def reranked(
    cosines: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    numbers: Reranking,
    known: float = 1.0,
) -> NDArray[np.float32]:
    """What the second reading adds to each sentence's log-odds, ``(n,)`` float32, 0 or more.

    Args:
        cosines: ``(n,)``, NaN for what was not read.
        document_offsets: first sentence of each document, and ``n``.
        numbers: the weight, what counts of a cosine, and its neighbours' share.
        known: how well the tokenizer knows what was read, 0–1.
    """
    import numpy as np

    read = ~np.isnan(cosines)
    own = np.where(read, cosines, 0.0).astype(np.float32)
    count = np.maximum(windowed(read.astype(np.float32), document_offsets, _NEAR), 1.0)
    mean = windowed(own, document_offsets, _NEAR) / count
    above = (
        (1.0 - numbers.neighbour_share) * own + numbers.neighbour_share * mean - numbers.min_cosine
    )
    added: NDArray[np.float32] = np.where(
        read, known * numbers.weight * np.maximum(above, 0.0), 0.0
    )
    return added.astype(np.float32)


_NEAR = 3
_COLUMN = {name: number for number, name in enumerate(FEATURES)}
_STEADY = ("fused", "paragraph best")


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))
