"""``hierarchy`` in torch; the reference is ``milepost_lab.pooling.hierarchy``."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from milepost_lab.model.pooling.module import PoolModule, masked_mean
from milepost_lab.model.pooling.neighbours import paired, rms_scaled
from milepost_lab.pooling.hierarchy import joins


class Hierarchy(PoolModule):
    """``hierarchy``; one module runs all placements, since no weight depends on them."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.hierarchy.hierarchy``."""
        placement = self.settings["placement"]
        return self.placed(states, mask, placement, joins(self.settings["join"], placement))

    def placed(
        self, states: Tensor, mask: Tensor, placement: tuple[int, ...], how: tuple[str, ...]
    ) -> Tensor:
        """Pool with other halvings than those of the settings.

        Args:
            states: ``(texts, n, d)``, 0 beyond the mask.
            mask: ``(texts, n)`` bool.
            placement: blocks at each level; as many in sum as the module has.
            how: the join of each halving; ``attention`` only if the module was made with it, for at
                least as many halvings.

        Returns:
            ``(texts, d)``.
        """
        block = 0
        for level, blocks in enumerate(placement):
            if level:
                join = how[level - 1]
                score = self.weight("score")[level - 1] if join == "attention" else None
                states, mask = paired(states, mask, join, score)
            for _ in range(blocks):
                states = self._mixed(states, mask, block)
                block += 1
        return masked_mean(states, mask)

    def _mixed(self, states: Tensor, mask: Tensor, block: int) -> Tensor:
        kernel = self.weight("kernel")[block].t()[:, None]
        scaled = rms_scaled(states).transpose(1, 2)
        near = F.conv1d(scaled, kernel, padding=1, groups=self.width).transpose(1, 2)
        inner = F.silu(near @ self.weight("inward")[block] + self.weight("bias")[block])
        return states + (inner @ self.weight("outward")[block]) * mask[..., None]


MODULES: dict[str, type[PoolModule]] = {"hierarchy": Hierarchy}
