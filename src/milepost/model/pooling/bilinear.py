"""Fusions of a query with each state; the reference is ``milepost.pooling.bilinear``."""

from __future__ import annotations

from torch import Tensor

from milepost.model.pooling.fusion import fuse
from milepost.model.pooling.module import PoolModule, masked_max, masked_mean
from milepost.pooling.bilinear import METHODS


class Fused(PoolModule):
    """``mcb``, ``mlb``, ``mfb``, ``mfh``, ``mutan`` and ``block``."""

    def pool(self, states: Tensor, mask: Tensor, queries: Tensor | None, _: Tensor) -> Tensor:
        """See ``milepost.pooling.bilinear``."""
        assert queries is not None  # the operator needs them
        weights = dict([*self.named_parameters(), *self.named_buffers()])
        fused = fuse(self.operator.name, queries[:, None], states, self.settings, weights)
        if self.settings["over"] == "max":
            return masked_max(fused, mask)
        # Biases make something of padding.
        return masked_mean(fused * mask[..., None], mask)


MODULES: dict[str, type[PoolModule]] = dict.fromkeys(METHODS, Fused)
