"""Latent attention of NV-Embed; the reference is ``milepost_lab.pooling.latent_attention``."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, masked_mean
from milepost_train.model.attention import attend, split_heads


class LatentAttention(PoolModule):
    """``latent-attention``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.latent_attention.latent_attention``."""
        # Padding has attended to the latents, so it is no longer 0.
        return masked_mean(self.read(states) * mask[..., None], mask)

    def read(self, states: Tensor) -> Tensor:
        """Compute ``y`` of each token, ``(texts, n, d)`` → ``(texts, n, d)``."""
        heads = int(self.settings["heads"])
        latents = self._normed(self.weight("latents"), "latents")
        latents = latents.expand(states.shape[0], -1, -1)
        mixed = attend(
            split_heads(self._normed(states, "states") @ self.weight("query_map"), heads),
            split_heads(latents @ self.weight("key_map"), heads),
            split_heads(latents @ self.weight("value_map"), heads),
            None,
        )
        found = mixed @ self.weight("out_map")
        if self.settings["residual"]:
            found = found + states
        wide = self._normed(found, "found") @ self.weight("widen") + self.weight("widen_bias")
        result = F.gelu(wide) @ self.weight("narrow") + self.weight("narrow_bias")
        return result + found if self.settings["residual"] else result

    def _normed(self, values: Tensor, name: str) -> Tensor:
        return self.layer_norm(values, name) if self.settings["norms"] else values


MODULES: dict[str, type[PoolModule]] = {"latent-attention": LatentAttention}
