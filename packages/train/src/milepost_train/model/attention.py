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


def attend_near(query: Tensor, key: Tensor, value: Tensor, valid: Tensor, reach: int) -> Tensor:
    """Attend from every position to those at most ``reach`` away; returns what ``attend`` does.

    Time and memory are linear in the length: blocks of ``reach`` positions attend to themselves and
    to the blocks on both sides.

    Args:
        query: ``(b, h, t, e)``.
        key: ``(b, h, t, e)``.
        value: ``(b, h, t, e)``.
        valid: ``(b, t)`` bool, False at positions that must not be attended to.
        reach: at least 1.
    """
    batch, heads, length, each = query.shape
    blocks = -(-length // reach)
    end = blocks * reach - length

    def beside(states: Tensor) -> Tensor:
        """Return each block with both of its neighbours: ``(b · blocks, h, 3 · reach, e)``."""
        padded = F.pad(states, (0, 0, reach, end + reach))
        cut = padded.unfold(2, 3 * reach, reach)  # (b, h, blocks, e, 3 · reach)
        return cut.permute(0, 2, 1, 4, 3).reshape(batch * blocks, heads, 3 * reach, each)

    asking = F.pad(query, (0, 0, 0, end)).view(batch, heads, blocks, reach, each)
    asking = asking.transpose(1, 2).reshape(batch * blocks, heads, reach, each)
    own = torch.arange(reach, device=query.device)[:, None]
    other = torch.arange(3 * reach, device=query.device) - reach
    near = (own - other).abs() <= reach
    known = F.pad(valid, (reach, end + reach)).unfold(1, 3 * reach, reach)
    allowed = near & known.reshape(batch * blocks, 1, 1, 3 * reach)
    mixed = attend(asking, beside(key), beside(value), bias_of(allowed, query.dtype))
    return mixed.view(batch, blocks * reach, heads * each)[:, :length]
