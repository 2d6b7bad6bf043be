"""Mean of the largest values; the reference is ``milepost_lab.pooling.top_k``."""

from __future__ import annotations

import torch
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, masked_mean


class TopK(PoolModule):
    """``top-k``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.top_k.top_k``."""
        shown = states.masked_fill(~mask[..., None], -torch.inf)
        # Not topk: it fails for texts of fewer than k tokens; min(k, n) would be fixed in a graph.
        falling = torch.sort(shown, dim=1, descending=True).values
        kept = mask & (torch.cumsum(mask.long(), 1) <= int(self.settings["k"]))
        return masked_mean(falling.masked_fill(~kept[..., None], 0.0), kept)


MODULES: dict[str, type[PoolModule]] = {"top-k": TopK}
