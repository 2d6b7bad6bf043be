"""Fusions of a query with each state; the reference is ``milepost_lab.pooling.bilinear``."""

from __future__ import annotations

import torch
from torch import Tensor

from milepost_lab.model.pooling.fusion import fuse
from milepost_lab.model.pooling.module import PoolModule
from milepost_lab.model.pooling.xpool import Conditioned
from milepost_lab.pooling.bilinear import METHODS


class Fused(Conditioned):
    """``mcb``, ``mlb``, ``mfb``, ``mfh``, ``mutan`` and ``block``.

    Each side is projected only once, whatever the number of pairs.
    """

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.bilinear``."""
        weights = dict([*self.named_parameters(), *self.named_buffers()])
        pairs = queries[:, :, None], states[:, None]
        fused = fuse(self.operator.name, *pairs, self.settings, weights)  # (b, q, n, out)
        there = mask[:, None, :, None]
        if self.settings["over"] == "max":
            return fused.masked_fill(~there, -torch.inf).amax(2)
        # Biases make padding non-zero.
        return (fused * there).sum(2) / there.sum(2)


MODULES: dict[str, type[PoolModule]] = dict.fromkeys(METHODS, Fused)
