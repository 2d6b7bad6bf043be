"""GeM (arXiv 1711.02512) and group generalized mean pooling, GGeM (arXiv 2212.04114)."""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import Pooling, check

LEAST, MOST = 1.0, 20.0
"""Bounds of the exponent: beyond 20 only the greatest state gets a gradient."""
FLAT = 1e-3

Form = Literal["clamp", "softplus", "signed"]


def power_mean(
    states: Tensor, mask: Tensor, power: Tensor, form: Form = "clamp", eps: float = 1e-6
) -> Tensor:
    """Equation 1 in the log domain: ``((1/n) Σ x^p)^(1/p)``, ``(texts, n, d)`` → ``(texts, d)``.

    In half precision 50³ is infinite and 0.001³ is 0; logarithms have neither fault.

    Args:
        states: float32.
        mask: ``(texts, n)`` bool; padding is neither clamped nor counted.
        power: ``(d,)``, above 0.
        form: how signed states become positive: ``clamp`` as published, ``softplus``, or
            ``signed``, the root of ``mean sign(x) |x|^p`` with its sign.
        eps: lower bound of the numbers.
    """
    sign: Tensor | float = 1.0
    if form == "signed":
        sign, size = torch.sign(states), states.abs()
    else:
        size = states if form == "clamp" else F.softplus(states)
    scaled = power * torch.log(size.clamp(min=eps))
    scaled = scaled.masked_fill(~mask[..., None], -torch.inf)
    # The maximum is subtracted and added back; for the gradient it is a constant.
    top = scaled.detach().amax(1, keepdim=True)
    total = (sign * torch.exp(scaled - top)).sum(1)
    logs = total.abs().clamp(min=FLAT).log() + top[:, 0] - mask.sum(1).log()[:, None]
    # Near 0 the root's slope is infinite: below FLAT the signed form goes through 0 on a line.
    found: Tensor = (total / FLAT).clamp(-1, 1) * torch.exp(logs / power)
    return found


class GGeM(Pooling):
    """Power mean with an exponent for each group of channels.

    The trained number shifts an angle, so that the exponent stays within 1 to 20 and training can
    always move it back: a clamp has a gradient of 0 and a sigmoid saturates.

    Args:
        width: d.
        groups: G, which divides d.
        channels: groups of neighbours, or drawn at random once: the control of the paper's reason.
        form, eps: see ``power_mean``.
        power: the initial exponent.
        learn: train the exponents.
    """

    name, paper = "ggem", "2212.04114"
    title = "power mean with a trained exponent for each group of channels"
    equation = "z_j = ((1/n) Σ max(x_ij, eps)^p_g)^(1/p_g), g the group of j"

    def __init__(
        self,
        width: int,
        *,
        groups: int = 8,
        channels: Literal["neighbours", "shuffled"] = "neighbours",
        form: Form = "clamp",
        power: float = 3.0,
        learn: bool = True,
        eps: float = 1e-6,
    ) -> None:
        super().__init__(width)
        check(
            groups >= 1 and width % groups == 0,
            self.name,
            f"{width} channels cannot be cut into {groups} groups of one size",
            "a divisor of the width",
        )
        check(LEAST <= power <= MOST, self.name, f"power={power}", f"{LEAST:g} to {MOST:g}")
        self.form, self.eps = form, eps
        self.angle = math.asin(2 * math.log(power / LEAST) / math.log(MOST / LEAST) - 1)
        self.shift = nn.Parameter(torch.zeros(groups), requires_grad=learn)
        group = torch.arange(groups).repeat_interleave(width // groups)
        if channels == "shuffled":
            group = group[torch.randperm(width)]
        self.register_buffer("group", group)

    def exponents(self) -> Tensor:
        """The exponent of each group, ``(groups,)``."""
        sine = torch.sin(self.angle + self.shift)
        found: Tensor = LEAST * (MOST / LEAST) ** ((1 + sine) / 2)
        return found

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        return power_mean(states, mask, self.exponents()[self.group], self.form, self.eps)


class GeM(GGeM):
    """Power mean with one exponent."""

    name, title, paper = "gem", "power mean with one trained exponent", "1711.02512"
    equation = "z_j = ((1/n) Σ max(x_ij, eps)^p)^(1/p)"

    def __init__(
        self,
        width: int,
        *,
        form: Form = "clamp",
        power: float = 3.0,
        learn: bool = True,
        eps: float = 1e-6,
    ) -> None:
        super().__init__(width, groups=1, form=form, power=power, learn=learn, eps=eps)


POOLINGS = (GeM, GGeM)
