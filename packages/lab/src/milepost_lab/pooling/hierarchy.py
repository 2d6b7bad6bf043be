"""Blocks that mix neighbours, with halvings between them: where to halve is what is searched.

The search space of *Balanced Mixture of SuperNets for Learning the CNN Pooling Architecture*
(arXiv 2306.11982) for texts: ``placement = (a, b, c)`` means a blocks at full length, b at half and
c at a quarter of it.
"""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import Pooling, check, masked_mean, rms_scaled

Join = Literal["mean", "max", "attention"]


def paired(
    values: Tensor, mask: Tensor, join: Join, score: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Join pairs of states; the last state of an odd text stays as it is.

    Args:
        values: ``(texts, n, d)``, 0 beyond the mask.
        mask: ``(texts, n)`` bool: each text's tokens come first.
        join: how.
        score: ``(d,)``, for ``attention``; None is a mean.

    Returns:
        ``(texts, ceil(n/2), d)``, 0 beyond the new mask, and that mask.
    """
    # Append one position, so that every even one has a neighbour; reading n would make it a
    # constant in an exported graph.
    values = torch.cat([values, torch.zeros_like(values[:, :1])], 1)
    mask = torch.cat([mask, torch.zeros_like(mask[:, :1])], 1)
    even, follows = values[:, 0:-1:2], values[:, 1::2]
    first, second = mask[:, 0:-1:2], mask[:, 1::2]
    if join == "max":
        return torch.where(second[..., None], torch.maximum(even, follows), even), first
    if join == "attention" and score is not None:
        # A softmax of two scores is a sigmoid of their difference.
        weight = torch.sigmoid((rms_scaled(follows) - rms_scaled(even)) @ score)
        return even + (weight * second)[..., None] * (follows - even), first
    count = first.to(values.dtype) + second.to(values.dtype)
    return (even + follows) / count.clamp(min=1)[..., None], first


class Block(nn.Module):
    """Depthwise convolution over three neighbours and a bottleneck that begins at 0."""

    def __init__(self, width: int, channels: int) -> None:
        super().__init__()
        self.near = nn.Conv1d(width, width, 3, padding=1, groups=width, bias=False)
        self.inward = nn.Linear(width, channels)
        self.outward = nn.Linear(channels, width, bias=False)
        nn.init.normal_(self.near.weight, std=0.3)
        with torch.no_grad():
            self.near.weight[:, :, 1] += 1  # initially it mostly reads the position itself
        nn.init.zeros_(self.outward.weight)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """``(texts, n, d)`` → the same, 0 beyond the mask."""
        near = self.near(rms_scaled(states).transpose(1, 2)).transpose(1, 2)
        return states + self.outward(F.silu(self.inward(near))) * mask[..., None]


class Hierarchy(Pooling):
    """Mean of the last level.

    Args:
        width: d.
        placement: blocks at each level, each at least 1.
        channels: inner width of a block.
        join: how a halving joins a pair.
    """

    name, title = "hierarchy", "blocks that mix neighbours, with halvings between them"
    paper, equation = "2306.11982", "z = mean of x_K, x_k = blocks_k(halve(x_{k-1}))"
    ordered = True

    def __init__(
        self,
        width: int,
        *,
        placement: tuple[int, ...] = (1, 1, 1),
        channels: int = 16,
        join: Join = "mean",
    ) -> None:
        super().__init__(width)
        valid = bool(placement) and all(blocks >= 1 for blocks in placement)
        check(valid, self.name, f"placement={placement}", "blocks at each level, as in (2, 1, 1)")
        self.placement, self.join = placement, join
        self.blocks = nn.ModuleList(Block(width, channels) for _ in range(sum(placement)))
        self.score = nn.Parameter(torch.zeros(max(1, sum(placement) - 1), width))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        return self.placed(states, mask, self.placement, self.join)

    def placed(
        self, states: Tensor, mask: Tensor, placement: tuple[int, ...], join: Join
    ) -> Tensor:
        """Pool with other halvings than those of the settings; no block depends on them.

        Args:
            states: ``(texts, n, d)``, 0 beyond the mask.
            mask: ``(texts, n)`` bool.
            placement: blocks at each level; as many in sum as the module has.
            join: of every halving.
        """
        blocks = iter(self.blocks)
        for level, count in enumerate(placement):
            if level:
                states, mask = paired(states, mask, join, self.score[level - 1])
            for _ in range(count):
                states = next(blocks)(states, mask)
        return masked_mean(states, mask)


POOLINGS = (Hierarchy,)
