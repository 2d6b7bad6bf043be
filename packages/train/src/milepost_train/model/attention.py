"""Attention with queries at chosen positions only, shared by the backbones."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

# Finite, so that a row with nothing to attend to (padding) gives numbers instead of NaN, which
# would spread through the values of the next layer; within the range of float16.
FORBIDDEN = -30000.0


def gather_rows(states: Tensor, positions: Tensor) -> Tensor:
    """Gather rows of each text at positions: ``(b, t, d)`` and ``(b, m)`` int64 → ``(b, m, d)``."""
    index = positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])
    return torch.gather(states, 1, index)


def bias_of(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn a boolean mask ``(b, 1, q, t)`` into an additive bias of ``dtype``: 0 where allowed.

    What is a bias already stays one.
    """
    if allowed.is_floating_point():
        return allowed.to(dtype)
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill(
        ~allowed, FORBIDDEN
    )


def split_heads(states: Tensor, heads: int) -> Tensor:
    """Reshape ``(b, t, d)`` to ``(b, heads, t, d / heads)``."""
    batch, length, width = states.shape
    return states.view(batch, length, heads, width // heads).transpose(1, 2)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Scaled dot-product attention of ``(b, h, q, e)`` over ``(b, h, t, e)`` → ``(b, q, h·e)``.

    ``bias`` is added to the scores, see ``bias_of``; None to attend to all positions.
    """
    allowed = None if bias is None else bias.to(query.dtype)
    mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    batch, heads, length, width = mixed.shape
    return mixed.transpose(1, 2).reshape(batch, length, heads * width)
