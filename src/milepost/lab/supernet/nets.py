"""Nets whose weights serve every architecture: the text hierarchy, convolutions on images."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from milepost.lab.supernet.architectures import Architecture
from milepost.model.pooling.hierarchy import Hierarchy
from milepost.model.pooling.neighbours import rms_scaled
from milepost.pooling.table import operator


class TextNet(nn.Module):
    """The operator ``hierarchy`` and a linear layer.

    Args:
        width: of the states.
        channels: inner width of a block.
        blocks: how many.
        halvings: how many.
        classes: of texts.
    """

    def __init__(self, width: int, channels: int, blocks: int, halvings: int, classes: int) -> None:
        super().__init__()
        row = operator("hierarchy")
        # Of attention, so that it has scores; the other joins have no weights.
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
            # Not 0, as where a trained encoder stands below: nothing here is known before.
            self.pooling.weight("outward").normal_(std=channels**-0.5)
        self.classes = nn.Linear(width, classes)

    def forward(self, states: Tensor, architecture: Architecture) -> Tensor:
        """``(b, n, width)`` to ``(b, classes)``."""
        mask = torch.ones(states.shape[:2], dtype=torch.bool)
        placement, joins = architecture.placement, architecture.joins
        result: Tensor = self.classes(self.pooling.placed(states, mask, placement, joins))
        return result


class ImageNet(nn.Module):
    """3x3 convolutions, 2x2 pools between them (as published: max), the mean of what is left.

    Each layer is normed over all of one image, not over a batch: no score depends on which images
    were scored together. Pools round up.

    Args:
        channels: of all layers; they do not change where a pool stands.
        layers: how many.
        halvings: how many.
        classes: of images.
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
        """``(b, 1, h, w)`` to ``(b, classes)``."""
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
    """Squares of 2x2 made one; what hangs over an odd edge is joined of what there is.

    Args:
        x: ``(b, channels, h, w)``.
        join: ``mean``, ``max`` or ``attention``.
        score: ``(channels,)``, for ``attention``, as the text hierarchy's.

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
