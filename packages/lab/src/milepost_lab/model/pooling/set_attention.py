"""Pooling by multihead attention; the reference is ``milepost_lab.pooling.set_attention``."""

from __future__ import annotations

import math

import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule
from milepost_train.model.attention import attend, bias_of, split_heads


class Pma(PoolModule):
    """``pma``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.set_attention.pma``."""
        heads = int(self.settings["heads"])
        read = self._feed(states, "states") if self.settings["feed_states"] else states
        seeds = self.weight("seeds").expand(states.shape[0], -1, -1)
        query = split_heads(seeds @ self.weight("query_map") / math.sqrt(heads), heads)
        key = split_heads(read @ self.weight("key_map"), heads)
        value = split_heads(read @ self.weight("value_map"), heads)
        bias = bias_of(mask[:, None, None].expand(-1, -1, seeds.shape[1], -1), read.dtype)
        found = seeds + attend(query, key, value, bias) @ self.weight("out_map")
        if self.settings["norms"]:
            found = self.layer_norm(found, "attended")
        found = found + self._feed(found, "found")
        if self.settings["norms"]:
            found = self.layer_norm(found, "final")
        return found.mean(1)

    def _feed(self, values: Tensor, name: str) -> Tensor:
        return F.relu(values @ self.weight(f"{name}_map") + self.weight(f"{name}_bias"))


MODULES: dict[str, type[PoolModule]] = {"pma": Pma}
