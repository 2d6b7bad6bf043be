"""The wiring of P2AT's blocks: as published, or with each error of the code corrected.

Every flag is one entry of the list of flaws in ``docs/pooling/p2at.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Wiring:
    """One flag for each flaw; by default all are corrected.

    Attributes:
        middle: the pyramid's second average is used; as published the first stands there twice.
        interleave: each group of the mixing reads the scales of its own channel; as published it
            reads three channels of (mostly) one scale.
        masked: averages, means and attention know which cells are there.
        per_image: each channel is normed over the cells of its own image; as published over those
            of the whole batch.
        alike: the projections of rows and columns are the same; as published only the rows' has
            norm and activation.
        bounded: attention is squeezed to 0 … 1 before it multiplies the local branch, as in
            SeaFormer; as published it is not.
        scaled: position tables begin at 0.02 of N(0, 1); as published at N(0, 1).
        live: no weight of the global context is beyond the reach of gradients, and the upper
            level's gate is a sigmoid; as published 3x3 and 7x7 kernels meet a map of one cell, and
            a softmax over channels makes the gate 1/channels.
    """

    middle: bool = True
    interleave: bool = True
    masked: bool = True
    per_image: bool = True
    alike: bool = True
    bounded: bool = True
    scaled: bool = True
    live: bool = True


CORRECTED = Wiring()
PUBLISHED = Wiring(False, False, False, False, False, False, False, False)


class CellNorm(nn.Module):
    """Layer norm over the channels of each cell."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x: Tensor) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        normed: Tensor = self.norm(x.movedim(1, -1)).movedim(-1, 1)
        return normed


class Norm(nn.Module):
    """The norm of a wiring, with a learned scale and shift for each channel.

    Args:
        channels: in and out.
        wiring: see there.
    """

    def __init__(self, channels: int, wiring: Wiring) -> None:
        super().__init__()
        self.batch = None if wiring.per_image else nn.BatchNorm2d(channels)
        if self.batch is None:
            self.scale = nn.Parameter(torch.ones(channels, 1, 1))
            self.shift = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x: Tensor, there: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out; ``there`` as from ``cells``, None for all cells."""
        if self.batch is not None:
            normed: Tensor = self.batch(x)
            return normed
        if there is None:
            there = torch.ones_like(x[:, :1])
        count = there.sum((2, 3), keepdim=True).clamp(min=1)
        off = (x - (x * there).sum((2, 3), keepdim=True) / count) * there
        spread = off.square().sum((2, 3), keepdim=True) / count
        return off * torch.rsqrt(spread + 1e-5) * self.scale + self.shift


def cells(x: Tensor, mask: Tensor | None, wiring: Wiring) -> Tensor:
    """Which cells are there, ``(b, 1, h, w)`` in the type of ``x``; all without a mask."""
    if mask is None or not wiring.masked:
        return torch.ones_like(x[:, :1])
    return mask[:, None].to(x.dtype)
