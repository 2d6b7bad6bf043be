"""Mean, max, first, last, landmarks and attention; the reference is ``pooling.plain``."""

from __future__ import annotations

from torch import Tensor

from milepost_lab.model.pooling.module import (
    PoolModule,
    closes,
    last_state,
    masked_max,
    masked_mean,
    masked_softmax,
)


class Mean(PoolModule):
    """``mean``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.plain.mean``."""
        return masked_mean(states, mask)


class Max(PoolModule):
    """``max``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.plain.greatest``."""
        return masked_max(states, mask)


class First(PoolModule):
    """``cls``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.plain.first``."""
        return states[:, 0]


class Last(PoolModule):
    """``last``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.plain.last``."""
        return last_state(states, mask)


class Landmarks(PoolModule):
    """``lmk``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, segments: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.plain.landmarks``."""
        closing = closes(mask, segments)
        return masked_mean(states * closing[..., None], closing)


class Attention(PoolModule):
    """``attention``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.plain.attention``."""
        # Not a matrix-vector product, whose vector OpenVINO treats as a matrix at some widths.
        scores = (states * self.weight("query")).sum(-1) / float(self.settings["temperature"])
        return (masked_softmax(scores, mask)[..., None] * states).sum(1)


MODULES: dict[str, type[PoolModule]] = {
    "mean": Mean,
    "max": Max,
    "cls": First,
    "last": Last,
    "lmk": Landmarks,
    "attention": Attention,
}
