"""Distillation of the scores that come with the pairs, usually from a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from milepost_train.choices import Distillation
from milepost_train.data import Pair
from milepost_train.losses import divergence, listwise, margin_error
from milepost_train.needs import need


@dataclass(frozen=True, slots=True)
class Given:
    """The scored passages of each query of a step, the right one first.

    Attributes:
        places: ``(q, G)`` int64, their columns; -1 fills a short row.
        scores: ``(q, G)`` float32; 0 where the place is -1.
    """

    places: Tensor
    scores: Tensor

    @staticmethod
    def of(rows: Sequence[Sequence[tuple[int, float]]]) -> Given:
        """From columns with scores; a row of fewer than two says nothing and is left empty."""
        kept = [list(row) if len(row) > 1 else [] for row in rows]
        width = max(1, *map(len, kept))
        filled = [row + [(-1, 0.0)] * (width - len(row)) for row in kept]
        return Given(
            torch.tensor([[place for place, _ in row] for row in filled]),
            torch.tensor([[score for _, score in row] for row in filled]),
        )

    def distance(
        self,
        kind: Distillation,
        found: Tensor,
        right: Tensor,
        temperature: float,
        teacher_temperature: float = 1.0,
    ) -> Tensor:
        """How far the student's scores are from the given ones, mean over queries that have some.

        Args:
            kind: see ``Distillation``.
            found: ``(q, n)`` cosines of the student.
            right: ``(q, n)`` bool: passages that answer a query are none of its rivals.
            temperature: divides the cosines, which brings them to the size of log-odds.
            teacher_temperature: divides the given scores, which are log-odds at 1.
        """
        places = self.places.to(found.device)
        scores = self.scores.to(found.device) / teacher_temperature
        used = places >= 0
        if kind == "listwise":
            return listwise(found, places, scores, temperature, known=right)
        own = found.gather(1, places.clamp(min=0))
        if kind == "kl":
            return divergence(own, scores, used, temperature)
        first = torch.zeros_like(used)
        first[:, 0] = True
        return margin_error(own / temperature, scores, used & first, used & ~first)


def need_scores(pairs: Sequence[Pair], weight: float) -> None:
    """Refuse pairs of which none has scores, where they are learned.

    Raises:
        InputError: with what a line has to hold.
    """
    need(
        not weight or any(len(pair.scores) > 1 for pair in pairs),
        "scores are to be learned, and no line of pairs has them for its negatives",
        'write "scores": [of the passage, of each negative] into lines, or set scores to 0',
    )
