"""AdaPool; the reference is ``milepost_lab.pooling.adaptive``."""

from __future__ import annotations

from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, last_state, masked_mean
from milepost_train.model.attention import attend, bias_of, split_heads


class AdaPool(PoolModule):
    """``adapool``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.adaptive.adapool``."""
        heads = int(self.settings["heads"])
        asking = self._asking(states, mask)
        mixed = attend(
            split_heads((asking @ self.weight("query_map"))[:, None], heads),
            split_heads(states @ self.weight("key_map"), heads),
            split_heads(states @ self.weight("value_map"), heads),
            bias_of(mask[:, None, None], states.dtype),
        )
        found = mixed[:, 0] @ self.weight("out_map")
        return found + asking if self.settings["residual"] else found

    def _asking(self, states: Tensor, mask: Tensor) -> Tensor:
        """Compute the query state ``x_q``, ``(texts, d)``."""
        if self.settings["query"] == "first":
            return states[:, 0]
        return (masked_mean if self.settings["query"] == "mean" else last_state)(states, mask)


MODULES: dict[str, type[PoolModule]] = {"adapool": AdaPool}
