"""Nets whose weights serve every placement: the text hierarchy, and convolutions on images."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from milepost.lab.supernet.placements import Placement
from milepost.model.pooling.hierarchy import Hierarchy
from milepost.pooling.table import operator


class TextNet(nn.Module):
    """The operator ``hierarchy`` and a linear layer.

    Args:
        width: of the states.
        channels: inner width of a block.
        blocks: how many.
        classes: of texts.
    """

    def __init__(self, width: int, channels: int, blocks: int, classes: int) -> None:
        super().__init__()
        row = operator("hierarchy")
        settings = row.settings({"placement": (blocks,), "channels": channels})
        seed = int(torch.randint(2**31, ()))
        self.pooling = Hierarchy(row, settings, width, seed=seed)
        with torch.no_grad():
            # Not 0, as where a trained encoder stands below: nothing here is known before.
            self.pooling.weight("outward").normal_(std=channels**-0.5)
        self.classes = nn.Linear(width, classes)

    def forward(self, states: Tensor, placement: Placement) -> Tensor:
        """``(b, n, width)`` to ``(b, classes)``."""
        mask = torch.ones(states.shape[:2], dtype=torch.bool)
        result: Tensor = self.classes(self.pooling.placed(states, mask, placement))
        return result


class ImageNet(nn.Module):
    """3x3 convolutions, 2x2 max pools between them, the mean of what is left.

    Each layer is normed over all of one image, not over a batch: no score depends on which images
    were scored together. Pools round up.

    Args:
        channels: of all layers; they do not change where a pool stands.
        layers: how many.
        classes: of images.
    """

    def __init__(self, channels: int, layers: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(1 if number == 0 else channels, channels, 3, padding=1)
            for number in range(layers)
        )
        self.norms = nn.ModuleList(nn.GroupNorm(1, channels) for _ in range(layers))
        self.classes = nn.Linear(channels, classes)

    def forward(self, x: Tensor, placement: Placement) -> Tensor:
        """``(b, 1, h, w)`` to ``(b, classes)``."""
        number = 0
        for level, layers in enumerate(placement):
            if level:
                x = F.max_pool2d(x, 2, ceil_mode=True)
            for _ in range(layers):
                made = F.relu(self.norms[number](self.layers[number](x)))
                x = made if number == 0 else x + made
                number += 1
        result: Tensor = self.classes(x.mean((2, 3)))
        return result
