"""A segmenter of images around P2AT's block (arXiv 2310.15025), and its rivals by name.

    5. BiF joins three levels; GCE adds the global mean; the decoder is a large kernel

Equations 1 to 4 are in ``model``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from milepost.errors import InputError, nearest
from milepost_lab.p2at.model import CORRECTED, PUBLISHED, Block, Norm, PyramidAttention, Wiring


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


class CellNorm(nn.Module):
    """Layer norm over the channels of each cell."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x: Tensor) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        normed: Tensor = self.norm(x.movedim(1, -1)).movedim(-1, 1)
        return normed


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


LEVELS = (8, 16, 32)
"""Channels at a half, a quarter and (again) a quarter of an image's size."""

HEADS, KEY = 4, 8
"""Of the squeezed attention; the paper has 8 and 16 for 64 channels."""


class GlobalMean(nn.Module):
    """The mean of a map at each of its cells, through a 1x1 convolution."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.mix = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor, _: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        mixed: Tensor = self.mix(x.mean((2, 3), keepdim=True).expand_as(x))
        return mixed


class Average(nn.Module):
    """The mean of a 3x3 window, less the cell itself."""

    def forward(self, x: Tensor, _: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        return F.avg_pool2d(x, 3, 1, 1, count_include_pad=False) - x


class FullAttention(nn.Module):
    """Attention of every cell to every cell, with a learned vector for each place.

    Args:
        channels: in and out.
        cells: of the map.
        heads: of the attention.
    """

    def __init__(self, channels: int, cells: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(channels)
        self.position = nn.Parameter(0.02 * torch.randn(cells, channels))
        self.inward = nn.Linear(channels, 3 * channels)
        self.outward = nn.Linear(channels, channels)

    def forward(self, x: Tensor, _: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        given = self.inward(self.norm(x.flatten(2).transpose(1, 2)) + self.position)
        q, k, v = given.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.outward(found).transpose(1, 2).reshape(x.shape)


@dataclass(frozen=True, slots=True)
class Arm:
    """A mixer of the coarse map.

    Attributes:
        help: what it is, a few words.
        kind: ``p2at``, ``none``, ``mean``, ``average`` or ``full``.
        wiring: of the block, the global context and the fusion: only arms of one wiring differ in
            the mixer alone.
        options: of ``PyramidAttention``.
    """

    help: str
    kind: str = "p2at"
    wiring: Wiring = CORRECTED
    options: Mapping[str, bool] | None = None


ARMS: dict[str, Arm] = {
    "published": Arm("P2AT as published", wiring=PUBLISHED),
    "corrected": Arm("P2AT, its errors corrected"),
    "rows": Arm("corrected, row branch only", options={"columns": False}),
    "columns": Arm("corrected, column branch only", options={"rows": False}),
    "flat": Arm("corrected, no pyramid", options={"pyramid": False}),
    "identity": Arm("nothing but a wider MLP", "none"),
    "identity-published": Arm("the same, the rest as published", "none", wiring=PUBLISHED),
    "mean": Arm("global mean at every cell", "mean"),
    "average": Arm("one 3x3 average", "average"),
    "full": Arm("full attention", "full"),
}
"""Every arm by its name."""


class Segmenter(nn.Module):
    """Three levels, one block on the coarsest, global context, fusion, decoder, classes.

    Args:
        classes: of pixels.
        arm: see ``ARMS``.
        size: of the images, in pixels a side; a multiple of 4.
        hidden: of the block's MLP.
    """

    def __init__(self, classes: int, arm: Arm, size: int, hidden: int) -> None:
        super().__init__()
        fine, between, coarse = LEVELS
        self.fine = nn.Conv2d(1, fine, 3, 2, 1)
        self.between = nn.Conv2d(fine, between, 3, 2, 1)
        self.coarse = nn.Conv2d(between, coarse, 3, 1, 1)
        mixer = _mixer(arm, coarse, (size // 4) ** 2)
        self.block = Block(coarse, mixer, hidden=hidden, wiring=arm.wiring)
        self.context = GlobalContext(coarse, arm.wiring)
        self.fusion = Fusion(fine, between, coarse, fine, arm.wiring)
        self.decoder = Decoder(fine)
        self.classes = nn.Conv2d(fine, classes, 1)

    def forward(self, images: Tensor) -> Tensor:
        """Images ``(b, 1, h, w)`` to logits ``(b, classes, h, w)``."""
        fine = F.relu(self.fine(images))
        between = F.relu(self.between(fine))
        upper = self.context(self.block(F.relu(self.coarse(between))))
        joined = self.classes(self.decoder(self.fusion(fine, between, upper)))
        return F.interpolate(joined, images.shape[2:], mode="bilinear", align_corners=False)


def _mixer(arm: Arm, channels: int, cells: int) -> nn.Module | None:
    options: Any = arm.options or {}
    if arm.kind == "p2at":
        return PyramidAttention(channels, heads=HEADS, key=KEY, wiring=arm.wiring, **options)
    if arm.kind == "mean":
        return GlobalMean(channels)
    if arm.kind == "average":
        return Average()
    return FullAttention(channels, cells, HEADS) if arm.kind == "full" else None


def arm(name: str) -> Arm:
    """An arm by its name.

    Raises:
        InputError: there is no such arm.
    """
    if name not in ARMS:
        raise InputError(f"unknown arm {name!r}", f"{nearest(name, ARMS)}one of {', '.join(ARMS)}")
    return ARMS[name]


def weights(module: nn.Module) -> int:
    """Number of trainable parameters of a module."""
    return sum(weight.numel() for weight in module.parameters())


def segmenter(name: str, classes: int, size: int, *, budget: int | None = None) -> Segmenter:
    """A segmenter with an arm, its MLP as wide as a budget of weights allows.

    Args:
        name: see ``ARMS``.
        classes: of pixels.
        size: of the images, pixels a side.
        budget: weights of the block; None for an MLP 4 times as wide as the map has channels.

    Raises:
        InputError: an unknown arm, or a budget that is too small for it.
    """
    chosen = arm(name)
    if budget is None:
        return Segmenter(classes, chosen, size, 4 * LEVELS[-1])
    one, two = (weights(Segmenter(classes, chosen, size, hidden).block) for hidden in (1, 2))
    hidden = 1 + (budget - one) // (two - one)
    if hidden < 1:
        raise InputError(
            f"{name}: a block has {one:,} weights at least, not {budget:,}", "give a larger budget"
        )
    return Segmenter(classes, chosen, size, hidden)
