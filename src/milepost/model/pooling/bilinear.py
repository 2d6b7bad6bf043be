"""Fusions of a query with each state; the reference is ``milepost.pooling.bilinear``."""

from __future__ import annotations

from torch import Tensor

from milepost.model.pooling.fusion import fuse
from milepost.model.pooling.module import PoolModule, masked_max, masked_mean
from milepost.pooling.bilinear import METHODS


class Fused(PoolModule):
    """``mcb``, ``mlb``, ``mfb``, ``mfh``, ``mutan`` and ``block``.

    Queries may be ``(texts, d)`` or ``(texts, q, d)``, see ``xpool.Conditioned``: either side goes
    through its maps once, however many pairs there are.
    """

    def pool(self, states: Tensor, mask: Tensor, queries: Tensor | None, _: Tensor) -> Tensor:
        """See ``milepost.pooling.bilinear``."""
        assert queries is not None  # the operator needs them
        weights = dict([*self.named_parameters(), *self.named_buffers()])
        if queries.ndim == 2:
            fused = fuse(self.operator.name, queries[:, None], states, self.settings, weights)
            return self._over(fused, mask)
        pairs = queries[:, :, None], states[:, None]
        fused = fuse(self.operator.name, *pairs, self.settings, weights)  # (b, q, n, out)
        every = mask[:, None].expand(fused.shape[:3]).flatten(0, 1)
        return self._over(fused.flatten(0, 1), every).unflatten(0, fused.shape[:2])

    def _over(self, fused: Tensor, mask: Tensor) -> Tensor:
        if self.settings["over"] == "max":
            return masked_max(fused, mask)
        # Biases make something of padding.
        return masked_mean(fused * mask[..., None], mask)


MODULES: dict[str, type[PoolModule]] = dict.fromkeys(METHODS, Fused)
