"""Neighbours in padded texts; the reference is ``milepost_lab.pooling.neighbours``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from milepost_lab.pooling.neighbours import RMS_FLOOR


def averages(values: Tensor, mask: Tensor, width: int) -> Tensor:
    """Average each position's window, without the part outside the text.

    Args:
        values: ``(texts, n, d)``, 0 beyond the mask.
        mask: ``(texts, n)`` bool.
        width: width of the window, odd.

    Returns:
        ``(texts, n, d)``, 0 beyond the mask.
    """
    there = mask[:, None].to(values.dtype)
    total, count = (
        F.avg_pool1d(part, width, stride=1, padding=width // 2)
        for part in (values.transpose(1, 2), there)
    )
    # Windows outside a text have count 0; their values are masked below.
    return (total / count.clamp(min=0.5 / width) * there).transpose(1, 2)


def paired(
    values: Tensor, mask: Tensor, join: str, score: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Join pairs of states; the last state of an odd text stays as it is.

    Args:
        values: ``(texts, n, d)``, 0 beyond the mask.
        mask: ``(texts, n)`` bool: each text's tokens come first.
        join: ``mean``, ``max`` or ``attention``.
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
        more = (rms_scaled(follows) - rms_scaled(even)) @ score
        share = torch.sigmoid(more) * second.to(values.dtype)
        return even + share[..., None] * (follows - even), first
    count = first.to(values.dtype) + second.to(values.dtype)
    return (even + follows) / count.clamp(min=1)[..., None], first


def rms_scaled(values: Tensor) -> Tensor:
    """Divide rows by their root mean square; a row of zeros stays zero."""
    return values * torch.rsqrt(values.square().mean(-1, keepdim=True) + RMS_FLOOR)
