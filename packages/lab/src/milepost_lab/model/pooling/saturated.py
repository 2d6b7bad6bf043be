"""Log-saturated weights of terms; the reference is ``milepost_lab.pooling.saturated``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule


class Splade(PoolModule):
    """``splade``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.saturated.splade``."""
        dense = F.gelu(states @ self.weight("dense") + self.weight("dense_bias"))
        logits = self.layer_norm(dense, "dense") @ self.weight("terms").T
        # The bias gives padding non-zero weights. Masking with 0 also suits the maximum: weights
        # are never negative.
        weights = torch.log1p(F.relu(logits + self.weight("terms_bias"))) * mask[..., None]
        return weights.amax(1) if self.settings["join"] == "max" else weights.sum(1)


MODULES: dict[str, type[PoolModule]] = {"splade": Splade}
