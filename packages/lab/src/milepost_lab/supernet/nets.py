"""Nets whose weights serve every architecture: the text hierarchy, and convolutions on images."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from milepost_lab.model.pooling.hierarchy import Hierarchy
from milepost_lab.model.pooling.neighbours import rms_scaled
from milepost_lab.pooling.table import operator
from milepost_lab.supernet.architectures import Architecture


class TextNet(nn.Module):
    """The operator ``hierarchy`` and a linear layer.

    Args:
        width: width of the states.
        channels: inner width of a block.
        blocks: number of blocks.
        halvings: number of halvings.
        classes: number of classes.
    """

    def __init__(self, width: int, channels: int, blocks: int, halvings: int, classes: int) -> None:
        super().__init__()
        row = operator("hierarchy")
        # Join by attention, so that there are scores; the other joins have no weights.
        settings = row.settings(
            {
                "placement": (*(1,) * halvings, blocks - halvings),
                "channels": channels,
                "join": "attention",
            }
        )
        seed = int(torch.randint(2**31, ()))
        self.pooling = Hierarchy(row, settings, width, seed=seed)
        with torch.no_grad():
            # The initial 0 suits states of a trained encoder; here nothing is trained yet.
            self.pooling.weight("outward").normal_(std=channels**-0.5)
        self.classes = nn.Linear(width, classes)

    def forward(self, states: Tensor, architecture: Architecture) -> Tensor:
        """Map states ``(b, n, width)`` to logits ``(b, classes)``."""
        mask = torch.ones(states.shape[:2], dtype=torch.bool)
        placement, joins = architecture.placement, architecture.joins
        result: Tensor = self.classes(self.pooling.placed(states, mask, placement, joins))
        return result


class ImageNet(nn.Module):
    """3x3 convolutions with 2x2 pools between them (max as published), and a mean at the end.

    Each layer is normalized over one whole image, not over a batch: no score depends on which
    images were scored together. Pools round up.

    Args:
        channels: channels of all layers; a pool does not change their number.
        layers: number of layers.
        halvings: number of halvings.
        classes: number of classes.
    """

    def __init__(self, channels: int, layers: int, halvings: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(1 if number == 0 else channels, channels, 3, padding=1)
            for number in range(layers)
        )
        self.norms = nn.ModuleList(nn.GroupNorm(1, channels) for _ in range(layers))
        self.classes = nn.Linear(channels, classes)
        self.score = nn.Parameter(torch.zeros(halvings, channels))

    def forward(self, x: Tensor, architecture: Architecture) -> Tensor:
        """Map images ``(b, 1, h, w)`` to logits ``(b, classes)``."""
        number = 0
        for level, layers in enumerate(architecture.placement):
            if level:
                x = pooled(x, architecture.joins[level - 1], self.score[level - 1])
            for _ in range(layers):
                made = F.relu(self.norms[number](self.layers[number](x)))
                x = made if number == 0 else x + made
                number += 1
        result: Tensor = self.classes(x.mean((2, 3)))
        return result


def pooled(x: Tensor, join: str, score: Tensor) -> Tensor:
    """Join each 2x2 square; at an odd edge, a square joins the values that exist.

    Args:
        x: ``(b, channels, h, w)``.
        join: ``mean``, ``max`` or ``attention``.
        score: ``(channels,)``, for ``attention``, as in the text hierarchy.

    Returns:
        ``(b, channels, ceil(h/2), ceil(w/2))``.
    """
    if join == "max":
        return F.max_pool2d(x, 2, ceil_mode=True)
    if join == "mean":
        return _average(x)
    gain = (rms_scaled(x.movedim(1, -1)) @ score)[:, None]
    top = F.max_pool2d(gain, 2, ceil_mode=True).repeat_interleave(2, 2).repeat_interleave(2, 3)
    share = torch.exp(gain - top[..., : x.shape[2], : x.shape[3]])
    return _average(x * share) / _average(share)


def _average(x: Tensor) -> Tensor:
    return F.avg_pool2d(x, 2, ceil_mode=True, count_include_pad=False)
