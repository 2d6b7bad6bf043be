"""Attention with queries at chosen positions only, shared by the backbones."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

# Finite, so that a row with nothing to attend to (padding) gives numbers instead of NaN, which
# would spread through the values of the next layer; within the range of float16.
FORBIDDEN = -30000.0

BLOCKWISE = 512
"""Tokens of a text above which local attention is computed by blocks."""


def gather_rows(states: Tensor, positions: Tensor) -> Tensor:
    """Gather rows of each text at positions: ``(b, t, d)`` and ``(b, m)`` int64 → ``(b, m, d)``."""
    index = positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])
    return torch.gather(states, 1, index)


def bias_of(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn a boolean mask ``(b, 1, q, t)`` into an additive bias of ``dtype``: 0 where allowed."""
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill(
        ~allowed, FORBIDDEN
    )


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Scaled dot-product attention of ``(b, h, q, e)`` over ``(b, h, t, e)`` → ``(b, q, h·e)``.

    ``bias`` is added to the scores, see ``bias_of``; None to attend to all positions.
    """
    kind = query.dtype
    if query.requires_grad and query.device.type == "cpu":
        # PyTorch's kernel for training on CPUs takes twice as long in bfloat16.
        query, key, value = query.float(), key.float(), value.float()
    allowed = None if bias is None else bias.to(query.dtype)
    with torch.autocast(query.device.type, enabled=False):
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    batch, heads, length, width = mixed.shape
    return mixed.transpose(1, 2).reshape(batch, length, heads * width).to(kind)


def rotate(states: Tensor, positions: Tensor, theta: float) -> Tensor:
    """Rotate halves of queries or keys ``(b, h, t, e)`` (RoPE, arXiv 2104.09864).

    ``positions`` are ``(t,)`` or ``(b, t)`` int64, ``theta`` the base of the frequencies.
    """
    half = states.shape[-1] // 2
    exponents = torch.arange(half, device=states.device, dtype=torch.float32) / half
    angles = positions[..., None].float() * theta**-exponents
    if angles.dim() == 3:
        angles = angles[:, None]
    cos, sin = angles.cos().to(states.dtype), angles.sin().to(states.dtype)
    first, second = states[..., :half], states[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def rope_and_reach(config: dict[str, Any], number: int) -> tuple[float, int | None]:
    """Return a layer's base of the rotary frequencies and half its sliding window (None: global).

    Both formats of ``config.json`` are supported: ``layer_types`` with ``rope_parameters``
    (transformers 5) and ``global_attn_every_n_layers`` with two thetas (4.48).
    """
    kinds, every = config.get("layer_types"), config.get("global_attn_every_n_layers", 3)
    rope = config.get("rope_parameters") or {}
    if kinds[number] == "full_attention" if kinds else number % every == 0:
        theta = rope.get("full_attention", {}).get("rope_theta")
        return float(theta or config.get("global_rope_theta", 160000.0)), None
    theta = rope.get("sliding_attention", {}).get("rope_theta")
    reach = config.get("local_attention", 128) // 2
    return float(theta or config.get("local_rope_theta") or 10000.0), reach


def attend_rotary(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    heads: int,
    allowed: Tensor | None,
    marks: Tensor | None,
    theta: float | None,
    reach: int | None,
) -> Tensor:
    """Attention with rotary positions, ``(b, q, d)`` over ``(b, t, d)`` → ``(b, q, d)``.

    Queries and keys are not rotated yet. ``allowed`` is boolean ``(b, 1, 1 or q, t)``, None for no
    padding; ``marks`` ``(b, q)`` are positions of the queries, None for all in order; ``theta`` is
    the base of the frequencies, None for no positions; ``reach`` is how far a query attends to each
    side, None for the whole text.
    """
    query, key, value = (
        each.view(*each.shape[:2], heads, -1).transpose(1, 2) for each in (query, key, value)
    )
    length = key.shape[2]
    everywhere = torch.arange(length, device=key.device)
    here = everywhere if marks is None else marks
    if theta is not None:
        query, key = rotate(query, here, theta), rotate(key, everywhere, theta)
    if reach is not None:
        # Graphs keep the mask: blocks would fix the length of the traced example.
        if marks is None and not torch.jit.is_tracing() and length > max(BLOCKWISE, 3 * reach):
            return attend_nearby(query, key, value, allowed, reach)
        near = (here[..., :, None] - everywhere).abs() <= reach
        near = near[None, None] if marks is None else near[:, None]
        allowed = near if allowed is None else allowed & near
    return attend(query, key, value, None if allowed is None else bias_of(allowed, query.dtype))


def attend_nearby(
    query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, reach: int
) -> Tensor:
    """Attention ``reach`` tokens to each side, ``(b, h, t, e)`` → ``(b, t, h·e)``.

    Blocks of ``reach`` queries see the keys of three blocks, so memory grows with the length alone.
    ``allowed`` is boolean ``(b, 1, 1, t)``, False for padding; None for no padding.
    """
    batch, _, length, _ = query.shape
    count = -(-length // reach)
    more = count * reach - length

    def around(states: Tensor) -> Tensor:  # (b, h, t, e) → (b·blocks, h, 3·reach, e)
        padded = F.pad(states, (0, 0, reach, more + reach))
        blocks = padded.unfold(2, 3 * reach, reach)
        return blocks.permute(0, 2, 1, 4, 3).flatten(0, 1)

    asking = F.pad(query, (0, 0, 0, more)).unflatten(2, (count, reach))
    inside = torch.ones(1, length, dtype=torch.bool, device=key.device)
    if allowed is not None:
        inside = allowed[:, 0, 0]
    inside = F.pad(inside, (reach, more + reach)).unfold(1, 3 * reach, reach)
    own = torch.arange(reach, device=key.device)
    other = torch.arange(3 * reach, device=key.device) - reach
    near = (own[:, None] - other).abs() <= reach
    bias = bias_of(near & inside[:, :, None, :], query.dtype)  # (1 or b, blocks, reach, 3·reach)
    bias = bias.expand(batch, -1, -1, -1).flatten(0, 1)[:, None]
    mixed = attend(asking.transpose(1, 2).flatten(0, 1), around(key), around(value), bias)
    return mixed.unflatten(0, (batch, count)).flatten(1, 2)[:, :length]
