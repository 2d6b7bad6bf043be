"""GeM and GGeM; the reference is ``milepost_lab.pooling.ggem``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule
from milepost_lab.pooling.ggem import FLAT, LEAST, MOST, middle


class Ggem(PoolModule):
    """``gem`` and ``ggem``."""

    def exponents(self) -> Tensor:
        """The exponent of each group, ``(groups,)``; see ``pooling.ggem.exponents``."""
        groups = int(self.settings.get("groups", 1))
        shift = self.weight("shift") if self.settings["learn"] else torch.zeros(groups)
        angle = middle(self.settings["power"]) + shift
        each: Tensor = LEAST * (MOST / LEAST) ** ((1 + torch.sin(angle)) / 2)
        return each

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.ggem.power_means``."""
        each = self.exponents().to(states.device)
        if self.settings.get("channels") == "shuffled":
            power = each[self.weight("group").long()]
        else:
            power = each.repeat_interleave(self.width // len(each))
        sign, size = self._magnitudes(states)
        scaled = power * torch.log(size.clamp(min=float(self.settings["eps"])))
        scaled = scaled.masked_fill(~mask[..., None], -torch.inf)
        # The maximum is subtracted and added back; for the gradient it is a constant.
        top = scaled.detach().amax(1, keepdim=True)
        total = (sign * torch.exp(scaled - top)).sum(1)
        size = total.abs().clamp(min=FLAT).log() + top[:, 0] - mask.sum(1).log()[:, None]
        pooled: Tensor = (total / FLAT).clamp(-1, 1) * torch.exp(size / power)
        return pooled

    def _magnitudes(self, states: Tensor) -> tuple[Tensor | float, Tensor]:
        form = self.settings["form"]
        if form == "signed":
            return torch.sign(states), states.abs()
        return 1.0, states if form == "clamp" else F.softplus(states)


MODULES: dict[str, type[PoolModule]] = {"gem": Ggem, "ggem": Ggem}
