"""The layers of T5 1.1, which byte models and word models share (arXiv 1910.10683, 2105.13626).

Root-mean-square norm before every part, attention without biases and without the division by √e
(the initial weights compensate), one table of relative positions for each stack, gated GELU. No
dropout, as in the pre-training of the byte models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_train.model.attention import bias_of, split_heads

_EPSILON = 1e-6


@dataclass(frozen=True, slots=True)
class StackShape:
    """Sizes of a stack.

    Attributes:
        width: d of the states.
        inner: width of the feed-forward part.
        heads: attention heads.
        head_width: channels of a head; heads · head_width need not be the width.
        buckets: number of distinguished relative positions.
        distance: larger distances share one bucket.
    """

    width: int
    inner: int
    heads: int
    head_width: int
    buckets: int = 32
    distance: int = 128

    def __post_init__(self) -> None:
        if min(self.width, self.inner, self.heads, self.head_width) < 1:
            raise InputError(
                "a stack needs widths and heads of at least 1", f"1 or more instead of {self}"
            )


def relative_buckets(
    relative: Tensor, *, both_ways: bool, buckets: int = 32, distance: int = 128
) -> Tensor:
    """Return T5's bucket of each relative position (key − query), int64 of the same shape.

    Half of the buckets are exact, the others grow logarithmically. A bidirectional stack uses half
    of the buckets for preceding keys and half for following ones; a causal one treats following
    keys as distance 0.
    """
    start = torch.zeros_like(relative)
    if both_ways:
        buckets //= 2
        start = (relative > 0).long() * buckets
        far = relative.abs()
    else:
        far = (-relative).clamp(min=0)
    exact = buckets // 2
    grown = torch.log(far.clamp(min=1).float() / exact) / math.log(distance / exact)
    large = (exact + (grown * (buckets - exact)).long()).clamp(max=buckets - 1)
    return start + torch.where(far < exact, far, large)


class Attention(nn.Module):
    """Multi-head attention without biases and scale."""

    def __init__(self, shape: StackShape) -> None:
        super().__init__()
        all_heads = shape.heads * shape.head_width
        self.heads = shape.heads
        self.query = nn.Linear(shape.width, all_heads, bias=False)
        self.key = nn.Linear(shape.width, all_heads, bias=False)
        self.value = nn.Linear(shape.width, all_heads, bias=False)
        self.out = nn.Linear(all_heads, shape.width, bias=False)
        nn.init.normal_(self.query.weight, 0.0, (shape.width * shape.head_width) ** -0.5)
        nn.init.normal_(self.key.weight, 0.0, shape.width**-0.5)
        nn.init.normal_(self.value.weight, 0.0, shape.width**-0.5)
        nn.init.normal_(self.out.weight, 0.0, all_heads**-0.5)

    def forward(self, states: Tensor, source: Tensor, bias: Tensor) -> Tensor:
        """Attend from ``(b, q, d)`` to ``(b, n, d)``; ``bias`` is ``(b or 1, h or 1, q, n)``."""
        query, key, value = (
            split_heads(part, self.heads)
            for part in (self.query(states), self.key(source), self.value(source))
        )
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=1.0)
        result: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return result


class Gated(nn.Module):
    """``W_o (gelu(W_0 x) ⊙ W_1 x)``."""

    def __init__(self, shape: StackShape) -> None:
        super().__init__()
        self.gate = nn.Linear(shape.width, shape.inner, bias=False)
        self.widen = nn.Linear(shape.width, shape.inner, bias=False)
        self.narrow = nn.Linear(shape.inner, shape.width, bias=False)
        for part in (self.gate, self.widen):
            nn.init.normal_(part.weight, 0.0, shape.width**-0.5)
        nn.init.normal_(self.narrow.weight, 0.0, shape.inner**-0.5)

    def forward(self, states: Tensor) -> Tensor:
        """Map ``(b, n, d)`` to the same shape."""
        result: Tensor = self.narrow(
            F.gelu(self.gate(states), approximate="tanh") * self.widen(states)
        )
        return result


class Layer(nn.Module):
    """Self-attention, cross-attention if ``crossed``, and the feed-forward part."""

    def __init__(self, shape: StackShape, *, crossed: bool) -> None:
        super().__init__()
        self.own_norm = nn.RMSNorm(shape.width, _EPSILON)
        self.own = Attention(shape)
        self.other_norm = nn.RMSNorm(shape.width, _EPSILON) if crossed else None
        self.other = Attention(shape) if crossed else None
        self.last_norm = nn.RMSNorm(shape.width, _EPSILON)
        self.last = Gated(shape)

    def forward(self, states: Tensor, bias: Tensor, source: Tensor | None, seen: Tensor) -> Tensor:
        """Map ``(b, n, d)`` to the same shape; ``seen`` is the bias of the cross-attention."""
        inside = self.own_norm(states)
        states = states + self.own(inside, inside, bias)
        if self.other is not None and self.other_norm is not None and source is not None:
            states = states + self.other(self.other_norm(states), source, seen)
        result: Tensor = states + self.last(self.last_norm(states))
        return result


class Stack(nn.Module):
    """Layers that share one table of relative positions, and a last norm.

    Args:
        shape: its sizes.
        layers: number of layers.
        causal: a position attends to itself and to preceding positions.
        crossed: every layer also attends to a source.
    """

    def __init__(
        self, shape: StackShape, layers: int, *, causal: bool = False, crossed: bool = False
    ) -> None:
        super().__init__()
        self.shape, self.causal = shape, causal
        self.relative = nn.Embedding(shape.buckets, shape.heads)
        nn.init.normal_(self.relative.weight, 0.0, shape.width**-0.5)
        self.layers = nn.ModuleList(Layer(shape, crossed=crossed) for _ in range(layers))
        self.norm = nn.RMSNorm(shape.width, _EPSILON)

    def forward(
        self,
        states: Tensor,
        mask: Tensor,
        source: Tensor | None = None,
        source_mask: Tensor | None = None,
    ) -> Tensor:
        """Map ``(b, n, d)`` to the same shape.

        Args:
            states: embedded ids or vectors of words.
            mask: ``(b, n)`` bool: False for padding, which is not attended to.
            source: ``(b, m, d)``, for a crossed stack.
            source_mask: ``(b, m)`` bool; None if all of the source is attended to.
        """
        bias = self.positions(states.shape[1], states.device) + bias_of(
            self._allowed(mask), states.dtype
        )
        seen = states.new_zeros(1, 1, 1, 1)
        if source_mask is not None:
            seen = bias_of(source_mask[:, None, None], states.dtype)
        for layer in self.layers:
            states = layer(states, bias, source, seen)
        result: Tensor = self.norm(states)
        return result

    def positions(self, length: int, device: torch.device) -> Tensor:
        """Compute the relative position bias of the scores, ``(1, heads, length, length)``."""
        place = torch.arange(length, device=device)
        buckets = relative_buckets(
            place[None] - place[:, None],
            both_ways=not self.causal,
            buckets=self.shape.buckets,
            distance=self.shape.distance,
        )
        added: Tensor = self.relative(buckets).permute(2, 0, 1)[None]
        return added

    def _allowed(self, mask: Tensor) -> Tensor:
        keys = mask[:, None, None, :]
        if not self.causal:
            return keys
        length = mask.shape[1]
        before = torch.ones(length, length, dtype=torch.bool, device=mask.device).tril()
        return keys & before


def parameters(module: nn.Module) -> int:
    """Count the trainable parameters of a module."""
    return sum(weight.numel() for weight in module.parameters() if weight.requires_grad)
