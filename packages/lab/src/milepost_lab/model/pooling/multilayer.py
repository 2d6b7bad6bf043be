"""Trained latents over layers; the reference is ``milepost_lab.pooling.multilayer``."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.layer_weights import summaries
from milepost_lab.model.pooling.module import PoolModule, masked_softmax
from milepost_lab.model.pooling.neighbours import rms_scaled


class MultiLayer(PoolModule):
    """``multilayer``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.multilayer.multilayer``."""
        keys, readable = self._keys(states, mask)
        latents, heads = self.weight("latents"), self.settings["heads"]
        asked = self.layer_norm(latents, "norm_latents") @ self.weight("to_query")
        read = self.layer_norm(keys, "norm_keys") @ self.weight("to_key_value")
        asked = asked.view(len(latents), heads, -1)
        key, value = read.view(*read.shape[:2], 2, heads, -1).unbind(2)
        scores = torch.einsum("bkhc,rhc->bkrh", key, asked) / math.sqrt(asked.shape[-1])
        share = masked_softmax(scores, readable[..., None, None])
        mixed = torch.einsum("bkrh,bkhc->brhc", share, value).flatten(2)
        found = mixed @ self.weight("to_out")
        if self.settings["residual"]:
            found = found + latents
        if self.settings["widen"]:
            found = found + self._feed_forward(self.layer_norm(found, "norm_wide"))
        return found.mean(1)

    def _keys(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Build keys ``(texts, keys, d)``, and the mask of keys that exist."""
        if self.settings["keys"] == "layers":
            found = summaries(states, mask, self.settings["summary"])
            readable = torch.ones_like(found[..., 0], dtype=torch.bool)
        else:
            found = states
            readable = mask[..., None].expand(states.shape[:3]).flatten(1)
        if self.settings["normalised"]:
            found = rms_scaled(found)
        if self.settings["layer_table"] != "none":
            found = found + self.weight("layer_table")
        return found.view(len(found), -1, self.width), readable

    def _feed_forward(self, values: Tensor) -> Tensor:
        wide = values @ self.weight("wide") + self.weight("wide_shift")
        value, gate = wide.chunk(2, -1)
        return value * F.gelu(gate) @ self.weight("narrow") + self.weight("narrow_shift")


MODULES: dict[str, type[PoolModule]] = {"multilayer": MultiLayer}
