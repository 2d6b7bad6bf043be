"""WordPool in torch; the reference is ``milepost_lab.pooling.wordpool``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule
from milepost_lab.pooling.wordpool import EPSILON
from milepost_train.model.attention import attend, bias_of, split_heads


class WordPool(PoolModule):
    """``wordpool``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.wordpool.wordpool``."""
        read = self.prefixes(states, mask)
        return read.mean(1) if self.settings["join"] == "mean" else read.flatten(1)

    def prefixes(self, states: Tensor, mask: Tensor) -> Tensor:
        """Compute the prefixes' states: ``(texts, n, d)``, ``(texts, n)`` → ``(texts, p, d)``."""
        count, layers = int(self.settings["prefixes"]), int(self.settings["layers"])
        prefix = self.weight("prefix").expand(states.shape[0], -1, -1)
        row = torch.cat([prefix, states], 1)
        bias = bias_of(self.allowed(mask)[:, None], row.dtype)
        for layer in range(layers):
            row = self._layer(row, bias, layer, count if layer == layers - 1 else None)
        return F.layer_norm(
            row, (self.width,), self.weight("last_gain"), self.weight("last_shift"), EPSILON
        )

    def allowed(self, mask: Tensor) -> Tensor:
        """Build the attention mask, ``(texts, p + n, p + n)`` bool, which excludes padding."""
        count = int(self.settings["prefixes"])
        keys = torch.cat([torch.ones_like(mask[:, :1]).expand(-1, count), mask], 1)
        return keys[:, None, :].expand(-1, count + mask.shape[1], -1)

    def _layer(self, row: Tensor, bias: Tensor, layer: int, asking: int | None) -> Tensor:
        """Apply one layer; returns the first ``asking`` positions, or all if None."""
        heads = int(self.settings["heads"])
        seen = self._norm(row, layer, 0)
        query, key, value = (
            split_heads(rows @ self.weight(name)[layer], heads)
            for rows, name in ((seen[:, :asking], "query"), (seen, "key"), (seen, "value"))
        )
        mixed = attend(query, key, value, bias[:, :, :asking]) @ self.weight("out")[layer]
        row = row[:, :asking] + mixed
        wide = self._norm(row, layer, 1) @ self.weight("widen")[layer]
        inner = F.gelu(wide + self.weight("widen_shift")[layer], approximate="tanh")
        return row + inner @ self.weight("narrow")[layer] + self.weight("narrow_shift")[layer]

    def _norm(self, row: Tensor, layer: int, which: int) -> Tensor:
        gain, shift = self.weight("gain")[layer, which], self.weight("shift")[layer, which]
        return F.layer_norm(row, (self.width,), gain, shift, EPSILON)


MODULES: dict[str, type[PoolModule]] = {"wordpool": WordPool}
