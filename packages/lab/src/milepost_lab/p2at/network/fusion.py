"""What stands around P2AT's block: levels joined, global context, a decoder (arXiv 2310.15025)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from milepost_lab.p2at.network.wiring import CORRECTED, CellNorm, Norm, Wiring


class Fusion(nn.Module):
    """Three levels made one at the finest's size: bidirectional fusion (BiF).

    ``norm(conv[d, u, s]) + s·u + σ(s·d)`` with ``d`` a mix of the fine level's mean and its local
    gate, ``u`` the upper level under a gate, ``s`` the level between.

    Args:
        fine: channels of the fine level.
        between: of the level between.
        upper: of the upper.
        channels: of what comes out.
        wiring: see there.
    """

    def __init__(
        self, fine: int, between: int, upper: int, channels: int, wiring: Wiring = CORRECTED
    ) -> None:
        super().__init__()
        self.wiring = wiring
        self.local = nn.Conv2d(fine, fine, 1)
        self.mix = nn.Conv2d(2 * fine, channels, 1)
        self.upper = nn.Conv2d(upper, channels, 1)
        self.between = nn.Sequential(nn.Conv2d(between, channels, 1), Norm(channels, wiring))
        self.join = nn.Sequential(nn.Conv2d(3 * channels, channels, 1), Norm(channels, wiring))

    def forward(self, fine: Tensor, between: Tensor, upper: Tensor) -> Tensor:
        """Maps ``(b, c_i, h_i, w_i)`` in, ``(b, channels, h, w)`` of the fine one's size out."""
        mean = fine.mean((2, 3), keepdim=True).expand_as(fine)
        d = self.mix(torch.cat([mean, torch.sigmoid(self.local(fine))], 1))
        u = self.upper(upper)
        u = u * (torch.sigmoid(u) if self.wiring.live else torch.softmax(u, 1))
        s = self.between(between)
        s, u = (
            F.interpolate(part, d.shape[2:], mode="bilinear", align_corners=False)
            for part in (s, u)
        )
        joined: Tensor = self.join(torch.cat([d, u, s], 1)) + s * u + torch.sigmoid(s * d)
        return joined


class GlobalContext(nn.Module):
    """``x + conv(scale(conv(mean of x)))`` (GCE).

    A kernel over a map of one cell meets padding everywhere but in its middle: as published 229,376
    of 237,568 weights never move.

    Args:
        channels: in and out.
        wiring: see there.
    """

    def __init__(self, channels: int, wiring: Wiring = CORRECTED) -> None:
        super().__init__()
        first, second = (1, 1) if wiring.live else (3, 7)
        self.first = nn.Conv2d(channels, channels, first, padding=first // 2)
        # Batch norm over a single cell of a single image has no variance; here it is always this.
        self.scale = CellNorm(channels)
        self.second = nn.Conv2d(channels, channels, second, padding=second // 2)

    def forward(self, x: Tensor) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        found: Tensor = self.second(self.scale(self.first(x.mean((2, 3), keepdim=True))))
        return x + found


class Decoder(nn.Module):
    """``x + γ · MLP(depthwise conv(x))``, ``γ`` from 1e-6.

    Args:
        channels: in and out.
        kernel: of the depthwise convolution: 3, 5 or 7 in the paper.
        expansion: of the MLP.
    """

    def __init__(self, channels: int, kernel: int = 7, expansion: int = 4) -> None:
        super().__init__()
        self.around = nn.Conv2d(channels, channels, kernel, padding=kernel // 2, groups=channels)
        self.inward = nn.Conv2d(channels, expansion * channels, 1)
        self.outward = nn.Conv2d(expansion * channels, channels, 1)
        self.gamma = nn.Parameter(torch.full((channels, 1, 1), 1e-6))

    def forward(self, x: Tensor) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        found: Tensor = self.outward(F.hardswish(self.inward(self.around(x))))
        return x + self.gamma * found
