"""Plain poolings: mean, max, first, last, landmarks, a learned direction, top-k."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from milepost_lab.pooling.base import (
    Pooling,
    check,
    closes,
    last_state,
    masked_max,
    masked_mean,
    masked_softmax,
)


class Mean(Pooling):
    """Mean of all states."""

    name, title, equation = "mean", "mean of all states", "z = (1/n) Σ x_i"

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        return masked_mean(states, mask)


class Max(Pooling):
    """Greatest value of each channel."""

    name, title, equation = "max", "greatest value of each channel", "z_j = max_i x_ij"

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        return masked_max(states, mask)


class First(Pooling):
    """The first state: ``[CLS]`` where texts begin with it."""

    name, title, equation, ordered = "cls", "the first state", "z = x_1", True

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        return states[:, 0]


class Last(Pooling):
    """The last state, as causal models have it."""

    name, title, equation, ordered = "last", "the last state", "z = x_n", True

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        return last_state(states, mask)


class Landmarks(Pooling):
    """LMK pooling: mean of the states that close a segment (arXiv 2601.21525)."""

    name, title = "lmk", "mean of the states that close a segment"
    paper, equation = "2601.21525", "z = (1/m) Σ x_l, l closes a segment"
    needs, ordered = frozenset({"segments"}), True

    def forward(self, states: Tensor, mask: Tensor, *, segments: Tensor) -> Tensor:
        """See ``Pooling``."""
        return masked_mean(states, closes(mask, segments))


class Attention(Pooling):
    """Mean weighted by a learned direction, which begins at 0: the plain mean."""

    name, title = "attention", "mean weighted by a learned direction"
    equation = "z = Σ a_i x_i, a = softmax(x·w/τ)"

    def __init__(self, width: int, *, temperature: float = 1.0) -> None:
        super().__init__(width)
        check(temperature > 0, self.name, f"temperature={temperature}", "a number above 0")
        self.query = nn.Parameter(torch.zeros(width))
        self.temperature = temperature

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        # Not a matrix-vector product, whose vector OpenVINO treats as a matrix at some widths.
        scores = (states * self.query).sum(-1) / self.temperature
        return (masked_softmax(scores, mask)[..., None] * states).sum(1)


class TopK(Pooling):
    """Mean of the k greatest values of each channel (arXiv 1404.2188)."""

    name, title, paper = "top-k", "mean of the k greatest values of each channel", "1404.2188"
    equation = "z_j = (1/k) Σ x_ij over the k greatest x_ij, k = min(k, n)"

    def __init__(self, width: int, *, k: int = 4) -> None:
        super().__init__(width)
        check(k >= 1, self.name, f"k={k}", "1 or more")
        self.k = k

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        shown = states.masked_fill(~mask[..., None], -torch.inf)
        # Not topk: it fails for texts of fewer than k tokens; min(k, n) would be fixed in a graph.
        falling = torch.sort(shown, dim=1, descending=True).values
        kept = mask & (torch.cumsum(mask.long(), 1) <= self.k)
        return masked_mean(falling.masked_fill(~kept[..., None], 0.0), kept)


POOLINGS = (Mean, Max, First, Last, Landmarks, Attention, TopK)
